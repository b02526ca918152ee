//! The published vectors, reproduced natively.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::{Engine, prelude::BASE64_STANDARD};
use fencepost_identity::{
    canonical::to_canonical,
    identity::{Identity, Namespace, Tenant},
    json,
    key::{CallKey, ClaimKey, EventKey, FindingKey, ReportKey, ResultKey},
    mapping::{Input, Mapping, TenantForm, VersionForm},
    pointer::Pointer,
};
use serde_json::Value;

fn vectors(text: &str) -> Vec<Value> {
    let vectors: Vec<Value> = serde_json::from_str(text).unwrap();
    assert!(!vectors.is_empty());
    vectors
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn keys() {
    for vector in vectors(include_str!("vectors/keys.json")) {
        let name = &vector["name"];
        let identity = Identity::from_json(vector["identity"].to_string().as_bytes()).unwrap();
        let report = identity.report_key();
        assert_eq!(report.to_string(), vector["report_key"], "{name}");
        let claim = ClaimKey::of(&report, text(&vector["classifier_version"]));
        assert_eq!(claim.to_string(), vector["claim_key"], "{name}");
        let call = CallKey::of(
            &claim,
            u32::try_from(vector["call"].as_u64().unwrap()).unwrap(),
        );
        assert_eq!(call.to_string(), vector["call_key"], "{name}");
        let result = ResultKey::of(&report, text(&vector["schema_version"]));
        assert_eq!(result.to_string(), vector["result_key"], "{name}");
        let fingerprint: Vec<&str> = vector["fingerprint"]
            .as_array()
            .unwrap()
            .iter()
            .map(text)
            .collect();
        let finding = FindingKey::of(&result, &fingerprint);
        assert_eq!(finding.to_string(), vector["finding_key"], "{name}");
        let [kind, sequence] = vector["event"].as_array().unwrap().as_slice() else {
            panic!()
        };
        let event = EventKey::of(&report, text(kind), sequence.as_u64().unwrap());
        assert_eq!(event.to_string(), vector["event_key"], "{name}");
        // The form that a person sees is the form that was read.
        assert_eq!(
            serde_json::to_value(&identity).unwrap(),
            vector["identity"],
            "{name}"
        );
    }
}

fn pointer(value: &Value) -> Pointer {
    Pointer::new(text(value)).unwrap()
}

fn mapping(value: &Value) -> Mapping {
    let tenant = &value["tenant"];
    let version = &value["version"];
    Mapping {
        tenant: match (tenant.get("value"), tenant.get("pointer")) {
            (Some(value), None) => TenantForm::Value(Tenant::new(text(value)).unwrap()),
            (None, Some(place)) => TenantForm::Pointer(pointer(place)),
            _ => TenantForm::Route,
        },
        namespace: Namespace::new(text(&value["namespace"])).unwrap(),
        report_id: pointer(&value["report_id"]),
        version: match (version.get("revision"), version.get("content")) {
            (Some(place), None) => VersionForm::Revision(pointer(place)),
            (None, Some(Value::Array(places))) => {
                VersionForm::Content(places.iter().map(pointer).collect())
            }
            _ => VersionForm::Event,
        },
    }
}

#[test]
fn payloads() {
    for vector in vectors(include_str!("vectors/payloads.json")) {
        let payload = match vector.get("payload_base64") {
            Some(base64) => BASE64_STANDARD.decode(text(base64)).unwrap(),
            None => text(&vector["payload"]).as_bytes().to_vec(),
        };
        let route = vector.get("route_tenant").map(text);
        let mapping = mapping(&vector["mapping"]);
        let identity = json::parse(&payload).and_then(|value| mapping.identify(&value, route));
        let name = &vector["name"];
        match identity {
            Ok(identity) => {
                assert_eq!(
                    serde_json::to_value(&identity).unwrap(),
                    vector["identity"],
                    "{name}"
                );
                assert_eq!(
                    ReportKey::of(&identity).to_string(),
                    vector["report_key"],
                    "{name}"
                );
            }
            Err(refusal) => assert_eq!(refusal.code(), vector["error"], "{name}"),
        }
    }
}

#[test]
fn inputs() {
    for vector in vectors(include_str!("vectors/inputs.json")) {
        let document = json::parse(text(&vector["input"]).as_bytes()).unwrap();
        let name = &vector["name"];
        assert_eq!(
            to_canonical(&document).unwrap(),
            vector["canonical"],
            "{name}"
        );
        let input = Input::of_object(&document).unwrap();
        assert_eq!(input.as_str(), vector["canonical"], "{name}");
        assert_eq!(input.hash().to_string(), vector["input_hash"], "{name}");
    }
}
