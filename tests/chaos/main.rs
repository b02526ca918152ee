//! The backend is killed two hundred times under load and started again. Whatever was acknowledged
//! is there, is finished, and is finished once.
//!
//! When to kill is counted in acknowledgements and chosen by a seed, which is printed;
//! `FENCEPOST_SEED` repeats the choices. What the machine does in between nobody repeats.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it did"
)]

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use fencepost_tests::{Answer, Delivery, Random, Setup, Stack, Target};
use tokio::{sync::watch, task::JoinSet, time::timeout};

const KILLS: u64 = 200;
const SENDERS: u64 = 4;
/// The most acknowledgements between a start and the next kill.
const ACKNOWLEDGED_MAX: u64 = 24;

/// How long a sender waits for another backend before it delivers again anyway.
const COME_AGAIN: Duration = Duration::from_millis(100);

/// What all senders know.
#[derive(Debug, Default)]
struct Load {
    /// Counts up with each report that anybody sends.
    next: AtomicU64,
    acknowledged: Mutex<BTreeSet<String>>,
    refused: AtomicU64,
    duplicates: AtomicU64,
}

/// What the senders wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The backend of this number runs.
    Up(u64),
    /// That was all.
    Over,
}

/// A sender delivers new reports, sometimes an old one again, and after a refusal the same one as
/// soon as there is another backend: as senders do, until it is acknowledged.
async fn send(
    target: Target,
    load: Arc<Load>,
    mut random: Random,
    mut phase: watch::Receiver<Phase>,
    acks: watch::Sender<u64>,
) {
    loop {
        let again = random.below(5) == 0;
        let newest = load.next.load(Ordering::Relaxed);
        let number = match again && newest > 0 {
            true => random.below(newest),
            false => load.next.fetch_add(1, Ordering::Relaxed),
        };
        let delivery = report(number);
        loop {
            let seen = *phase.borrow_and_update();
            if seen == Phase::Over {
                return;
            }
            let answer = target.deliver(&delivery).await;
            if take(&load, &answer) {
                acks.send_modify(|acks| *acks += 1);
                break;
            }
            // The backend of `seen` is gone or about to be; or it was merely too busy.
            let next = phase.wait_for(|phase| *phase != seen);
            drop(timeout(COME_AGAIN, next).await);
        }
    }
}

/// The baseline is sure of every other one; the rest goes to a person.
fn report(number: u64) -> Delivery {
    let text = match number % 2 {
        0 => "I can reproduce this on the latest version. Stack trace attached.",
        _ => "LGTM",
    };
    Delivery::report("acme", &format!("r-{number}"), 1, text)
}

/// Whether it was acknowledged.
fn take(load: &Load, answer: &Answer) -> bool {
    if answer.status == 503 {
        load.refused.fetch_add(1, Ordering::Relaxed);
        return false;
    }
    if answer.status == 200 {
        load.duplicates.fetch_add(1, Ordering::Relaxed);
        assert!(answer.json().get("conflict").is_none(), "{answer:?}");
    }
    load.acknowledged.lock().unwrap().insert(answer.key());
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_kills_lose_nothing_and_repeat_nothing() {
    let mut random = Random::from_environment();
    // A killed worker's lease has to run out before another takes over.
    let setup = Setup {
        config: vec![
            ("lease_seconds = 60", "lease_seconds = 1"),
            ("call_timeout_seconds = 45", "call_timeout_seconds = 1"),
        ],
        ..Setup::default()
    };
    let mut stack = Stack::with(setup).await;
    let load = Arc::new(Load::default());
    let (phase, phases) = watch::channel(Phase::Up(0));
    let (acks, mut acknowledged) = watch::channel(0);
    let mut senders = JoinSet::new();
    for _ in 0..SENDERS {
        let load = Arc::clone(&load);
        let send = send(
            stack.target(),
            load,
            random.fork(),
            phases.clone(),
            acks.clone(),
        );
        senders.spawn(send);
    }

    let began = Instant::now();
    for kill in 1..=KILLS {
        // Zero: at once, in the midst of taking up what the one before it left.
        let wait_for = *acknowledged.borrow() + random.below(ACKNOWLEDGED_MAX + 1);
        acknowledged
            .wait_for(|acks| *acks >= wait_for)
            .await
            .unwrap();
        stack.kill9().await;
        stack.start_backend().await;
        phase.send_replace(Phase::Up(kill));
        if kill % 50 == 0 {
            println!("{kill} kills, {} acknowledged", *acknowledged.borrow());
        }
    }
    phase.send_replace(Phase::Over);
    while let Some(sender) = senders.join_next().await {
        sender.unwrap();
    }
    let (refused, duplicates) = (&load.refused, &load.duplicates);
    println!(
        "{KILLS} kills in {:.0?}: {} reports acknowledged, {} duplicates, {} refusals",
        began.elapsed(),
        load.acknowledged.lock().unwrap().len(),
        duplicates.load(Ordering::Relaxed),
        refused.load(Ordering::Relaxed),
    );
    assert!(
        refused.load(Ordering::Relaxed) > 0,
        "no kill hit a delivery: this proves nothing"
    );
    stack.settle().await;
    assert_all_there_and_finished_once(&stack, &load).await;
    stack.finish().await;
}

/// Beside what `Stack::finish` always checks.
async fn assert_all_there_and_finished_once(stack: &Stack, load: &Load) {
    let database = stack.db();
    let stored = database.keys("SELECT report_key FROM report").await;
    let stored: BTreeSet<_> = stored.into_iter().collect();
    let acknowledged = load.acknowledged.lock().unwrap().clone();
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    // What was stored and not acknowledged was delivered again, so it is one of them, too, unless
    // the end came first.
    let unknown = stored.difference(&acknowledged).count() as u64;
    assert!(
        unknown <= SENDERS,
        "{unknown} reports that nobody was told of"
    );

    let other = "SELECT count(*) FROM job WHERE NOT (state = 'ready_for_review'
                 OR (state = 'terminal' AND outcome = 'committed'))";
    assert_eq!(database.number(other).await, 0, "finished otherwise");
    let open = "SELECT count(*) FROM attempt WHERE outcome IS NULL";
    assert_eq!(database.number(open).await, 0, "attempts that nobody ended");
    let finals = "SELECT count(*) FROM result s WHERE (SELECT count(*) FROM outbox o
                  WHERE o.kind = 'result.final' AND o.result_key = s.result_key) <>
                  (SELECT count(*) FROM job j WHERE j.report_key = s.report_key
                   AND j.state = 'terminal')";
    assert_eq!(
        database.number(finals).await,
        0,
        "a result told of never or twice"
    );
    let without = "SELECT count(*) FROM review v WHERE v.reason = 'policy' AND NOT EXISTS
                   (SELECT 1 FROM result s WHERE s.report_key = v.report_key)";
    assert_eq!(database.number(without).await, 0, "a review of no result");
    let count = async |statement: &'static str| database.number(statement).await;
    let committed = count("SELECT count(*) FROM job WHERE state = 'terminal'").await;
    let policy = count("SELECT count(*) FROM review WHERE reason = 'policy'").await;
    let spent = count("SELECT count(*) FROM review WHERE reason = 'attempts_spent'").await;
    let cut_off = count("SELECT count(*) FROM attempt WHERE outcome = 'lease_lost'").await;
    println!(
        "{committed} committed, {policy} for a person by policy, {spent} with their attempts \
         spent; {cut_off} attempts were cut off by a kill"
    );
    // Kills have hit extraction and commits of both kinds, or this proves too little.
    assert!(committed > 0 && policy > 0 && cut_off > 0);
}
