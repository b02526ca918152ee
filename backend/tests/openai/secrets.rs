use std::{
    io,
    sync::{Arc, Mutex},
};

use tracing_subscriber::fmt::MakeWriter;

use super::*;

/// What was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// A server that repeats all that it was told, wherever it can.
fn echo(status: u16) -> ModelServer {
    ModelServer::start(move |asked| {
        let said = format!("{} {KEY}", asked.report);
        Behaviour::Respond {
            status,
            headers: vec![("x-request-id", "ours".to_owned())],
            body: json!({ "error": { "message": said, "type": said, "code": said } })
                .to_string()
                .into_bytes(),
        }
    })
}

#[tokio::test]
async fn neither_key_nor_report_is_in_a_log_an_error_or_a_debug_output() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let mut shown = String::new();
    for status in [
        200, 302, 400, 401, 402, 403, 404, 408, 422, 429, 500, 503, 529,
    ] {
        let server = echo(status);
        let openai = openai(&server.base_url(), Some(KEY));
        let error = ask(&openai, OutputCap::Ordinary).await.unwrap_err();
        shown += &format!("{openai:?} {:?} {error:?} {error}\n", openai.fingerprint());
    }
    let broken = once(Behaviour::HangUp).await.unwrap_err();
    shown += &format!("{broken:?} {broken}");
    let log = log.text();
    // The log is one that would show it: it tells of each refusal.
    assert_eq!(
        log.matches("The provider did not answer").count(),
        12,
        "{log}"
    );
    for text in [shown, log] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn a_known_word_of_the_provider_is_told() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(log.clone())
        .with_ansi(false);
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    failure(Behaviour::error(
        400,
        "invalid_request_error",
        Some("invalid_json_schema"),
    ))
    .await;
    let log = log.text();
    assert!(
        log.contains("status=400 said=\"invalid_json_schema\""),
        "{log}"
    );
}

#[test]
fn a_key_that_no_header_can_hold_is_refused_and_not_shown() {
    let settings = Settings {
        model: "m".to_owned(),
        base_url: BaseUrl::new("http://h/v1").unwrap(),
        max_output_tokens: NonZeroU32::MIN,
        temperature: None,
    };
    let tls = tls::for_scheme("http").unwrap();
    let key = Secret::new("canary\nx-injected: 1");
    let error = OpenAi::new(settings, Some(&key), tls, now).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"));
}
