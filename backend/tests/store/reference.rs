//! Content by reference: kept once, under the fence, and compared with nothing; what happens to
//! the credential that it is fetched with.

use std::{collections::BTreeMap, time::Duration};

use fencepost::{
    report::{AttemptOutcome, InputOrigin, State},
    store::{
        Charge, Claim, Content, CredentialName, Erasure, Fetched, Grant, Ingested, KeptInput, Lost,
        NewReport, PauseReason, PipelineTerms, Release, Store, Subject,
    },
};

use super::fixture::{
    Database, grant, grant_on, input, key, release, report, report_with_content, request, terms,
    value,
};

const TEXT: &str = r#"{"text":"fetched"}"#;

fn reference(n: u32) -> NewReport {
    NewReport {
        input: None,
        ..report(n)
    }
}

async fn ingest(store: &dyn Store, n: u32) {
    let ingested = store.ingest(reference(n)).await.unwrap();
    assert!(matches!(ingested, Ingested::Accepted { .. }));
}

fn token() -> CredentialName {
    CredentialName::new("CODE_TOKEN")
}

fn fetched(text: &str) -> Fetched {
    Fetched {
        input: input(text, 7),
        with: token(),
    }
}

fn fetching() -> PipelineTerms {
    PipelineTerms {
        fetched_with: BTreeMap::from([("comments".to_owned(), token())]),
        ..terms()
    }
}

fn kept(text: &str) -> KeptInput {
    KeptInput::Kept(text.as_bytes().to_vec())
}

fn duplicate(n: u32, state: State) -> Ingested {
    Ingested::Duplicate {
        key: key(n),
        state,
        content: Content::Same,
    }
}

async fn origin(store: &dyn Store, n: u32) -> InputOrigin {
    store.report(key(n)).await.unwrap().unwrap().input_from
}

pub(crate) async fn an_input_is_kept_once_and_never_replaced(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    assert_eq!(origin(&*store, 1).await, InputOrigin::Reference);
    let first = grant(&*store, 1).await;
    assert_eq!(first.input, b"");
    assert_eq!(first.unfetched, Some(report(1).links));
    let keep = store.keep_input(&first.lease, fetched(TEXT)).await.unwrap();
    assert_eq!(keep, kept(TEXT));
    assert_eq!(origin(&*store, 1).await, InputOrigin::Fetched);
    let contents = db.contents().await;
    let again = fetched(r#"{"text":"another"}"#);
    let keep = store.keep_input(&first.lease, again.clone()).await.unwrap();
    assert_eq!(keep, kept(TEXT));
    assert_eq!(db.contents().await, contents);
    // Who takes over finds it, and need not fetch.
    db.age_leases().await;
    let second = grant(&*store, 2).await;
    assert_eq!(second.input, TEXT.as_bytes());
    assert_eq!(second.unfetched, None);
    let hash = db.bytes("07".repeat(32));
    let hashed = format!("SELECT count(*) FROM report WHERE input_hash = {hash}");
    assert_eq!(db.number(&hashed).await, 1);
    store.commit(second.lease, value()).await.unwrap();
}

pub(crate) async fn who_lost_the_lease_keeps_no_input(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let old = grant(&*store, 1).await.lease;
    db.age_leases().await;
    let new = grant(&*store, 2).await;
    assert_eq!(new.unfetched, Some(report(1).links));
    let by = new.lease.token();
    let contents = db.contents().await;
    let keep = store.keep_input(&old, fetched(TEXT)).await.unwrap();
    assert_eq!(keep, KeptInput::Lost(Lost::Superseded { by }));
    assert_eq!(db.contents().await, contents);
    let keep = store.keep_input(&new.lease, fetched(TEXT)).await.unwrap();
    assert_eq!(keep, kept(TEXT));
}

pub(crate) async fn a_forwarded_input_is_not_replaced_by_a_fetched_one(db: &impl Database) {
    let store = db.store();
    store.ingest(report(1)).await.unwrap();
    let granted = grant(&*store, 1).await;
    assert_eq!(granted.unfetched, None);
    let contents = db.contents().await;
    let keep = store.keep_input(&granted.lease, fetched(TEXT)).await;
    assert_eq!(keep.unwrap(), KeptInput::Kept(granted.input));
    assert_eq!(db.contents().await, contents);
    assert_eq!(origin(&*store, 1).await, InputOrigin::Forwarded);
}

pub(crate) async fn a_duplicate_by_reference_is_no_conflict(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    store.ingest(report(2)).await.unwrap();
    let contents = db.contents().await;
    for (again, n) in [
        (reference(1), 1),
        (report_with_content(1, 9), 1),
        (reference(2), 2),
    ] {
        let ingested = store.ingest(again).await.unwrap();
        assert_eq!(ingested, duplicate(n, State::Accepted));
    }
    assert_eq!(db.contents().await, contents);
    let lease = grant(&*store, 1).await.lease;
    store.keep_input(&lease, fetched(TEXT)).await.unwrap();
    for again in [reference(1), report_with_content(1, 9)] {
        let ingested = store.ingest(again).await.unwrap();
        assert_eq!(ingested, duplicate(1, State::Running));
    }
    assert_eq!(db.rows("content_conflict").await, 0);
}

pub(crate) async fn what_was_fetched_is_erased(db: &impl Database) {
    let store = db.store();
    for n in [1, 2] {
        ingest(&*store, n).await;
    }
    let lease = grant(&*store, 1).await.lease;
    store.keep_input(&lease, fetched(TEXT)).await.unwrap();
    for n in [1, 2] {
        let erased = store.erase(key(n), "kim".to_owned()).await.unwrap();
        assert_eq!(erased, Erasure::Erased);
    }
    let left = "SELECT count(*) FROM report WHERE length(input) > 0 OR links <> '[]'";
    assert_eq!(db.number(left).await, 0);
    let by = store.report(key(1)).await.unwrap().unwrap().token;
    let keep = store.keep_input(&lease, fetched(TEXT)).await.unwrap();
    assert_eq!(keep, KeptInput::Lost(Lost::Superseded { by }));
    assert_eq!(db.number(left).await, 0);
}

async fn refused(store: &dyn Store, grant: Grant) {
    let release = Release {
        refused: Some(token()),
        ..release(AttemptOutcome::Auth, Charge::GiveBack)
    };
    store.release(grant.lease, release).await.unwrap();
}

/// What is paused, and how often it was probed.
async fn paused(store: &dyn Store) -> Vec<(Subject, PauseReason, u32)> {
    let pauses = store.pauses().await.unwrap().into_iter();
    let pauses = pauses.map(|pause| (pause.subject, pause.reason, pause.probes));
    pauses.collect()
}

async fn probe_is_due(db: &impl Database) {
    db.execute("UPDATE pause SET probe_ms = 1 WHERE probe_ms IS NOT NULL")
        .await;
}

pub(crate) async fn a_refused_token_is_paused_by_its_own_name(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant_on(&*store, 1, fetching()).await;
    refused(&*store, first).await;
    let subject = Subject::Credential(token());
    let auth = |probes| vec![(subject.clone(), PauseReason::Auth, probes)];
    assert_eq!(paused(&*store).await, auth(0));
    // Who fetches with it waits, whoever has the same model's key does not.
    let claim = store.claim(request(2, fetching())).await.unwrap();
    let Claim::Idle { wait: Some(wait) } = claim else {
        panic!("{claim:?}")
    };
    assert!(wait <= Duration::from_secs(60), "{wait:?}");
    let other = NewReport {
        pipeline: "other".to_owned(),
        ..report(2)
    };
    store.ingest(other).await.unwrap();
    let others = PipelineTerms {
        pipeline: "other".to_owned(),
        ..terms()
    };
    grant_on(&*store, 3, others).await;
    // The probe is refused, too; then one is not.
    probe_is_due(db).await;
    let probe = grant_on(&*store, 4, fetching()).await;
    refused(&*store, probe).await;
    assert_eq!(paused(&*store).await, auth(1));
    probe_is_due(db).await;
    let probe = grant_on(&*store, 5, fetching()).await;
    let keep = store.keep_input(&probe.lease, fetched(TEXT)).await.unwrap();
    assert_eq!((keep, paused(&*store).await), (kept(TEXT), vec![]));
}

/// A job whose input is there says nothing of the token: its probe is not used up.
pub(crate) async fn who_need_not_fetch_probes_no_token(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant_on(&*store, 1, fetching()).await;
    refused(&*store, first).await;
    let forwarded = report(2);
    store.ingest(forwarded).await.unwrap();
    db.execute("UPDATE job SET due_ms = 1 WHERE state = 'accepted'")
        .await;
    db.execute("UPDATE job SET due_ms = 2 WHERE job_id = 1")
        .await;
    probe_is_due(db).await;
    let second = grant_on(&*store, 2, fetching()).await;
    assert_eq!(second.lease.report(), key(2));
    store.commit(second.lease, value()).await.unwrap();
    let subject = Subject::Credential(token());
    assert_eq!(
        paused(&*store).await,
        [(subject, PauseReason::Auth, 0)],
        "the model's answer does not end it either"
    );
    let third = grant_on(&*store, 3, fetching()).await;
    assert_eq!(third.lease.report(), key(1));
}

/// One source's token tells nothing of another's: its jobs neither use up the other's probe nor
/// end its pause.
pub(crate) async fn who_fetches_with_another_token_probes_not_this_one(db: &impl Database) {
    let store = db.store();
    let another = CredentialName::new("WIKI_TOKEN");
    let both = || {
        let mut terms = fetching();
        terms
            .fetched_with
            .insert("wiki".to_owned(), another.clone());
        terms
    };
    ingest(&*store, 1).await;
    let first = grant_on(&*store, 1, both()).await;
    refused(&*store, first).await;
    let wiki = NewReport {
        input: None,
        source: "wiki".to_owned(),
        ..report(2)
    };
    store.ingest(wiki).await.unwrap();
    db.execute("UPDATE job SET due_ms = 1 WHERE state = 'accepted'")
        .await;
    db.execute("UPDATE job SET due_ms = 2 WHERE job_id = 1")
        .await;
    probe_is_due(db).await;
    let second = grant_on(&*store, 2, both()).await;
    assert_eq!(second.lease.report(), key(2));
    let fetched = Fetched {
        with: another.clone(),
        ..fetched(TEXT)
    };
    store.keep_input(&second.lease, fetched).await.unwrap();
    store.commit(second.lease, value()).await.unwrap();
    let subject = Subject::Credential(token());
    assert_eq!(paused(&*store).await, [(subject, PauseReason::Auth, 0)]);
    let third = grant_on(&*store, 3, both()).await;
    assert_eq!(third.lease.report(), key(1), "its own probe is still there");
}

pub(crate) async fn time_stands_still_while_a_token_is_paused(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant_on(&*store, 1, fetching()).await;
    refused(&*store, first).await;
    let day = 24 * 60 * 60 * 1000;
    db.execute(&format!(
        "UPDATE job SET elapsed_from_ms = elapsed_from_ms - {day}"
    ))
    .await;
    db.execute(&format!("UPDATE pause SET since_ms = since_ms - {day}"))
        .await;
    probe_is_due(db).await;
    let probe = grant_on(&*store, 2, fetching()).await;
    assert_eq!(probe.lease.report(), key(1));
}
