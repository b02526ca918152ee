//! Draws sequences of everything that is done to a store, plays each against a database and against
//! a reference that was written from the fences alone, and compares every answer and what is left
//! in the end.
//!
//! A sequence that shows a difference is made as short as can be and printed; its seed is kept in
//! `differential.regressions`, from where it is played first the next time. More sequences are
//! played with `PROPTEST_CASES=10000 cargo test -p fencepost --test differential`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a test that can't go on fails"
)]

#[path = "store/fixture.rs"]
#[expect(dead_code, reason = "what the suite of the store uses besides")]
mod fixture;
#[path = "store/postgres_fixture.rs"]
#[expect(dead_code, reason = "what the suite of the store uses besides")]
mod postgres_fixture;
#[path = "store/sqlite_fixture.rs"]
mod sqlite_fixture;

mod differential {
    pub(crate) mod command;
    pub(crate) mod engine;
    pub(crate) mod play;
    pub(crate) mod reference;
    pub(crate) mod tell;
}

use proptest::test_runner::{Config, FileFailurePersistence, TestError, TestRunner};

use crate::{
    differential::{command::commands, engine::Engine, play::play},
    postgres_fixture::Postgres,
    sqlite_fixture::Sqlite,
};

/// How many sequences are played, where `PROPTEST_CASES` does not say.
const CASES: u32 = 100;

/// How often a sequence is made shorter at most.
const SHRINK_MAX: u32 = 2_000;

const SEEDS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/differential.regressions"
);

fn agrees_with_the_reference<D: Engine>() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let db = runtime.block_on(D::new());
    let drawn = Config::default();
    let cases = std::env::var_os("PROPTEST_CASES").map_or(CASES, |_| drawn.cases);
    let mut runner = TestRunner::new(Config {
        cases,
        max_shrink_iters: SHRINK_MAX,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..drawn
    });
    let played = runner.run(&commands(), |commands| {
        runtime.block_on(play(&db, &commands))
    });
    match played {
        Ok(()) => {}
        Err(TestError::Abort(reason)) => panic!("{}: {reason}", D::NAME),
        Err(TestError::Fail(reason, commands)) => {
            let lines = commands.iter().enumerate();
            let lines: Vec<_> = lines.map(|(n, it)| format!("{n:>3} {it:?}")).collect();
            panic!(
                "{} differs from the reference.\n{reason}\nThe shortest sequence found:\n{}\n\
                 Its seed is in tests/differential.regressions, which is played first by\n\
                 cargo test -p fencepost --test differential",
                D::NAME,
                lines.join("\n")
            )
        }
    }
}

#[test]
fn sqlite_agrees_with_the_reference() {
    agrees_with_the_reference::<Sqlite>();
}

#[test]
fn postgres_agrees_with_the_reference() {
    agrees_with_the_reference::<Postgres>();
}
