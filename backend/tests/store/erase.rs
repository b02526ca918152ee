//! Erasure: nothing of what a report was is left, and that it was there is not forgotten.

use fencepost::{
    report::{AttemptOutcome, FencingToken, Outcome, ReviewReason, State},
    store::{
        AfterRejection, Commit, Commitment, Content, Correction, DecisionKind, Erasure, Filter,
        Held, Ingested, Lost, NewReport, RawAnswer, ReviewNeed, Store,
    },
};
use fencepost_identity::{
    identity::{Identity, ReportId, Tenant},
    key::ReportKey,
};

use super::{
    decide::decision,
    findings::found,
    fixture::{
        Database, call, grant, grant_on, idle, ingest, input, key, rejection, report,
        report_with_content, terms, value,
    },
};

/// Stands in every text that comes from outside.
pub(crate) const CANARY: &str = "canary-5f1c";
const ERASED: State = State::Terminal(Outcome::Erased);

fn secret() -> NewReport {
    NewReport {
        identity: Identity {
            tenant: Tenant::new(format!("tenant {CANARY}")).unwrap(),
            report_id: ReportId::new(format!("id {CANARY}")).unwrap(),
            ..report(1).identity
        },
        input: Some(input(&format!(r#"{{"text":"{CANARY}"}}"#), 1)),
        links: vec![("page".to_owned(), format!("https://{CANARY}.example"))],
        order: Some(format!("order {CANARY}")),
        ..report(1)
    }
}

fn raw() -> RawAnswer {
    let mut call = call();
    call.request_id = Some(format!("req {CANARY}"));
    RawAnswer {
        raw: format!(r#"{{"category":"{CANARY}"}}"#).into_bytes(),
        call,
    }
}

async fn erase(store: &dyn Store, key: ReportKey) -> Erasure {
    store.erase(key, "kim".to_owned()).await.unwrap()
}

/// A report with something in every place that can hold something.
pub(crate) async fn full(store: &dyn Store) -> ReportKey {
    let key = secret().identity.report_key();
    store.ingest(secret()).await.unwrap();
    let other = NewReport {
        input: report_with_content(1, 9).input,
        ..secret()
    };
    store.ingest(other).await.unwrap();
    let lease = grant(store, 1).await.lease;
    store.store_raw(&lease, raw()).await.unwrap();
    let mut invalid = rejection();
    invalid.reason = Some(CANARY.to_owned());
    invalid.next = AfterRejection::Again(std::time::Duration::ZERO);
    store.reject(lease, invalid).await.unwrap();
    let lease = grant(store, 2).await.lease;
    store.store_raw(&lease, raw()).await.unwrap();
    let commitment = Commitment {
        value: format!(r#"{{"category":"{CANARY}"}}"#),
        findings: Some(vec![found(CANARY, CANARY)]),
        review: Some(ReviewNeed {
            reason: ReviewReason::Policy,
            note: Some(CANARY.to_owned()),
        }),
        remark: Some(CANARY.to_owned()),
        call: Some(raw().call),
    };
    store.commit(lease, commitment.clone()).await.unwrap();
    let mut correction = decision(
        1,
        DecisionKind::Correct(Correction {
            value: format!(r#"{{"category":"{CANARY}"}}"#),
            findings: Some(vec![found(&format!("{CANARY} 2"), CANARY)]),
            schema_version: "moderation-v3".to_owned(),
            schema_digest: [9; 32],
        }),
    );
    correction.why = CANARY.to_owned();
    store.decide(key, correction).await.unwrap();
    let version = "moderation-8".to_owned();
    store.replay(key, version, "kim".to_owned()).await.unwrap();
    let mut newer = terms();
    newer.classifier_version = "moderation-8".to_owned();
    let lease = grant_on(store, 3, newer).await.lease;
    let commit = store.commit(lease, commitment).await.unwrap();
    assert!(matches!(commit, Commit::Candidate(_)), "{commit:?}");
    key
}

pub(crate) async fn nothing_of_an_erased_report_is_in_any_table(db: &impl Database) {
    let store = db.store();
    let key = full(&*store).await;
    let hexadecimal: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let found = |contents: &str| {
        let lower = contents.to_lowercase();
        lower.matches(CANARY).count() + lower.matches(&hexadecimal).count()
    };
    let before = db.contents().await;
    assert!(found(&before) > 12, "{before}");
    assert_eq!(erase(&*store, key).await, Erasure::Erased);
    let after = db.contents().await;
    assert_eq!(found(&after), 0, "{after}");
    assert_eq!(db.rows("content_conflict").await, 0);
    let payloads = "SELECT count(*) FROM outbox WHERE payload <> '{}'";
    assert_eq!(db.number(payloads).await, 0);
    let audited = "SELECT count(*) FROM audit WHERE action = 'report.erase' AND actor = 'kim'";
    assert_eq!(db.number(audited).await, 1);
    assert_eq!(store.attempts(key).await.unwrap().len(), 3);
}

pub(crate) async fn who_works_on_an_erased_report_writes_nothing(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    assert_eq!(erase(&*store, key(1)).await, Erasure::Erased);
    let attempts = store.attempts(key(1)).await.unwrap();
    assert_eq!(attempts[0].outcome, Some(AttemptOutcome::LeaseLost));
    let before = db.contents().await;
    let by = FencingToken::from_stored(2).unwrap();
    let lost = Lost::Superseded { by };
    assert_eq!(store.heartbeat(&lease).await.unwrap(), Held::Lost(lost));
    let kept = store.store_raw(&lease, raw()).await.unwrap();
    assert_eq!(kept, Held::Lost(lost));
    let commit = store.commit(lease, value()).await.unwrap();
    assert_eq!(commit, Commit::Lost(lost));
    assert_eq!(db.contents().await, before);
    idle(&*store, 2).await;
}

pub(crate) async fn a_redelivery_of_an_erased_report_is_a_duplicate(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    erase(&*store, key(1)).await;
    let before = db.contents().await;
    // With the same content, with another, and with an order.
    let ordered = NewReport {
        order: Some("7".to_owned()),
        ..report_with_content(1, 8)
    };
    for again in [report(1), report_with_content(1, 7), ordered] {
        let ingested = store.ingest(again).await.unwrap();
        let duplicate = Ingested::Duplicate {
            key: key(1),
            state: ERASED,
            content: Content::Same,
        };
        assert_eq!(ingested, duplicate);
    }
    assert_eq!(db.contents().await, before);
    idle(&*store, 1).await;
}

pub(crate) async fn erasing_again_changes_nothing(db: &impl Database) {
    let store = db.store();
    assert_eq!(erase(&*store, key(1)).await, Erasure::Unknown);
    ingest(&*store, 1).await;
    assert_eq!(erase(&*store, key(1)).await, Erasure::Erased);
    let before = db.contents().await;
    assert_eq!(erase(&*store, key(1)).await, Erasure::Already);
    assert_eq!(db.contents().await, before);
}

pub(crate) async fn an_erased_report_is_shown_without_what_it_was(db: &impl Database) {
    let store = db.store();
    let key = full(&*store).await;
    ingest(&*store, 2).await;
    erase(&*store, key).await;
    let view = store.report(key).await.unwrap().unwrap();
    assert_eq!((view.summary.state, view.summary.identity), (ERASED, None));
    assert_eq!((view.result, view.order, view.links.len()), (None, None, 0));
    assert_eq!((view.version_status, view.conflicts), (None, 0));
    let review = view.review.unwrap();
    assert_eq!(review.note, None);
    assert!(review.closed.is_some());
    let page = store.list(Filter::default(), None, 10).await.unwrap();
    assert_eq!((page.reports.len(), page.unreadable.len()), (2, 0));
    let of_tenant = Filter {
        tenant: Some(secret().identity.tenant.to_string()),
        ..Filter::default()
    };
    assert!(
        store
            .list(of_tenant, None, 10)
            .await
            .unwrap()
            .reports
            .is_empty()
    );
    assert_eq!(store.stats().await.unwrap().reviews_open, 0);
}

pub(crate) async fn a_report_that_cannot_be_understood_can_be_erased(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    db.execute("UPDATE job SET state = 'unheard of'").await;
    assert!(store.report(key(1)).await.is_err());
    assert_eq!(erase(&*store, key(1)).await, Erasure::Erased);
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!(view.summary.state, ERASED);
}
