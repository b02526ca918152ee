use std::{cell::RefCell, io, sync::OnceLock};

use super::*;

thread_local! {
    /// What this thread logged, which is what its test did.
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct ToLog;

impl io::Write for ToLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Logs from now on, for all threads: what one thread alone wants to know of, others can make
/// `tracing` forget.
fn log() {
    static LOGGING: OnceLock<()> = OnceLock::new();
    LOGGING.get_or_init(|| {
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(|| ToLog)
            .init();
        tracing::callsite::rebuild_interest_cache();
    });
    LOG.take();
}

fn logged() -> String {
    LOG.with_borrow(|log| String::from_utf8(log.clone()).unwrap())
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
    log();
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
    let log = logged();
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
    log();
    failure(Behaviour::error(
        400,
        "invalid_request_error",
        Some("invalid_json_schema"),
    ))
    .await;
    let log = logged();
    assert!(
        log.contains("status=400 said=\"invalid_json_schema\""),
        "{log}"
    );
}

#[test]
fn a_key_that_no_header_can_hold_is_refused_and_not_shown() {
    let tls = tls::for_scheme("http").unwrap();
    let key = Secret::new("canary\nx-injected: 1");
    let error = OpenAi::new(settings("http://h/v1"), Api::Chat, Some(&key), tls, now).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"));
}
