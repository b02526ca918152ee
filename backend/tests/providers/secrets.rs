//! Neither key nor report is ever shown.

use fencepost::{
    extractor::{
        OutputCap,
        anthropic::{Anthropic, Output},
        gemini::Gemini,
        openai::{Api, OpenAi},
    },
    secret::Secret,
    tls,
};
use fencepost_model::{Behaviour, ModelServer};
use serde_json::json;

use crate::{
    log::{log, logged},
    who::{ALL, CHAT, GEMINI, KEY, SCHEMA, ask, now, responding, settings},
};

/// A server that repeats all that it was told, wherever it can.
fn echo(status: u16) -> ModelServer {
    ModelServer::start(move |asked| {
        let said = format!("{} {KEY}", asked.report);
        let error = json!({
            "message": said, "type": said, "code": said, "status": said,
            "details": [{ "@type": said, "reason": said, "retryDelay": said }],
        });
        let body = json!({
            "type": "error", "error": error, "request_id": "ours", "message": said, "__type": said,
        });
        responding(status, body.to_string()).with("x-request-id", "ours")
    })
}

#[tokio::test]
async fn neither_key_nor_report_is_in_a_log_an_error_or_a_debug_output() {
    log();
    let mut shown = String::new();
    let statuses = [
        200, 302, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529,
    ];
    for who in ALL {
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
    let key = Some(&key);
    let settings = || settings("http://h/v1");
    shown += &format!(
        "{:?} {:?} {:?}",
        OpenAi::new(settings(), Api::Chat, key, tls(), now),
        Anthropic::new(settings(), Output::Tool, key, tls(), now),
        Gemini::new(settings(), key, tls(), now),
    );
    #[cfg(feature = "bedrock")]
    {
        use fencepost::extractor::bedrock::{Bedrock, Region};
        let region = Region::new("eu-central-1").unwrap();
        let bedrock = Bedrock::new(settings(), region, Output::Tool, key, tls(), now);
        shown += &format!("{bedrock:?}");
    }
    let log = logged();
    // The log is one that would show it: it tells of each refusal.
    let refusals = ALL.len() * (statuses.len() - 1);
    assert_eq!(
        log.matches("The provider did not answer").count(),
        refusals,
        "{log}"
    );
    for text in [shown, log] {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn a_known_word_of_the_provider_is_told() {
    log();
    let mut refused = Behaviour::error(400, "canary", Some("invalid_json_schema"));
    if let Behaviour::Respond { body, .. } = &mut refused {
        let said = String::from_utf8(body.clone()).unwrap();
        *body = said.replace("told by the script", "canary").into_bytes();
    }
    CHAT.failure(refused).await;
    let said = Behaviour::anthropic_error(400, "invalid_request_error", "canary");
    SCHEMA.failure(said).await;
    let said = Behaviour::google_error(400, "INVALID_ARGUMENT", "canary", &[]);
    GEMINI.failure(said).await;
    #[cfg(feature = "bedrock")]
    {
        let said = Behaviour::amazon_error(400, "ValidationException", "canary");
        crate::who::CONVERSE.failure(said).await;
    }
    let log = logged();
    for word in [
        "invalid_json_schema",
        "invalid_request_error",
        "INVALID_ARGUMENT",
        #[cfg(feature = "bedrock")]
        "ValidationException",
    ] {
        assert!(
            log.contains(&format!("status=400 said=\"{word}\"")),
            "{log}"
        );
    }
    assert!(!log.contains("canary"), "{log}");
}

#[test]
fn a_key_that_no_header_can_hold_is_refused_and_not_shown() {
    let key = Some("canary\nx-injected: 1");
    for who in ALL {
        let tls = tls::for_scheme("http").unwrap();
        let refused = who.set_up(settings("http://h/v1"), key, tls).err();
        let refused = refused.unwrap();
        assert!(
            !format!("{refused} {refused:?}").contains("canary"),
            "{who:?}"
        );
    }
}
