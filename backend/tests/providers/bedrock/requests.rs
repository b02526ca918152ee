use fencepost::{
    extractor::{
        OutputCap,
        anthropic::Output,
        bedrock::{Bedrock, Region},
        projection::Problem,
    },
    secret::Secret,
    tls,
};
use fencepost_model::{Behaviour, ModelServer, in_turn};
use serde_json::{Value, json};

use crate::who::{CONVERSE, CONVERSE_TOOL, KEY, Who, closed, now, schema, settings};

#[tokio::test]
async fn the_question_is_sent_with_its_key_and_the_report_as_data() {
    let asked = CONVERSE.asks(|_| {}, OutputCap::Ordinary).await;
    let call_key = "ab".repeat(32);
    for (header, value) in [
        ("authorization", format!("Bearer {KEY}").as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", &call_key),
    ] {
        let sent: Vec<_> = asked.headers.get_all(header).iter().collect();
        assert_eq!(sent, [value], "{header}");
    }
    assert_eq!(asked.headers.get("x-amz-security-token"), None);
    assert!(asked.report.to_string().contains("canary-of-the-report"));
    let mut request = asked.request;
    let mut taken = |pointer: &str| {
        let text = request.pointer_mut(pointer).map(Value::take);
        text.unwrap().as_str().unwrap().to_owned()
    };
    let system = taken("/system/0/text");
    assert!(
        system.starts_with("Classify.\n\n") && !system.contains("canary"),
        "{system}"
    );
    assert!(taken("/messages/0/content/0/text").starts_with("{\"report\":"));
    let schema = taken("/outputConfig/textFormat/structure/jsonSchema/schema");
    assert_eq!(serde_json::from_str::<Value>(&schema).unwrap(), closed());
    let expected = json!({
        "system": [{ "text": null }],
        "messages": [{ "role": "user", "content": [{ "text": null }] }],
        "inferenceConfig": { "maxTokens": 100 },
        "outputConfig": { "textFormat": {
            "type": "json_schema", "structure": { "jsonSchema": { "schema": null } },
        } },
        "requestMetadata": { "call_key": call_key },
    });
    assert_eq!(request, expected);
}

#[tokio::test]
async fn a_tool_is_forced_where_the_configuration_says_so() {
    let request = CONVERSE_TOOL
        .asks(|_| {}, OutputCap::Ordinary)
        .await
        .request;
    assert_eq!(request.get("outputConfig"), None);
    let expected = json!({
        "tools": [{ "toolSpec": {
            "name": "answer", "description": "Takes the answer.",
            "inputSchema": { "json": schema() },
        } }],
        "toolChoice": { "tool": { "name": "answer" } },
    });
    assert_eq!(request["toolConfig"], expected);
}

#[tokio::test]
async fn a_schema_keeps_the_order_of_its_members() {
    let names: Vec<_> = (0..20).map(|n| format!("m{}", 7 * n % 20)).collect();
    let members: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (name.clone(), json!({ "type": "null" })))
        .collect();
    let schema = json!({ "type": "object", "properties": members });
    for who in [CONVERSE, CONVERSE_TOOL] {
        let request = who.asks_of(&schema).await.request;
        let sent = if who.is_given_a_tool() {
            request["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"].clone()
        } else {
            let sent = &request["outputConfig"]["textFormat"]["structure"]["jsonSchema"];
            serde_json::from_str(sent["schema"].as_str().unwrap()).unwrap()
        };
        let sent = sent["properties"].as_object().unwrap().keys();
        assert!(sent.eq(&names), "{who:?} {request}");
    }
}

#[tokio::test]
async fn what_is_configured_is_sent() {
    let warm = |settings: &mut fencepost::extractor::Settings| settings.temperature = Some(0.5);
    let request = CONVERSE.asks(warm, OutputCap::Larger).await.request;
    let expected = json!({ "maxTokens": 400, "temperature": 0.5 });
    assert_eq!(request["inferenceConfig"], expected);
}

/// The server knows only paths whose model is one segment.
#[tokio::test]
async fn a_model_may_be_named_as_a_resource() {
    let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    let mut settings = settings(&server.base_url());
    settings.model =
        "arn:aws:bedrock:eu-central-1:1234:inference-profile/eu.vendor.model-v1:0".to_owned();
    let extractor = CONVERSE.with(settings, Some(KEY));
    let draft = crate::who::ask(&*extractor, OutputCap::Ordinary)
        .await
        .unwrap();
    assert_eq!(draft.text, "{}");
}

#[test]
fn region_and_way_to_hold_the_model_are_part_of_the_classifier() {
    let at = |region: &str, output| {
        let region = Region::new(region).unwrap();
        let key = Secret::new(KEY);
        let tls = tls::for_scheme("http").unwrap();
        let bedrock = Bedrock::new(
            settings("http://h/v1"),
            region,
            output,
            Some(&key),
            tls,
            now,
        );
        fencepost::extractor::Extractor::fingerprint(&bedrock.unwrap())
    };
    let here = at("eu-central-1", Output::Schema);
    assert_eq!(here["provider"], "bedrock");
    assert_eq!(here["region"], "eu-central-1");
    assert_ne!(here, at("eu-central-1", Output::Tool));
    assert_ne!(here, at("us-east-1", Output::Schema));
}

#[test]
fn a_schema_that_would_mean_something_else_is_refused_before_a_question() {
    let map = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let schema = json!({ "type": "object", "properties": { "a": map } });
    let check = |who: Who| who.at("http://h/v1").sent_schema(&schema).map(drop);
    let refused = check(CONVERSE).unwrap_err();
    assert_eq!(refused.problem(), Problem::OpenMembers);
    let told = "Bedrock can't take the schema at /properties/a: ";
    assert!(refused.to_string().starts_with(told), "{refused}");
    // A tool takes it as it stands.
    assert_eq!(check(CONVERSE_TOOL), Ok(()));
}
