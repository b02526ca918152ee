//! `show`, of a result that is a list.

use std::{sync::Arc, time::Duration};

use fencepost::{
    report::{Finding, Nonce, WorkerId},
    store::{
        self, Claim, ClaimRequest, Commitment, CredentialName, NewInput, NewReport, PipelineTerms,
        Store,
    },
};
use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    key::{FindingKey, InputHash, MappingDigest, ReportKey, ResultKey},
};

use super::Place;

/// Revision `revision` of a thing, whose result lists what these rules found.
async fn listed(store: &dyn Store, revision: u64, rules: &[&str]) -> ReportKey {
    let report = NewReport {
        identity: Identity {
            tenant: Tenant::new("acme").unwrap(),
            namespace: Namespace::new("pulls").unwrap(),
            report_id: ReportId::new("7").unwrap(),
            version: Version::Revision(Revision::new(revision).unwrap()),
        },
        input: Some(NewInput {
            canonical: b"{}".to_vec(),
            hash: InputHash::from_bytes([1; 32]),
        }),
        links: Vec::new(),
        source: "pulls".to_owned(),
        mapping_digest: MappingDigest::from_bytes([1; 32]),
        order: Some(revision.to_string()),
        pipeline: "code".to_owned(),
    };
    let key = report.identity.report_key();
    store.ingest(report).await.unwrap();
    let request = ClaimRequest {
        worker: WorkerId::new("worker"),
        nonce: Nonce::new([1; 16]),
        turns: Arc::default(),
        pipelines: vec![PipelineTerms {
            pipeline: "code".to_owned(),
            classifier_version: "code-1".to_owned(),
            schema_version: "code-v1".to_owned(),
            lease: Duration::from_secs(60),
            max_attempts: 3,
            max_elapsed: Duration::from_secs(600),
            credential: CredentialName::new("MODEL_KEY"),
            fetched_with: std::collections::BTreeMap::new(),
        }],
    };
    let Claim::Granted(grant) = store.claim(request).await.unwrap() else {
        unreachable!("nobody else claims")
    };
    let found = rules.iter().map(|rule| Finding {
        fingerprint: vec![(*rule).to_owned()],
        // What could steer a terminal is not printed as it is.
        value: format!("{{\"rule\":\"{rule}\u{9b}31m\"}}"),
        collapsed: 2,
    });
    let commitment = Commitment {
        value: "{}".to_owned(),
        findings: Some(found.collect()),
        review: None,
        remark: None,
        call: None,
    };
    store.commit(grant.lease, commitment).await.unwrap();
    key
}

#[tokio::test]
async fn findings_are_a_table() {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let file = place.folder.path().join("fencepost.db");
    let store = store::open(&format!("sqlite://{}", file.display()))
        .await
        .unwrap();
    let first = listed(&*store, 1, &["a", "b"]).await;
    let second = listed(&*store, 2, &["b", "c"]).await;
    let shown = place.run(&["show", &second.to_string()]);
    let line = |rule: &str, is: &str| {
        let result = ResultKey::of(&second, "code-v1");
        let key = FindingKey::of(&result, &[rule]);
        format!("{key}  {is}  2          {{\"rule\":\"{rule}\u{fffd}31m\"}}\n")
    };
    let expected = format!(
        "{}{}gone since the version before, {first}: 1\n",
        line("b", "still"),
        line("c", "new  ")
    );
    assert!(shown.stdout.contains(&expected), "{shown:?}");
    let shown = place.run(&["show", &second.to_string(), "--json"]).json();
    assert_eq!(shown["report"]["gone"].as_array().unwrap().len(), 1);
    assert_eq!(shown["report"]["findings"][1]["since"], "new");
}
