use fencepost::extractor::OutputCap;
use fencepost_model::{Behaviour, ModelServer, in_turn};
use serde_json::json;

use crate::who::{ALL, CHAT, KEY, ask, closed};

#[tokio::test]
async fn the_question_is_sent_with_its_key_and_the_report_as_data() {
    let asked = CHAT.asks(|_| {}, OutputCap::Ordinary).await;
    let call_key = "ab".repeat(32);
    for (header, value) in [
        ("idempotency-key", call_key.as_str()),
        ("x-client-request-id", &call_key),
        ("authorization", &format!("Bearer {KEY}")),
        ("content-type", "application/json"),
    ] {
        assert_eq!(asked.headers.get(header).unwrap(), value, "{header}");
    }
    assert_eq!(asked.call_key, call_key);
    assert_eq!(asked.report, json!({ "text": "canary-of-the-report" }));
    let request = asked.request;
    assert_eq!(request["model"], "asked");
    assert_eq!(request["store"], false);
    assert_eq!(request["messages"].as_array().unwrap().len(), 2);
    assert_eq!(request.get("tools"), None);
    let format = json!({
        "type": "json_schema",
        "json_schema": { "name": "answer", "strict": true, "schema": closed() },
    });
    assert_eq!(request["response_format"], format);
    assert_eq!(request.get("temperature"), None);
    assert_eq!(request.get("stream"), None);
}

/// The server reads the report without its marks, as a model would; this is what was sent.
#[tokio::test]
async fn each_text_of_the_report_begins_with_the_marker_that_the_instructions_name() {
    let request = CHAT.asks(|_| {}, OutputCap::Ordinary).await.request;
    let content = |index: usize| request["messages"][index]["content"].as_str().unwrap();
    let (_, marker) = content(0).split_once("\nMarker: ").unwrap();
    let marker = marker.chars().next().unwrap();
    let expected = format!("{{\"report\":{{\"text\":\"{marker}canary-of-the-report\"}}}}");
    assert_eq!(content(1), expected);
}

#[tokio::test]
async fn the_same_question_is_the_same_bytes() {
    for who in ALL {
        let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
        for _ in 0..2 {
            let extractor = who.at(&server.base_url());
            ask(&*extractor, OutputCap::Ordinary).await.unwrap();
        }
        let calls = server.calls();
        assert_eq!(calls[0].body_sha256, calls[1].body_sha256, "{who:?}");
    }
}

#[tokio::test]
async fn after_a_cut_off_answer_the_next_may_be_four_times_as_long() {
    for (cap, tokens) in [(OutputCap::Ordinary, 100), (OutputCap::Larger, 400)] {
        let asked = CHAT.asks_with(None, |_| {}, cap).await;
        assert_eq!(asked.request["max_tokens"], tokens);
        assert_eq!(asked.request.get("max_completion_tokens"), None);
    }
}

#[tokio::test]
async fn a_server_that_wants_no_key_gets_none() {
    let asked = CHAT.asks_with(None, |_| {}, OutputCap::Ordinary).await;
    assert_eq!(asked.headers.get("authorization"), None);
}
