//! What a result lists, over the admin listener.

use fencepost::{report::Finding, store::Commitment};
use fencepost_identity::{
    identity::{Namespace, ReportId, Revision, Tenant, Version},
    key::{FindingKey, LineageKey, ReportKey, ResultKey},
};
use serde_json::{Value, json};

use super::decisions::{Place, get};

/// Too long for a floating-point number, so that its digits are seen to be kept.
const LINE: &str = "123456789012345678901";

fn found(rule: &str) -> Finding {
    Finding {
        fingerprint: vec![rule.to_owned()],
        value: format!(r#"{{"line":{LINE},"rule":"{rule}"}}"#),
        collapsed: 1,
    }
}

/// A version of thing 1 whose result lists what these rules found.
async fn listed(place: &Place, revision: u64, rules: &[&str]) -> ReportKey {
    let order = Some(revision.to_string());
    let version = Version::Revision(Revision::new(revision).unwrap());
    let lease = place.granted_version("1", version, order).await;
    let key = lease.report();
    let findings: Vec<_> = rules.iter().map(|rule| found(rule)).collect();
    let values: Vec<_> = findings.iter().map(|it| it.value.as_str()).collect();
    let commitment = Commitment {
        value: format!(r#"{{"findings":[{}]}}"#, values.join(",")),
        findings: Some(findings),
        review: None,
        remark: None,
        call: None,
    };
    place.store.commit(lease, commitment).await.unwrap();
    key
}

fn lineage(rule: &str) -> LineageKey {
    LineageKey::of(
        &Tenant::new("acme").unwrap(),
        &Namespace::new("issues").unwrap(),
        &ReportId::new("1").unwrap(),
        &[rule],
    )
}

#[tokio::test]
async fn a_report_shows_what_its_result_lists() {
    let place = Place::new().await;
    let first = listed(&place, 1, &["a", "b"]).await;
    let second = listed(&place, 2, &["b", "c"]).await;
    let report = place.report(second).await;
    let result = ResultKey::of(&second, "moderation-v3");
    let finding = |shown: &Value, rule: &str, since: &str| {
        json!({
            "finding_key": FindingKey::of(&result, &[rule]), "lineage_key": lineage(rule),
            "status": "present", "since": since, "collapsed": "1", "attempt": 1,
            "value": shown["value"],
            "created_at": shown["created_at"], "updated_at": shown["updated_at"],
        })
    };
    let shown = &report["findings"];
    let expected = [
        finding(&shown[0], "b", "still"),
        finding(&shown[1], "c", "new"),
    ];
    assert_eq!(shown, &json!(expected));
    assert_eq!(shown[0]["value"]["rule"], "b");
    assert!(shown[0]["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(report["compared_with"], json!(first));
    assert_eq!(report["gone"], json!([lineage("a")]));
    assert_eq!(report["more_findings"], json!(false));
    let stats = get(&place.router, "/v1/stats").await.body;
    assert_eq!(stats["findings"], "4");

    // A result that is no list has none.
    let other = place.in_review("2").await;
    let none = place.report(other).await;
    assert_eq!((&none["findings"], &none["gone"]), (&json!([]), &json!([])));
    assert_eq!(none["compared_with"], Value::Null);
}
