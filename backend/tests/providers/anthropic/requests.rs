use fencepost::extractor::{OutputCap, Settings, projection::Problem};
use serde_json::json;

use crate::who::{KEY, SCHEMA, TOOL, Who, closed, schema};

#[tokio::test]
async fn the_question_is_sent_with_its_key_and_the_report_as_data() {
    let asked = SCHEMA.asks(|_| {}, OutputCap::Ordinary).await;
    let call_key = "ab".repeat(32);
    for (header, value) in [
        ("x-api-key", KEY),
        ("anthropic-version", "2023-06-01"),
        ("content-type", "application/json"),
        ("idempotency-key", &call_key),
    ] {
        assert_eq!(asked.headers.get(header).unwrap(), value, "{header}");
    }
    for header in ["authorization", "anthropic-beta"] {
        assert_eq!(asked.headers.get(header), None, "{header}");
    }
    assert!(asked.report.to_string().contains("canary-of-the-report"));
    let request = &asked.request;
    assert_eq!(request["model"], "asked");
    assert_eq!(request["max_tokens"], 100);
    let system = request["system"].as_str().unwrap();
    assert!(
        system.starts_with("Classify.\n\n") && !system.contains("canary"),
        "{system}"
    );
    assert_eq!(request["messages"].as_array().unwrap().len(), 1);
    assert_eq!(request["messages"][0]["role"], "user");
    for absent in [
        "temperature",
        "stream",
        "tools",
        "tool_choice",
        "output_format",
    ] {
        assert_eq!(request.get(absent), None, "{absent}");
    }
}

#[tokio::test]
async fn the_provider_holds_the_model_to_the_schema() {
    let asked = SCHEMA.asks(|_| {}, OutputCap::Ordinary).await;
    let format = json!({ "type": "json_schema", "schema": closed() });
    assert_eq!(asked.request["output_config"], json!({ "format": format }));
}

#[tokio::test]
async fn a_tool_is_forced_where_the_configuration_says_so() {
    let request = TOOL.asks(|_| {}, OutputCap::Ordinary).await.request;
    assert_eq!(request.get("output_config"), None);
    let tools = request["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["input_schema"], schema());
    let choice = json!({
        "type": "tool", "name": tools[0]["name"], "disable_parallel_tool_use": true,
    });
    assert_eq!(request["tool_choice"], choice);
}

#[tokio::test]
async fn what_is_configured_is_sent() {
    let warm = |settings: &mut Settings| settings.temperature = Some(0.5);
    let request = SCHEMA.asks(warm, OutputCap::Larger).await.request;
    assert_eq!(
        (&request["temperature"], &request["max_tokens"]),
        (&json!(0.5), &json!(400))
    );
}

#[test]
fn how_the_model_is_held_to_the_schema_is_part_of_the_classifier() {
    let [schema, tool] = [SCHEMA, TOOL].map(|who| who.at("http://h/v1").fingerprint());
    assert_ne!(schema, tool);
    assert_eq!(schema["provider"], "anthropic");
}

#[test]
fn a_schema_that_would_mean_something_else_is_refused_before_a_question() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let schema = json!({ "type": "object", "properties": { "a": map } });
    let check = |who: Who| who.at("http://h/v1").sent_schema(&schema).map(drop);
    let refused = check(SCHEMA).unwrap_err();
    assert_eq!(refused.problem(), Problem::OpenMembers);
    assert_eq!(refused.place(), "/properties/a");
    // A tool takes it as it stands.
    assert_eq!(check(TOOL), Ok(()));
}
