//! Pauses: what is kept back, which claim probes, what begins and ends them, and whose time stands
//! still.

use std::{sync::Arc, time::Duration};

use fencepost::{
    report::{AttemptOutcome, ReviewReason},
    store::{
        AfterRejection, Charge, Claim, CredentialName, Grant, Pause, PauseReason, Paused,
        PipelineTerms, Rejected, Rejection, Resumed, Store, Subject,
    },
};
use fencepost_identity::key::ReportKey;

use super::fixture::{
    Database, answer, call, grant, grant_on, idle, ingest, key, rejection, release, report,
    request, terms, terms_with_attempts, value,
};

const MINUTE: Duration = Duration::from_secs(60);

fn credential() -> Subject {
    Subject::Credential(CredentialName::new("OPENAI_API_KEY"))
}

fn pipeline() -> Subject {
    Subject::Pipeline("moderation".to_owned())
}

/// Another pipeline, with the same credential.
fn neighbour() -> PipelineTerms {
    PipelineTerms {
        pipeline: "neighbour".to_owned(),
        ..terms()
    }
}

async fn ingest_for(store: &dyn Store, n: u32, pipeline: &str) {
    let mut report = report(n);
    report.pipeline = pipeline.to_owned();
    store.ingest(report).await.unwrap();
}

/// How long a claim on these terms is told to wait.
async fn wait(store: &dyn Store, terms: PipelineTerms) -> Option<Duration> {
    match store.claim(request(99, terms)).await.unwrap() {
        Claim::Idle { wait } => wait,
        other => panic!("{other:?}"),
    }
}

/// The provider refuses the credential, and the lease is given back.
async fn refuse(store: &dyn Store, grant: Grant) {
    let refused = release(AttemptOutcome::Auth, Charge::GiveBack);
    store.release(grant.lease, refused).await.unwrap();
}

/// The provider does not take the question, and a person is asked.
async fn fail(store: &dyn Store, grant: Grant, outcome: AttemptOutcome) {
    let rejection = Rejection {
        outcome,
        reason: None,
        call: Some(call()),
        next: AfterRejection::Review(ReviewReason::InvalidRequest.into()),
    };
    let rejected = store.reject(grant.lease, rejection).await.unwrap();
    assert!(
        matches!(rejected, Rejected::SentToReview(_)),
        "{rejected:?}"
    );
}

async fn probe_is_due(db: &impl Database) {
    db.execute("UPDATE pause SET probe_ms = 1 WHERE probe_ms IS NOT NULL")
        .await;
}

/// The one pause that there is.
async fn only(store: &dyn Store) -> Pause {
    let mut pauses = store.pauses().await.unwrap();
    assert_eq!(pauses.len(), 1, "{pauses:?}");
    assert_eq!(store.stats().await.unwrap().pauses, pauses);
    pauses.remove(0)
}

pub(crate) async fn a_refused_credential_keeps_its_jobs_back(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    ingest_for(&*store, 2, "neighbour").await;
    ingest_for(&*store, 3, "elsewhere").await;
    let first = grant(&*store, 1).await;
    refuse(&*store, first).await;

    let pause = only(&*store).await;
    assert_eq!(
        (pause.subject, pause.reason, pause.probes),
        (credential(), PauseReason::Auth, 0)
    );
    assert_eq!(pause.probe, Some(pause.since.plus(MINUTE)));
    assert_eq!(store.stats().await.unwrap().paused, 1);
    let attempts = store.attempts(key(1)).await.unwrap();
    assert_eq!(attempts[0].outcome, Some(AttemptOutcome::Auth));
    assert!(!attempts[0].charged);
    // All that present it wait for the probe, and are told for how long.
    for terms in [terms(), neighbour()] {
        let wait = wait(&*store, terms).await.unwrap();
        assert!(wait <= MINUTE && wait > MINUTE / 2, "{wait:?}");
    }
    let elsewhere = PipelineTerms {
        pipeline: "elsewhere".to_owned(),
        credential: CredentialName::new("extractor local"),
        ..terms()
    };
    let granted = grant_on(&*store, 2, elsewhere).await;
    assert_eq!(granted.lease.report(), key(3));
}

pub(crate) async fn one_of_twenty_claims_is_the_probe(db: &impl Database) {
    let stores = [db.store(), db.another_store().await];
    for n in 1..=6 {
        ingest(&*stores[0], n).await;
    }
    refuse(&*stores[0], grant(&*stores[0], 1).await).await;
    probe_is_due(db).await;
    let claims: Vec<_> = (0..20_u8)
        .map(|n| {
            let store = Arc::clone(&stores[usize::from(n % 2)]);
            tokio::spawn(async move { store.claim(request(n, terms())).await.unwrap() })
        })
        .collect();
    let mut probes = 0;
    for claim in claims {
        match claim.await.unwrap() {
            Claim::Granted(_) => probes += 1,
            Claim::Idle { wait } => assert!(wait.is_none_or(|wait| wait <= MINUTE * 2)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(probes, 1);
    let pause = only(&*stores[0]).await;
    assert_eq!(pause.probes, 1);
    assert!(pause.probe.unwrap() > pause.since.plus(MINUTE), "{pause:?}");
}

pub(crate) async fn an_answered_probe_ends_the_pause(db: &impl Database) {
    let store = db.store();
    for n in 1..=3 {
        ingest(&*store, n).await;
    }
    // An answer is an answer, even one that is not valid.
    for valid in [true, false] {
        refuse(&*store, grant(&*store, 1).await).await;
        assert!(wait(&*store, terms()).await.is_some());
        probe_is_due(db).await;
        let probe = grant(&*store, 2).await;
        assert!(wait(&*store, terms()).await.is_some());
        if valid {
            store.commit(probe.lease, value()).await.unwrap();
        } else {
            store.reject(probe.lease, rejection()).await.unwrap();
        }
        assert_eq!(store.pauses().await.unwrap(), []);
    }
    assert_eq!(store.stats().await.unwrap().paused, 0);
    let ended = "SELECT count(*) FROM pause WHERE ended_by = 'probe' AND ended_ms >= since_ms";
    assert_eq!(db.number(ended).await, 2);
    grant(&*store, 3).await;
}

pub(crate) async fn a_refused_probe_goes_on_with_the_pause(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    ingest(&*store, 2).await;
    refuse(&*store, grant(&*store, 1).await).await;
    let since = only(&*store).await.since;
    let mut probed = Vec::new();
    for minutes in [2, 4] {
        probe_is_due(db).await;
        let probe = grant(&*store, 2).await;
        probed.push(probe.lease.report());
        refuse(&*store, probe).await;
        assert_eq!(only(&*store).await.since, since);
        let wait = wait(&*store, terms()).await.unwrap();
        let longest = MINUTE * minutes;
        assert!(wait <= longest && wait > longest / 2, "{wait:?}");
    }
    assert_eq!(only(&*store).await.probes, 2);
    // Not the same job each time.
    assert_eq!(probed, [2, 1].map(key));
}

pub(crate) async fn a_probe_that_asks_nobody_is_still_to_be_made(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    ingest(&*store, 2).await;
    ingest(&*store, 3).await;
    // One has an answer that was never judged, one has spent its attempts.
    let stored = grant(&*store, 1).await;
    store.store_raw(&stored.lease, answer()).await.unwrap();
    db.age_leases().await;
    let spent = format!("report_key = {}", db.bytes(key(2)));
    let set = format!("UPDATE job SET charged = 3, due_ms = 0 WHERE {spent}");
    db.execute(&set).await;
    store.pause(credential(), "test".to_owned()).await.unwrap();
    db.execute("UPDATE pause SET reason = 'auth', probe_ms = 1")
        .await;
    let claim = store.claim(request(2, terms())).await.unwrap();
    let again = grant(&*store, 3).await;
    assert!(again.stored.is_some());
    assert!(matches!(claim, Claim::Exhausted(_)), "{claim:?}");
    // Nobody was asked for either, so neither told anything.
    let pause = only(&*store).await;
    assert_eq!((pause.probes, pause.probe.unwrap().get()), (0, 1));
    let judged = fencepost::store::Commitment {
        call: None,
        ..value()
    };
    store.commit(again.lease, judged).await.unwrap();
    assert_eq!(only(&*store).await.probes, 0);
    assert_eq!(grant(&*store, 4).await.lease.report(), key(3));
    assert_eq!(only(&*store).await.probes, 1);
}

pub(crate) async fn an_answer_from_before_a_pause_does_not_end_it(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    ingest(&*store, 2).await;
    let first = grant(&*store, 1).await;
    let second = grant(&*store, 2).await;
    db.execute("UPDATE attempt SET started_ms = started_ms - 1000")
        .await;
    refuse(&*store, first).await;
    store.commit(second.lease, value()).await.unwrap();
    assert_eq!(only(&*store).await.reason, PauseReason::Auth);
}

pub(crate) async fn a_quota_is_waited_for_as_long_as_the_provider_says(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    for minutes in [30, 50] {
        let mut used_up = release(AttemptOutcome::Quota, Charge::GiveBack);
        used_up.after = MINUTE * minutes;
        let lease = grant(&*store, 1).await.lease;
        store.release(lease, used_up).await.unwrap();
        let pause = only(&*store).await;
        assert_eq!(pause.reason, PauseReason::Quota);
        let wait = wait(&*store, terms()).await.unwrap();
        let longest = MINUTE * minutes;
        assert!(wait <= longest && wait > longest - MINUTE, "{wait:?}");
        probe_is_due(db).await;
        db.make_due().await;
    }
    assert_eq!(db.rows("pause").await, 1);
}

/// A job that began `hours` ago on each of two databases' clocks, and what was paused since.
async fn began_hours_ago(db: &impl Database, n: u32, hours: i64) -> ReportKey {
    let key = ingest(&*db.store(), n).await;
    db.execute(&format!(
        "UPDATE job SET elapsed_from_ms = created_ms - {hours} * 3600000
          WHERE report_key = {}",
        db.bytes(key)
    ))
    .await;
    key
}

pub(crate) async fn the_clock_of_a_job_stands_still(db: &impl Database) {
    let store = db.store();
    // A job may take 24 hours. This one began 26 hours ago.
    let over = began_hours_ago(db, 1, 26).await;
    let paused = async |subject: Subject, from: f64, to: f64| {
        // In hours since the job began.
        db.execute(&format!(
            "INSERT INTO pause (subject, reason, since_ms, ended_ms, ended_by)
             SELECT '{subject}', 'auth', elapsed_from_ms + {:.0}, elapsed_from_ms + {:.0}, 'test'
               FROM job ORDER BY job_id LIMIT 1",
            from * 3_600_000.0,
            to * 3_600_000.0
        ))
        .await;
    };
    // An hour and a half in all, though either lasted more than an hour.
    paused(credential(), 1.0, 2.2).await;
    paused(pipeline(), 1.2, 2.5).await;
    paused(Subject::Pipeline("neighbour".to_owned()), 3.0, 9.0).await;
    let claim = store.claim(request(1, terms())).await.unwrap();
    assert!(
        matches!(claim, Claim::Elapsed(report) if report == over),
        "{claim:?}"
    );
    // Another hour, half of it before the next job began: 25 hours and 1.5 of 24.
    let within = began_hours_ago(db, 2, 25).await;
    assert_eq!(grant(&*store, 1).await.lease.report(), within);
    // A pause that goes on counts as well.
    let probed = began_hours_ago(db, 3, 30).await;
    store.pause(pipeline(), "test".to_owned()).await.unwrap();
    db.execute(
        "UPDATE pause SET since_ms = since_ms - 6 * 3600000, reason = 'invalid_request',
                          probe_ms = 1
          WHERE ended_ms IS NULL",
    )
    .await;
    assert_eq!(grant(&*store, 1).await.lease.report(), probed);
}

pub(crate) async fn three_reports_in_a_row_pause_their_pipeline(db: &impl Database) {
    let store = db.store();
    for n in 1..=5 {
        ingest(&*store, n).await;
    }
    let too_long = AttemptOutcome::ContextTooLong;
    let invalid = AttemptOutcome::InvalidRequest;
    // Of different kinds, they are not in a row.
    for outcome in [too_long, invalid, invalid] {
        fail(&*store, grant(&*store, 1).await, outcome).await;
        assert_eq!(store.pauses().await.unwrap(), []);
    }
    // The same report again, as when a person asked for it, is not another one.
    db.execute("UPDATE job SET state = 'accepted' WHERE state = 'ready_for_review'")
        .await;
    db.execute(&format!(
        "UPDATE job SET due_ms = 1 WHERE report_key = {}",
        db.bytes(key(3))
    ))
    .await;
    let same = grant(&*store, 1).await;
    assert_eq!(same.lease.report(), key(3));
    fail(&*store, same, invalid).await;
    assert_eq!(store.pauses().await.unwrap(), []);
    db.execute("UPDATE job SET state = 'terminal', outcome = 'dismissed' WHERE charged > 0")
        .await;

    fail(&*store, grant(&*store, 1).await, invalid).await;
    let pause = only(&*store).await;
    assert_eq!(
        (pause.subject, pause.reason),
        (pipeline(), PauseReason::InvalidRequest)
    );
    assert_eq!(db.rows("strike").await, 0);
    // Its neighbour is another matter.
    ingest_for(&*store, 6, "neighbour").await;
    grant_on(&*store, 2, neighbour()).await;
    assert!(wait(&*store, terms()).await.unwrap() <= MINUTE);
    // A probe that fails the same way goes on with it.
    probe_is_due(db).await;
    fail(&*store, grant(&*store, 3).await, invalid).await;
    assert_eq!(only(&*store).await.probes, 1);
    assert_eq!(db.rows("strike").await, 0);
}

pub(crate) async fn what_was_not_asked_is_not_counted(db: &impl Database) {
    let store = db.store();
    for n in 1..=4 {
        ingest(&*store, n).await;
        let too_long = Rejection {
            outcome: AttemptOutcome::ContextTooLong,
            reason: None,
            call: None,
            next: AfterRejection::Review(ReviewReason::ContextTooLong.into()),
        };
        let granted = grant(&*store, 1).await;
        store.reject(granted.lease, too_long).await.unwrap();
    }
    assert_eq!(store.pauses().await.unwrap(), []);
    assert_eq!(db.rows("strike").await, 0);
}

pub(crate) async fn an_answer_in_between_starts_the_count_again(db: &impl Database) {
    let store = db.store();
    for n in 1..=6 {
        ingest(&*store, n).await;
    }
    let invalid = AttemptOutcome::InvalidRequest;
    for _ in 0..2 {
        fail(&*store, grant(&*store, 1).await, invalid).await;
    }
    assert_eq!(db.number("SELECT count FROM strike").await, 2);
    store
        .commit(grant(&*store, 1).await.lease, value())
        .await
        .unwrap();
    assert_eq!(db.rows("strike").await, 0);
    for _ in 0..2 {
        fail(&*store, grant(&*store, 1).await, invalid).await;
    }
    assert_eq!(store.pauses().await.unwrap(), []);
    fail(&*store, grant(&*store, 1).await, invalid).await;
    assert_eq!(only(&*store).await.subject, pipeline());
}

pub(crate) async fn only_a_person_ends_a_persons_pause(db: &impl Database) {
    let store = db.store();
    for n in 1..=3 {
        ingest(&*store, n).await;
    }
    let [first, second] = [grant(&*store, 1).await, grant(&*store, 2).await];
    let who = || "ann".to_owned();
    let paused = store.pause(credential(), who()).await.unwrap();
    assert_eq!(paused, Paused::Begun);
    let again = store.pause(credential(), who()).await.unwrap();
    assert_eq!(again, Paused::Already);
    let pause = only(&*store).await;
    assert_eq!((pause.reason, pause.probe), (PauseReason::Operator, None));
    // Nothing is waited for, and neither an answer nor a refusal changes anything.
    assert_eq!(wait(&*store, terms()).await, None);
    db.execute("UPDATE attempt SET started_ms = started_ms + 1000")
        .await;
    store.commit(first.lease, value()).await.unwrap();
    refuse(&*store, second).await;
    assert_eq!(only(&*store).await, pause);
    idle(&*store, 3).await;

    let resumed = store.resume(credential(), who()).await.unwrap();
    assert_eq!(resumed, Resumed::Ended(pause));
    let again = store.resume(credential(), who()).await.unwrap();
    assert_eq!(again, Resumed::NotPaused);
    grant(&*store, 4).await;
    let audited = "SELECT count(*) FROM audit
                    WHERE actor = 'ann' AND subject = 'credential OPENAI_API_KEY'
                      AND action IN ('pause', 'resume')";
    assert_eq!(db.number(audited).await, 2);
    let ended = "SELECT count(*) FROM pause WHERE ended_by = 'ann'";
    assert_eq!(db.number(ended).await, 1);
}

pub(crate) async fn a_person_takes_a_pause_over(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    refuse(&*store, grant(&*store, 1).await).await;
    let begun = only(&*store).await;
    let paused = store.pause(credential(), "ann".to_owned()).await.unwrap();
    let from = PauseReason::Auth;
    assert_eq!(paused, Paused::TakenOver { from });
    let pause = only(&*store).await;
    assert_eq!((pause.since, pause.probe), (begun.since, None));
    assert_eq!(pause.reason, PauseReason::Operator);
    assert_eq!(wait(&*store, terms()).await, None);
    // Whoever began it, a person can end it.
    store.resume(credential(), "ann".to_owned()).await.unwrap();
    refuse(&*store, grant_on(&*store, 2, terms_with_attempts(9)).await).await;
    let resumed = store.resume(credential(), "ann".to_owned()).await.unwrap();
    assert!(
        matches!(&resumed, Resumed::Ended(pause) if pause.reason == PauseReason::Auth),
        "{resumed:?}"
    );
}

pub(crate) async fn a_pause_that_cannot_be_understood_keeps_nothing_back(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    store.pause(credential(), "ann".to_owned()).await.unwrap();
    db.execute("UPDATE pause SET subject = 'nobody knows'")
        .await;
    grant(&*store, 1).await;
    let stats = store.stats().await.unwrap();
    assert_eq!((stats.paused, stats.pauses), (1, Vec::new()));
}
