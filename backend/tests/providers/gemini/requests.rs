use fencepost::extractor::{OutputCap, Settings, projection::Problem};
use serde_json::{Value, json};

use crate::who::{GEMINI, KEY, closed};

#[tokio::test]
async fn the_question_is_sent_with_its_key_and_the_report_as_data() {
    let asked = GEMINI.asks(|_| {}, OutputCap::Ordinary).await;
    let call_key = "ab".repeat(32);
    for (header, value) in [
        ("x-goog-api-key", KEY),
        ("content-type", "application/json"),
        ("idempotency-key", &call_key),
    ] {
        assert_eq!(asked.headers.get(header).unwrap(), value, "{header}");
    }
    assert_eq!(asked.headers.get("authorization"), None);
    assert!(asked.report.to_string().contains("canary-of-the-report"));
    let request = &asked.request;
    let system = request["systemInstruction"]["parts"][0]["text"]
        .as_str()
        .unwrap();
    assert!(
        system.starts_with("Classify.\n\n") && !system.contains("canary"),
        "{system}"
    );
    assert_eq!(request["contents"].as_array().unwrap().len(), 1);
    assert_eq!(request["contents"][0]["role"], "user");
    let config = json!({
        "candidateCount": 1, "maxOutputTokens": 100, "responseMimeType": "application/json",
        "responseJsonSchema": closed(),
    });
    assert_eq!(request["generationConfig"], config);
    assert_eq!(request.as_object().unwrap().len(), 3);
}

#[tokio::test]
async fn what_is_configured_is_sent() {
    let warm = |settings: &mut Settings| settings.temperature = Some(0.5);
    let request = GEMINI.asks(warm, OutputCap::Larger).await.request;
    let config = &request["generationConfig"];
    assert_eq!(
        (&config["temperature"], &config["maxOutputTokens"]),
        (&json!(0.5), &json!(400))
    );
}

#[test]
fn the_fingerprint_names_the_provider() {
    assert_eq!(GEMINI.at("http://h/v1").fingerprint()["provider"], "gemini");
}

#[test]
fn a_schema_that_would_mean_something_else_is_refused_before_a_question() {
    let check = |member: &Value| {
        let schema = json!({ "type": "object", "properties": { "a": member } });
        GEMINI.at("http://h/v1").sent_schema(&schema).map(drop)
    };
    let refused = check(&json!({ "allOf": [] })).unwrap_err();
    assert_eq!(refused.problem(), Problem::Keyword("allOf"));
    let map = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    assert_eq!(check(&map), Ok(()));
}
