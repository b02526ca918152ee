//! How much an extractor is asked, and that nobody else waits for that.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use fencepost::{
    extractor::{Call, Draft, ExtractError, Extractor, Failure, Question},
    report::{AttemptOutcome, Outcome, State},
    store::StoreError,
    worker::{Limiter, Limits, Pace, Pipeline, Step, Worker, run},
};
use serde_json::{Value, json};
use tokio::sync::Barrier;

use crate::{
    extractor::{Scripted, call},
    rig::{BEAT, Charged, GOOD, Rig, one_step},
    store::Failing,
    timer::within,
};

const COMMITTED: State = State::Terminal(Outcome::Committed);

fn at_once(calls: u32) -> Limits {
    Limits {
        concurrency: NonZeroU32::new(calls),
        ..Limits::default()
    }
}

fn per_minute(calls: u32) -> Limits {
    Limits {
        requests_per_minute: NonZeroU32::new(calls),
        ..Limits::default()
    }
}

fn pace(concurrency: usize) -> Pace {
    Pace {
        concurrency: NonZeroUsize::new(concurrency).unwrap(),
        poll: Duration::from_secs(1),
    }
}

async fn limited(limits: Limits) -> Rig {
    let mut rig = Rig::new().await;
    rig.pipeline.limiter = Limiter::new(limits, Arc::clone(&rig.wake));
    rig
}

async fn is_at_limits(worker: &Worker) -> bool {
    one_step(worker).await.unwrap() == Step::AtLimits
}

/// Answers once so many ask at once as should, after a while in which more would have time to ask,
/// and counts who did.
struct Counting {
    expected: Barrier,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

impl Counting {
    fn new(expected: usize) -> Self {
        Self {
            expected: Barrier::new(expected),
            under_way: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }
}

#[async_trait]
impl Extractor for Counting {
    fn fingerprint(&self) -> Value {
        json!("counting")
    }

    fn addressee(&self) -> Call {
        call()
    }

    async fn extract(&self, _: &Question<'_>) -> Result<Draft, ExtractError> {
        let under_way = 1 + self.under_way.fetch_add(1, Ordering::SeqCst);
        self.most.fetch_max(under_way, Ordering::SeqCst);
        self.expected.wait().await;
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        let text = GOOD.to_owned();
        Ok(Draft { text, call: call() })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_loops_ask_no_more_at_once_than_the_limit() {
    for (limits, most) in [(at_once(1), 1), (at_once(3), 3), (Limits::default(), 8)] {
        let mut rig = limited(limits).await;
        let counting = Arc::new(Counting::new(most));
        rig.pipeline.extractor = Arc::clone(&counting) as _;
        let mut keys = Vec::new();
        for n in 0..24 {
            keys.push(rig.ingest(&n.to_string()).await);
        }
        let running = tokio::spawn(run(Arc::new(rig.worker().await), pace(8)));
        // Who finds nothing to do any more begins to wait.
        rig.timer.begun(Duration::from_secs(1)).await;
        rig.stop.drain();
        within(running).await.unwrap();
        for key in keys {
            assert_eq!(rig.state(key).await, COMMITTED);
        }
        assert_eq!(counting.most.load(Ordering::SeqCst), most, "{limits:?}");
    }
}

/// What is claimed has its permit: nothing is charged, leased or put off for a limit.
#[tokio::test]
async fn a_report_whose_extractor_has_no_room_is_left_as_it_is() {
    let mut rig = limited(at_once(1)).await;
    let worker = rig.worker().await;
    let keys = [rig.ingest("1").await, rig.ingest("2").await];
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        assert!(is_at_limits(&worker).await);
        asked.answer(GOOD);
    });
    assert_eq!(step.unwrap(), Step::Committed(keys[0]));
    assert_eq!(rig.state(keys[1]).await, State::Accepted);
    assert!(rig.attempts(keys[1]).await.is_empty());
    let (step, _) = rig.answered(&worker, GOOD).await;
    assert_eq!(step, Step::Committed(keys[1]));
}

#[tokio::test]
async fn room_is_made_however_a_call_ends() {
    let mut rig = limited(at_once(1)).await;
    let worker = Arc::new(rig.worker().await);
    rig.ingest("1").await;
    rig.answered(&worker, GOOD).await;
    rig.ingest("2").await;
    rig.step(&worker, |asked| asked.fail(Failure::Timeout))
        .await;
    rig.waits_are_over().await;
    rig.answered(&worker, "no JSON").await;
    rig.answered(&worker, GOOD).await;

    rig.ingest("3").await;
    let lost = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { one_step(&worker).await.unwrap() }
    });
    let asked = rig.asked().await;
    rig.leases_run_out().await;
    // Another process has limits of its own.
    let elsewhere = Pipeline {
        limiter: Limiter::new(at_once(1), Arc::clone(&rig.wake)),
        ..rig.pipeline.clone()
    };
    let other = rig.worker_with([elsewhere]).await;
    rig.answered(&other, GOOD).await;
    rig.timer.end(BEAT).await;
    asked.given_up().await;
    let lost = within(lost).await.unwrap();
    assert!(matches!(lost, Step::Superseded { .. }), "{lost:?}");

    rig.ingest("4").await;
    let broken = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { worker.step().await }
    });
    rig.asked().await.panic();
    assert!(within(broken).await.unwrap_err().is_panic());

    let key = rig.ingest("5").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        rig.stop.halt();
        asked.given_up().await;
    });
    assert!(matches!(step.unwrap(), Step::Rescheduled { .. }));
    assert!(!is_at_limits(&worker).await);
    assert_eq!(
        rig.outcomes(key).await[0],
        (Some(AttemptOutcome::Released), Charged::Yes)
    );
}

#[tokio::test]
async fn a_minute_has_so_many_calls_in_even_steps_after_the_first_two() {
    let mut rig = limited(per_minute(120)).await;
    let worker = rig.worker().await;
    for id in ["1", "2", "3", "4"] {
        rig.ingest(id).await;
    }
    rig.answered(&worker, GOOD).await;
    rig.answered(&worker, GOOD).await;
    for _ in 0..2 {
        assert!(is_at_limits(&worker).await);
        rig.timer.pass(Duration::from_millis(499));
        assert!(is_at_limits(&worker).await);
        rig.timer.pass(Duration::from_millis(1));
        rig.answered(&worker, GOOD).await;
    }
}

#[tokio::test]
async fn who_asks_nobody_uses_up_nothing() {
    let mut rig = limited(per_minute(1)).await;
    let worker = rig.worker().await;
    let idle = Step::Idle { wait: None };
    assert_eq!(one_step(&worker).await.unwrap(), idle);
    // Longer than a model is shown: a person is asked instead.
    let long = rig.ingest_text("1", &"x".repeat(100_001)).await;
    let step = one_step(&worker).await.unwrap();
    assert_eq!(step, Step::SentToReview(long));
    rig.ingest("2").await;
    rig.answered(&worker, GOOD).await;
    assert!(is_at_limits(&worker).await);
}

#[tokio::test]
async fn a_stored_answer_is_judged_without_a_call_of_the_rate() {
    let mut rig = limited(per_minute(1)).await;
    let failing = Failing::at_commit(Arc::clone(&rig.store), [StoreError::Damaged]);
    let worker = rig.worker_on(Arc::new(failing)).await;
    let key = rig.ingest("1").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        rig.asked().await.answer(GOOD);
    });
    assert!(step.is_err(), "{step:?}");
    rig.leases_run_out().await;
    rig.timer.pass(Duration::from_secs(60));
    assert_eq!(one_step(&worker).await.unwrap(), Step::Committed(key));
    rig.no_call();
    rig.ingest("2").await;
    rig.answered(&worker, GOOD).await;
}

#[tokio::test]
async fn a_loop_is_woken_when_the_rate_allows_the_next_call() {
    let mut rig = limited(per_minute(30)).await;
    let first = rig.ingest("1").await;
    let second = rig.ingest("2").await;
    let running = tokio::spawn(run(Arc::new(rig.worker().await), pace(4)));
    rig.asked().await.answer(GOOD);
    let step = Duration::from_secs(2);
    rig.timer.begun(step).await;
    rig.no_call();
    // No other wait ends in this test: nobody looks again by themselves.
    rig.timer.pass(step);
    rig.timer.end(step).await;
    rig.asked().await.answer(GOOD);
    rig.stop.drain();
    within(running).await.unwrap();
    assert_eq!(rig.state(first).await, COMMITTED);
    assert_eq!(rig.state(second).await, COMMITTED);
}

#[tokio::test]
async fn what_one_extractor_has_no_room_for_holds_no_other_up() {
    let mut rig = limited(at_once(1)).await;
    let (extractor, mut other_calls) = Scripted::new();
    let mut other = rig.pipeline.clone();
    other.versions.pipeline = "triage".to_owned();
    other.extractor = Arc::new(extractor);
    other.limiter = Limiter::new(Limits::default(), Arc::clone(&rig.wake));
    let pipelines = [rig.pipeline.clone(), other];
    let worker = Arc::new(rig.worker_with(pipelines).await);
    for id in ["1", "2", "3", "4"] {
        rig.ingest(id).await;
    }
    let running = tokio::spawn(run(worker, pace(2)));
    // One loop waits for the slow one; the other one must not take a second job of it.
    let slow = rig.asked().await;
    let mut keys = Vec::new();
    for id in ["5", "6", "7"] {
        keys.push(rig.ingest_for("triage", id).await);
        rig.wake.notify_one();
        within(other_calls.recv()).await.unwrap().answer(GOOD);
    }
    rig.no_call();
    rig.stop.drain();
    slow.answer(GOOD);
    within(running).await.unwrap();
    for key in keys {
        assert_eq!(rig.state(key).await, COMMITTED);
    }
}

#[tokio::test]
async fn pipelines_that_ask_one_extractor_share_its_limits() {
    let mut rig = limited(at_once(1)).await;
    let mut other = rig.pipeline.clone();
    other.versions.pipeline = "triage".to_owned();
    let worker = rig.worker_with([rig.pipeline.clone(), other]).await;
    rig.ingest("1").await;
    rig.ingest_for("triage", "2").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        let asked = rig.asked().await;
        assert!(is_at_limits(&worker).await);
        asked.answer(GOOD);
    });
    assert!(matches!(step.unwrap(), Step::Committed(_)));
    rig.answered(&worker, GOOD).await;
}

#[tokio::test]
async fn a_probe_is_a_call_of_the_rate_like_any_other() {
    let mut rig = limited(per_minute(1)).await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    rig.step(&worker, |asked| asked.fail(Failure::Auth)).await;
    rig.probes_are_due().await;
    assert!(is_at_limits(&worker).await);
    rig.timer.pass(Duration::from_secs(60));
    let (step, _) = rig.answered(&worker, GOOD).await;
    assert_eq!(step, Step::Committed(key));
    assert!(is_at_limits(&worker).await);
}
