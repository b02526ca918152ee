//! Processes are killed and suspended under load, and the database is restarted. Whatever was
//! acknowledged is there, is finished, and is finished once.
//!
//! One process takes reports in and works, others only work; a model answers well, badly, late or
//! not at all. What is done when is counted in acknowledgements and chosen by a seed, which is
//! printed; `FENCEPOST_SEED` repeats the choices. What the machine does in between nobody repeats.
//!
//! A round has a fixed number of blows. With `FENCEPOST_CHAOS_MINUTES` one follows the other until
//! the time is over, each with a seed of its own; `cargo xtask chaos` runs it so.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it did"
)]

mod deck;
mod load;
mod model;
mod proof;
mod scene;
mod tally;

use std::time::{Duration, Instant};

use fencepost_cluster::{Cluster, Durability};
use fencepost_history::Finished;
use fencepost_tests::{DatabaseKind, Random};
use tokio::time::timeout;

use load::Load;
use scene::Scene;
use tally::Tally;

/// How long to go on; one round where it is missing.
const MINUTES: &str = "FENCEPOST_CHAOS_MINUTES";
/// How many reports' stories are told when something is wrong with more.
const STORIES: usize = 5;
/// After how many blows a line says how far it is.
const REMINDER: usize = 50;
/// Far longer than what is left takes to be finished; less than what a test waits at most.
const SETTLING: Duration = Duration::from_secs(100);

/// How long a run goes on.
#[derive(Clone, Copy, Debug)]
enum Span {
    OneRound,
    Until(Instant),
}

impl Span {
    fn from_environment() -> Self {
        let Ok(minutes) = std::env::var(MINUTES) else {
            return Self::OneRound;
        };
        let minutes: f64 = minutes.parse().unwrap();
        Self::Until(Instant::now() + Duration::from_secs_f64(60.0 * minutes))
    }

    fn is_over(self) -> bool {
        matches!(self, Self::Until(end) if Instant::now() >= end)
    }
}

async fn run(kind: DatabaseKind) {
    let mut seed = Random::seed_from_environment();
    let span = Span::from_environment();
    let mut cluster = match kind {
        DatabaseKind::Sqlite => None,
        DatabaseKind::Postgres => Some(Cluster::start(Durability::Full).unwrap()),
    };
    let began = Instant::now();
    let mut all = Tally::default();
    loop {
        println!("{kind:?}: a round, which FENCEPOST_SEED={seed} repeats");
        let tally = round(kind, seed, cluster.as_mut(), span).await;
        all.add(&tally);
        match span {
            Span::Until(_) if !span.is_over() => seed = Random::new(seed).seed(),
            Span::Until(_) | Span::OneRound => break,
        }
    }
    println!("{kind:?}, in all {:.0?}:\n{all}", began.elapsed());
}

async fn round(kind: DatabaseKind, seed: u64, cluster: Option<&mut Cluster>, span: Span) -> Tally {
    let mut random = Random::new(seed);
    let cards = deck::deal(kind, &mut random);
    let mut scene = Scene::start(random.seed(), cluster).await;
    let mut load = Load::start(&scene.stack.target(), &mut random);
    let mut is_whole = true;
    for (number, card) in cards.into_iter().enumerate() {
        if number > 0 && number % REMINDER == 0 {
            println!("{number} blows, {} acknowledged", load.count());
        }
        if span.is_over() {
            is_whole = false;
            break;
        }
        load.acknowledged(card.after).await;
        scene.strike(card.blow).await;
        load.recovered();
    }
    let sent = load.end().await;
    scene.tally.sent(&sent);
    scene.calm();
    // Who is not finished is in the verdict.
    drop(timeout(SETTLING, scene.stack.settle()).await);
    let (history, verdict) = scene.stack.judge(Finished::Expected).await;
    scene.tally.judged(&verdict.counts);
    println!("{}", scene.tally);
    assert!(
        verdict.is_sound(),
        "FENCEPOST_SEED={seed}: {}",
        verdict.explain(&history, STORIES)
    );
    println!("{verdict}");
    proof::assert_all_there_and_finished(&scene.stack, &sent).await;
    if is_whole {
        proof::assert_proves_enough(&scene.stack, &sent).await;
    }
    let Scene { stack, tally, .. } = scene;
    stack.finish().await;
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn blows_lose_nothing_and_repeat_nothing_on_a_file() {
    run(DatabaseKind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn blows_lose_nothing_and_repeat_nothing_on_a_server() {
    run(DatabaseKind::Postgres).await;
}
