//! What a result lists: written with it, all or nothing, each finding once under its own key.

use fencepost::{
    report::{AttemptNumber, Finding, ReviewReason},
    store::{
        Commit, Commitment, Correction, DecisionKind, FindingStatus, FindingView, Lost,
        PipelineTerms, Since, Store, StoreError,
    },
};
use fencepost_identity::key::{FindingKey, ResultKey};

use super::{
    decide::decide,
    fixture::{Database, call, grant, grant_on, ingest, key, poll_and_drop, request, terms, value},
};

const WITHDRAWN_ANNOUNCED: &str =
    "SELECT payload FROM outbox WHERE kind = 'finding.withdrawn' ORDER BY sequence";

/// What the rule `name` found, in these words.
pub(crate) fn found(name: &str, words: &str) -> Finding {
    Finding {
        fingerprint: vec![name.to_owned(), "src/a.rs".to_owned()],
        value: serde_json::json!({ "rule": name, "summary": words }).to_string(),
        collapsed: 0,
    }
}

/// An answer that lists these.
pub(crate) fn list(findings: &[Finding]) -> Commitment {
    let values: Vec<&str> = findings.iter().map(|it| it.value.as_str()).collect();
    Commitment {
        value: format!(r#"{{"findings":[{}]}}"#, values.join(",")),
        findings: Some(findings.to_vec()),
        ..value()
    }
}

/// An answer that lists what these rules found.
pub(crate) fn list_of(names: &[&str]) -> Commitment {
    let findings: Vec<_> = names.iter().map(|name| found(name, "it is so")).collect();
    list(&findings)
}

fn result() -> ResultKey {
    ResultKey::of(&key(1), "moderation-v3")
}

fn key_of(name: &str) -> FindingKey {
    FindingKey::of(&result(), &found(name, "").fingerprint)
}

/// What a person's wish for another attempt does to the job.
async fn ask_again(db: &impl Database) {
    db.execute("UPDATE job SET state = 'accepted', outcome = NULL, due_ms = 1")
        .await;
}

/// Commits an answer to report 1, as worker number `worker`.
async fn commit(db: &impl Database, worker: u8, answer: Commitment) -> Commit {
    let store = db.store();
    let lease = grant(&*store, worker).await.lease;
    let commit = store.commit(lease, answer).await.unwrap();
    ask_again(db).await;
    commit
}

async fn findings(store: &dyn Store) -> Vec<FindingView> {
    let view = store.report(key(1)).await.unwrap().unwrap();
    view.findings.unwrap().findings
}

/// The keys of what is present, and of what is not.
async fn keys(store: &dyn Store) -> (Vec<FindingKey>, Vec<FindingKey>) {
    let all = findings(store).await;
    let (present, withdrawn): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|it| it.status == FindingStatus::Present);
    let keys = |of: Vec<&FindingView>| of.iter().map(|it| it.key).collect();
    (keys(present), keys(withdrawn))
}

/// What each event about withdrawn findings names, sorted.
async fn announced(db: &impl Database) -> Vec<Vec<FindingKey>> {
    let payloads = db.texts(WITHDRAWN_ANNOUNCED).await;
    let named = payloads.iter().map(|payload| {
        let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
        assert_eq!(payload["report_key"], key(1).to_string());
        assert_eq!(payload["result_key"], result().to_string());
        let keys = payload["finding_keys"].as_array().unwrap().iter();
        let mut keys: Vec<FindingKey> = keys
            .map(|key| key.as_str().unwrap().parse().unwrap())
            .collect();
        keys.sort();
        keys
    });
    named.collect()
}

fn sorted<const N: usize>(names: [&str; N]) -> Vec<FindingKey> {
    let mut keys: Vec<_> = names.iter().map(|name| key_of(name)).collect();
    keys.sort();
    keys
}

/// All that a commit under another token leaves as it is.
async fn lasting(db: &impl Database) -> Vec<String> {
    let rows = "SELECT position || ' ' || value || ' ' || collapsed || ' ' || status || ' '
                       || created_ms || ' ' || coalesce(withdrawn_ms, 0)
                  FROM finding ORDER BY finding_key";
    db.texts(rows).await
}

pub(crate) async fn a_list_is_committed_with_its_result(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let mut odd = found("b", "\0 \u{1f600} 'quoted' \\u0000 \"");
    odd.collapsed = 2;
    let answer = list(&[found("a", "it is so"), odd.clone()]);
    let lease = grant(&*store, 1).await.lease;
    let committed = store.commit(lease, answer.clone()).await.unwrap();
    assert_eq!(committed, Commit::Final(result()));

    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.result.unwrap().value, answer.value);
    let shown = view.findings.unwrap();
    assert_eq!((shown.compared_with, shown.more), (None, false));
    assert_eq!(shown.gone, []);
    let [a, b] = shown.findings.as_slice() else {
        panic!("{shown:?}")
    };
    assert_eq!((a.key, b.key), (key_of("a"), key_of("b")));
    assert_ne!(a.lineage, b.lineage);
    for (seen, said) in [(a, &found("a", "it is so")), (b, &odd)] {
        assert_eq!(seen.status, FindingStatus::Present);
        assert_eq!(seen.since, Some(Since::New));
        assert_eq!(seen.value, said.value);
        assert_eq!(seen.collapsed, u64::from(said.collapsed));
        assert_eq!(seen.attempt, AttemptNumber::from_stored(1));
    }
    assert_eq!(store.stats().await.unwrap().findings, 2);
    assert!(announced(db).await.is_empty());
}

pub(crate) async fn a_result_that_is_no_list_has_no_findings(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, value()).await;
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.findings, None);
    assert_eq!(
        (
            db.rows("finding").await,
            store.stats().await.unwrap().findings
        ),
        (0, 0)
    );
}

pub(crate) async fn a_list_committed_again_leaves_the_same_rows(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, list_of(&["a", "b"])).await;
    let before = lasting(db).await;
    commit(db, 2, list_of(&["a", "b"])).await;
    assert_eq!(lasting(db).await, before);
    let shown = findings(&*store).await;
    assert_eq!(shown[0].attempt, AttemptNumber::from_stored(2));
    assert!(announced(db).await.is_empty());
    let finals = "SELECT count(*) FROM outbox WHERE kind = 'result.final'";
    assert_eq!(db.number(finals).await, 1);
}

pub(crate) async fn what_a_newer_answer_does_not_list_is_withdrawn(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, list_of(&["a", "b", "c"])).await;
    let before = findings(&*store).await;
    // In other words and at another place, and still the same.
    let reworded = found("c", "so it is");
    commit(db, 2, list(&[found("d", "new"), reworded.clone()])).await;
    let expected = (
        vec![key_of("d"), key_of("c")],
        vec![key_of("a"), key_of("b")],
    );
    assert_eq!(keys(&*store).await, expected);
    let after = findings(&*store).await;
    assert_eq!(
        (&after[1].value, after[1].created),
        (&reworded.value, before[2].created)
    );
    // What is withdrawn says what it said.
    assert_eq!(after[2].value, before[0].value);
    assert_eq!(after[2].since, None);
    assert_eq!(announced(db).await, [sorted(["a", "b"])]);

    // It comes back, and what takes its place is told once more.
    commit(db, 3, list_of(&["a"])).await;
    let (present, withdrawn) = keys(&*store).await;
    assert_eq!((present, withdrawn.len()), (vec![key_of("a")], 3));
    assert_eq!(
        announced(db).await,
        [sorted(["a", "b"]), sorted(["c", "d"])]
    );
    assert_eq!(
        (
            db.rows("finding").await,
            store.stats().await.unwrap().findings
        ),
        (4, 1)
    );
}

pub(crate) async fn an_empty_list_withdraws_all(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, list_of(&["a", "b"])).await;
    commit(db, 2, list_of(&[])).await;
    let (present, withdrawn) = keys(&*store).await;
    assert_eq!((present.len(), withdrawn.len()), (0, 2));
    assert_eq!(announced(db).await, [sorted(["a", "b"])]);
    // Nothing more is withdrawn, so nothing more is told.
    commit(db, 3, list_of(&[])).await;
    assert_eq!(announced(db).await.len(), 1);
}

pub(crate) async fn a_list_is_committed_whole_or_not_at_all(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, list_of(&["a", "b"])).await;
    let mut lease = grant(&*store, 2).await.lease;
    let before = db.contents().await;
    for (event, table) in [
        ("INSERT", "finding"),
        ("UPDATE", "finding"),
        ("INSERT", "outbox"),
    ] {
        db.break_table(event, table).await;
        let failed = store.commit(lease, list_of(&["b", "c"])).await.unwrap_err();
        assert!(
            matches!(failed.error, StoreError::Contradiction(_)),
            "{table}"
        );
        db.mend().await;
        assert_eq!(db.contents().await, before, "{event} on {table}");
        lease = *failed.lease;
    }
    store.commit(lease, list_of(&["b", "c"])).await.unwrap();
    let expected = (vec![key_of("b"), key_of("c")], vec![key_of("a")]);
    assert_eq!(keys(&*store).await, expected);
}

pub(crate) async fn a_caller_that_hangs_up_commits_a_whole_list_or_none(db: &impl Database) {
    let store = db.store();
    for n in 0..12_u32 {
        ingest(&*store, n).await;
        let lease = grant(&*store, 1).await.lease;
        let polls = usize::try_from(n % 6).unwrap();
        poll_and_drop(store.commit(lease, list_of(&["a", "b"])), polls).await;
    }
    // What was begun may be going on, so that it is counted in one statement.
    let halves = "SELECT count(*) FROM result s
                   WHERE (SELECT count(*) FROM finding f WHERE f.result_key = s.result_key) <> 2";
    assert_eq!(db.number(halves).await, 0);
    while db.rows("result").await < 12 {
        db.age_leases().await;
        let claim = store.claim(request(2, terms())).await.unwrap();
        if let fencepost::store::Claim::Granted(grant) = claim {
            store
                .commit(grant.lease, list_of(&["a", "b"]))
                .await
                .unwrap();
        }
    }
    assert_eq!((db.number(halves).await, db.rows("finding").await), (0, 24));
}

pub(crate) async fn two_findings_of_one_key_are_no_list(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let before = db.contents().await;
    let failed = store.commit(lease, list_of(&["a", "a"])).await.unwrap_err();
    assert!(matches!(failed.error, StoreError::Fault(_)), "{failed:?}");
    assert_eq!(db.contents().await, before);
}

pub(crate) async fn an_older_token_changes_no_finding(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, list_of(&["a", "b"])).await;
    // A zombie is stopped before it writes anything.
    let old = grant(&*store, 2).await.lease;
    db.age_leases().await;
    let new = grant(&*store, 3).await.lease;
    let before = db.contents().await;
    let lost = store.commit(old, list_of(&["c"])).await.unwrap();
    assert!(
        matches!(lost, Commit::Lost(Lost::Superseded { .. })),
        "{lost:?}"
    );
    assert_eq!(db.contents().await, before);
    // And if rows are newer than the lease, they stay.
    db.execute("UPDATE finding SET token = 99").await;
    let rows = lasting(db).await;
    store
        .commit(new, list(&[found("a", "older")]))
        .await
        .unwrap();
    assert_eq!(lasting(db).await, rows);
}

pub(crate) async fn another_schema_version_has_findings_of_its_own(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(db, 1, list_of(&["a", "b"])).await;
    let before = lasting(db).await;
    let newer = PipelineTerms {
        schema_version: "moderation-v4".to_owned(),
        ..terms()
    };
    let lease = grant_on(&*store, 2, newer).await.lease;
    store.commit(lease, list_of(&["a"])).await.unwrap();
    let shown = findings(&*store).await;
    assert_eq!(shown.len(), 1);
    assert_ne!(shown[0].key, key_of("a"));
    // Those of the older one are history with it.
    assert_eq!(db.rows("finding").await, 3);
    let after = lasting(db).await;
    assert!(before.iter().all(|row| after.contains(row)), "{after:?}");
    assert!(announced(db).await.is_empty());
    assert_eq!(store.stats().await.unwrap().findings, 3);
}

fn for_review(answer: Commitment) -> Commitment {
    Commitment {
        review: Some(ReviewReason::Policy.into()),
        ..answer
    }
}

fn correction(names: &[&str]) -> DecisionKind {
    let answer = list_of(names);
    DecisionKind::Correct(Correction {
        value: answer.value,
        findings: answer.findings,
        schema_version: "moderation-v3".to_owned(),
        schema_digest: [9; 32],
    })
}

pub(crate) async fn a_person_writes_a_list_in_place_of_a_machines(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let answer = for_review(list_of(&["a", "b"]));
    store.commit(lease, answer).await.unwrap();
    decide(&*store, 1, correction(&["b", "c"])).await;
    let expected = (vec![key_of("b"), key_of("c")], vec![key_of("a")]);
    assert_eq!(keys(&*store).await, expected);
    let attempts: Vec<_> = findings(&*store)
        .await
        .iter()
        .map(|it| it.attempt)
        .collect();
    assert_eq!(attempts, [None, None, AttemptNumber::from_stored(1)]);
    assert_eq!(announced(db).await, [sorted(["a"])]);
}

pub(crate) async fn a_person_writes_a_list_where_there_was_none(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let mut refusal = super::fixture::rejection();
    refusal.next = fencepost::store::AfterRejection::Review(ReviewReason::Refused.into());
    store.reject(lease, refusal).await.unwrap();
    decide(&*store, 1, correction(&["a"])).await;
    assert_eq!(keys(&*store).await, (vec![key_of("a")], Vec::new()));
}

pub(crate) async fn what_a_person_decided_about_stays(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let answer = for_review(list_of(&["a", "b"]));
    store.commit(lease, answer).await.unwrap();
    decide(&*store, 1, DecisionKind::Accept).await;
    let before = lasting(db).await;
    let version = "moderation-8".to_owned();
    store
        .replay(key(1), version.clone(), "kim".to_owned())
        .await
        .unwrap();
    let newer = PipelineTerms {
        classifier_version: version,
        ..terms()
    };
    let lease = grant_on(&*store, 2, newer).await.lease;
    let committed = store.commit(lease, list_of(&["c"])).await.unwrap();
    assert_eq!(committed, Commit::Candidate(result()));
    assert_eq!(lasting(db).await, before);
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert!(view.result.unwrap().candidate.is_some());
    assert!(announced(db).await.is_empty());
}

pub(crate) async fn a_thousand_findings_are_one_list(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let name = |n: usize| found(&format!("rule {n}"), "it is so");
    let all: Vec<Finding> = (0..1_001).map(name).collect();
    commit(db, 1, list(&all)).await;
    let shown = store
        .report(key(1))
        .await
        .unwrap()
        .unwrap()
        .findings
        .unwrap();
    assert_eq!((shown.findings.len(), shown.more), (1_000, true));
    assert_eq!(shown.findings[999].key, key_of("rule 999"));
    assert_eq!(store.stats().await.unwrap().findings, 1_001);

    commit(db, 2, list(&all[..400])).await;
    let (present, withdrawn) = keys(&*store).await;
    assert_eq!((present.len(), withdrawn.len()), (400, 600));
    let told = announced(db).await;
    assert_eq!((told.len(), told[0].len()), (1, 601));
}

pub(crate) async fn erasing_forgets_what_was_found(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    commit(
        db,
        1,
        Commitment {
            call: Some(call()),
            ..list_of(&["a", "b"])
        },
    )
    .await;
    commit(db, 2, list_of(&["a"])).await;
    // Who was told was told; what they were told is forgotten all the same.
    db.execute("UPDATE outbox SET delivered_ms = 1").await;
    store.erase(key(1), "kim".to_owned()).await.unwrap();
    assert_eq!(db.rows("finding").await, 0);
    let left = "SELECT count(*) FROM result WHERE thing_key IS NOT NULL";
    assert_eq!(db.number(left).await, 0);
    assert_eq!(db.texts(WITHDRAWN_ANNOUNCED).await, ["{}"]);
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!((view.result, view.findings), (None, None));
    assert_eq!(store.stats().await.unwrap().findings, 0);
}
