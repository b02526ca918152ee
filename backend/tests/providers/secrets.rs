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
        let error = json!({
            "message": said, "type": said, "code": said, "status": said,
            "details": [{ "@type": said, "reason": said, "retryDelay": said }],
        });
        let body = json!({ "type": "error", "error": error, "request_id": "ours" });
        responding(status, body.to_string())
    })
}

#[tokio::test]
async fn neither_key_nor_report_is_in_a_log_an_error_or_a_debug_output() {
    log();
    let mut shown = String::new();
    let statuses = [
        200, 302, 400, 401, 402, 403, 404, 408, 413, 429, 500, 503, 529,
    ];
    for who in BOTH {
        for status in statuses {
            let server = echo(status);
            let extractor = who.at(&server.base_url());
            let error = ask(&*extractor, OutputCap::Ordinary).await.unwrap_err();
            shown += &format!("{} {error:?} {error}\n", extractor.fingerprint());
        }
        let broken = who.once(Behaviour::HangUp).await.unwrap_err();
        shown += &format!("{broken:?} {broken}\n");
    }
    let tls = || tls::for_scheme("http").unwrap();
    let key = Secret::new(KEY);
    let settings = || settings("http://h/v1");
    shown += &format!(
        "{:?} {:?}",
        Anthropic::new(settings(), Output::Tool, Some(&key), tls(), now),
        Gemini::new(settings(), Some(&key), tls(), now),
    );
    let log = logged();
    // The log is one that would show it: it tells of each refusal.
    assert_eq!(
        log.matches("The provider did not answer").count(),
        24,
        "{log}"
    );
    for text in [shown, log] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn a_known_word_of_the_provider_is_told() {
    log();
    let [anthropic, gemini] = BOTH;
    let said = Behaviour::anthropic_error(400, "invalid_request_error", "canary");
    anthropic.failure(said).await;
    let said = Behaviour::google_error(400, "INVALID_ARGUMENT", "canary", &[]);
    gemini.failure(said).await;
    let log = logged();
    for word in ["invalid_request_error", "INVALID_ARGUMENT"] {
        assert!(
            log.contains(&format!("status=400 said=\"{word}\"")),
            "{log}"
        );
    }
    assert!(!log.contains("canary"), "{log}");
}

#[test]
fn a_key_that_no_header_can_hold_is_refused_and_not_shown() {
    let tls = || tls::for_scheme("http").unwrap();
    let key = Secret::new("canary\nx-injected: 1");
    let settings = || settings("http://h/v1");
    let refused = [
        Anthropic::new(settings(), Output::Schema, Some(&key), tls(), now).unwrap_err(),
        Gemini::new(settings(), Some(&key), tls(), now).unwrap_err(),
    ];
    assert!(!format!("{refused:?}").contains("canary"));
}
