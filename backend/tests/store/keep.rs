//! How long answers are kept, and which is judged again.

use std::time::Duration;

use fencepost::{
    report::{AttemptOutcome, ReviewReason},
    store::{
        AfterRejection, CallRecord, Emptied, ExpiredAnswer, Keeping, KeptAnswer, LastAnswer,
        PastVerdict, RawAnswer, Store,
    },
};
use fencepost_identity::key::ReportKey;

use super::fixture::{
    Database, answer, call, grant, grant_on, ingest, key, rejection, report, terms, value,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// More than a day ago.
const AGED: &str = "UPDATE attempt SET ended_ms = ended_ms - 100000000 WHERE ended_ms IS NOT NULL";

fn keeping(kept_for: Duration) -> Keeping {
    Keeping {
        pipeline: "moderation".to_owned(),
        kept_for,
    }
}

/// The report number `n`, whose answer is committed.
async fn committed(store: &dyn Store, n: u32) -> ReportKey {
    let key = ingest(store, n).await;
    let lease = grant(store, 1).await.lease;
    store.store_raw(&lease, answer()).await.unwrap();
    store.commit(lease, value()).await.unwrap();
    key
}

/// All that has been kept for a day, looked up page by page.
async fn expired(store: &dyn Store) -> Vec<ExpiredAnswer> {
    let mut answers = Vec::new();
    let mut after = None;
    loop {
        let page = store.expired_answers(keeping(DAY), after).await.unwrap();
        assert_eq!(page.unreadable, []);
        answers.extend(page.answers);
        after = page.next;
        if after.is_none() {
            return answers;
        }
    }
}

async fn last(store: &dyn Store, key: ReportKey) -> Option<LastAnswer> {
    let version = "moderation-7".to_owned();
    store.last_answer(key, version).await.unwrap()
}

pub(crate) async fn an_answer_is_emptied_and_its_attempt_stays(db: &impl Database) {
    let store = db.store();
    let key = committed(&*store, 1).await;
    assert_eq!(expired(&*store).await, []);
    db.execute(AGED).await;
    let before = store.attempts(key).await.unwrap();
    let [answer] = expired(&*store).await[..] else {
        panic!("one answer has been kept for a day")
    };
    assert_eq!((answer.report, answer.attempt), (key, before[0].number));
    assert_eq!(store.empty_answer(answer).await.unwrap(), Emptied::Done);

    let mut after = store.attempts(key).await.unwrap();
    let at = after[0].raw_emptied.take().unwrap();
    after[0].raw = Some(super::fixture::answer().raw);
    assert_eq!(after, before, "nothing else of the attempt changed");
    let bytes = "SELECT count(*) FROM attempt WHERE length(raw) > 0";
    assert_eq!(db.number(bytes).await, 0);
    assert_eq!(last(&*store, key).await, Some(LastAnswer::Emptied { at }));

    // Once, whoever does it.
    assert_eq!(expired(&*store).await, []);
    let contents = db.contents().await;
    assert_eq!(store.empty_answer(answer).await.unwrap(), Emptied::Left);
    assert_eq!(db.contents().await, contents);
    store.erase(key, "kim".to_owned()).await.unwrap();
    let erased = store.attempts(key).await.unwrap();
    assert_eq!((&erased[0].raw, erased[0].raw_emptied), (&None, None));
}

pub(crate) async fn an_answer_that_nobody_judged_is_kept(db: &impl Database) {
    let store = db.store();
    let key = ingest(&*store, 1).await;
    let lost = grant(&*store, 1).await.lease;
    store.store_raw(&lost, answer()).await.unwrap();
    db.age_leases().await;
    // Its attempt has ended, and the next one has it to judge.
    let lease = grant(&*store, 2).await.lease;
    db.execute(AGED).await;
    assert_eq!(expired(&*store).await, []);
    let attempt = store.attempts(key).await.unwrap()[0].number;
    let report = key;
    let unjudged = ExpiredAnswer { report, attempt };
    assert_eq!(store.empty_answer(unjudged).await.unwrap(), Emptied::Left);
    let Some(LastAnswer::Kept(kept)) = last(&*store, key).await else {
        panic!("it is kept")
    };
    assert_eq!((kept.attempt, kept.verdict), (attempt, None));

    let mut refused = rejection();
    refused.call = None;
    store.reject(lease, refused).await.unwrap();
    assert_eq!(expired(&*store).await, [unjudged]);
}

pub(crate) async fn each_pipeline_says_how_long(db: &impl Database) {
    let store = db.store();
    committed(&*store, 1).await;
    let mut other = report(2);
    other.pipeline = "triage".to_owned();
    store.ingest(other).await.unwrap();
    let mut triage = terms();
    triage.pipeline = "triage".to_owned();
    let lease = grant_on(&*store, 2, triage).await.lease;
    store.store_raw(&lease, answer()).await.unwrap();
    store.commit(lease, value()).await.unwrap();
    db.execute(AGED).await;
    let of = async |pipeline: &str, kept_for| {
        let keeping = Keeping {
            pipeline: pipeline.to_owned(),
            kept_for,
        };
        let page = store.expired_answers(keeping, None).await.unwrap();
        let reports = page.answers.into_iter().map(|answer| answer.report);
        reports.collect::<Vec<_>>()
    };
    assert_eq!(of("moderation", DAY).await, [key(1)]);
    assert_eq!(of("triage", DAY).await, [key(2)]);
    assert_eq!(of("triage", 2 * DAY).await, []);
    assert_eq!(of("triage", Duration::ZERO).await, [key(2)]);
    assert_eq!(of("another", Duration::ZERO).await, []);
}

pub(crate) async fn more_than_a_page_is_looked_up_in_order(db: &impl Database) {
    let store = db.store();
    let first = committed(&*store, 1).await;
    db.execute(AGED).await;
    // Attempts that differ in nothing but their number, which orders them.
    db.execute(
        "INSERT INTO attempt (report_key, number, job_id, charged, worker, token, pipeline, \
           classifier_version, schema_version, started_ms, ended_ms, outcome, raw, raw_call_key, \
           verdict) \
         SELECT report_key, n.number, job_id, charged, worker, token, pipeline, \
           classifier_version, schema_version, started_ms, ended_ms, outcome, raw, raw_call_key, \
           verdict \
           FROM attempt, (WITH RECURSIVE n(number) AS \
             (SELECT 2 UNION ALL SELECT number + 1 FROM n WHERE number < 250) \
             SELECT number FROM n) n",
    )
    .await;
    let found = expired(&*store).await;
    let numbers: Vec<_> = found.iter().map(|answer| answer.attempt.get()).collect();
    assert_eq!(numbers, (1..=250).collect::<Vec<_>>());
    assert!(found.iter().all(|answer| answer.report == first));
}

pub(crate) async fn a_row_that_can_not_be_understood_keeps_no_other_answer(db: &impl Database) {
    let store = db.store();
    for n in 1..=3 {
        committed(&*store, n).await;
    }
    db.execute(AGED).await;
    let first = db.bytes(key(1));
    db.execute(&format!(
        "UPDATE attempt SET number = 0 WHERE report_key = {first}"
    ))
    .await;
    let page = store.expired_answers(keeping(DAY), None).await.unwrap();
    assert_eq!((page.answers.len(), page.unreadable.len()), (2, 1));
    assert_eq!(page.unreadable[0].column, "number");
}

pub(crate) async fn the_last_answer_comes_with_the_verdict_on_it(db: &impl Database) {
    let store = db.store();
    let key = ingest(&*store, 1).await;
    assert_eq!(last(&*store, key).await, None);
    // One is refused; the next is stored by a worker that dies, and judged by another.
    let lease = grant(&*store, 1).await.lease;
    store.store_raw(&lease, answer()).await.unwrap();
    store.reject(lease, rejection()).await.unwrap();
    let lost = grant(&*store, 2).await.lease;
    let call_key = lost.call_key();
    let second = RawAnswer {
        raw: b"second".to_vec(),
        call: call(),
    };
    store.store_raw(&lost, second).await.unwrap();
    db.age_leases().await;
    let mut newer = terms();
    newer.schema_version = "moderation-v4".to_owned();
    let lease = grant_on(&*store, 3, newer).await.lease;
    let mut refused = rejection();
    refused.call = None;
    refused.outcome = AttemptOutcome::PolicyInvalid;
    refused.reason = Some("a rule".to_owned());
    refused.next = AfterRejection::Review(ReviewReason::AttemptsSpent.into());
    store.reject(lease, refused).await.unwrap();
    let attempts = store.attempts(key).await.unwrap();
    let expected = KeptAnswer {
        attempt: attempts[1].number,
        raw: b"second".to_vec(),
        call_key,
        input: report(1).input.unwrap().canonical,
        verdict: Some(PastVerdict {
            outcome: AttemptOutcome::PolicyInvalid,
            reason: Some("a rule".to_owned()),
            schema_version: "moderation-v4".to_owned(),
        }),
    };
    let found = last(&*store, key).await;
    assert_eq!(found, Some(LastAnswer::Kept(Box::new(expected))));
    let other = store.last_answer(key, "moderation-8".to_owned()).await;
    assert_eq!(other.unwrap(), None);
    store.erase(key, "kim".to_owned()).await.unwrap();
    assert_eq!(last(&*store, key).await, None);
}

pub(crate) async fn how_long_a_call_took_is_kept(db: &impl Database) {
    let store = db.store();
    let took = |ms| CallRecord {
        latency_ms: Some(ms),
        ..call()
    };
    let key = ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    let answered = RawAnswer {
        call: took(5_000_000_000),
        ..answer()
    };
    store.store_raw(&lease, answered).await.unwrap();
    db.age_leases().await;
    let grant = grant(&*store, 2).await;
    let stored = grant.stored.unwrap();
    assert_eq!(stored.answer.call, took(5_000_000_000));
    let mut committed = value();
    committed.call = None;
    store.commit(grant.lease, committed).await.unwrap();
    let attempts = store.attempts(key).await.unwrap();
    assert_eq!(attempts[0].call, Some(took(5_000_000_000)));
    // No call was made in this one.
    assert_eq!(attempts[1].call, None);
    // What an older program wrote has none.
    db.execute("UPDATE attempt SET latency_ms = NULL").await;
    let attempts = store.attempts(key).await.unwrap();
    assert_eq!(attempts[0].call.as_ref().unwrap().latency_ms, None);
}
