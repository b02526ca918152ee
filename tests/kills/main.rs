//! The real program is killed at each point where something is to last, the first and the third
//! time that it passes it, on either database. It is started again, what was not acknowledged is
//! delivered again, and when all is finished the history is judged.
//!
//! A point is in `backend/src/failpoint.rs` and here, or a test fails; so does one that is never
//! reached, because the program doesn't die.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says at which point"
)]

mod cell;
mod deed;
mod model;
mod shipped;

use cell::{Scene, run};
use deed::Deed;
use fencepost_tests::DatabaseKind;
use model::Manner;

const FIRST_AND_THIRD: &[u64] = &[1, 3];

/// One test per point and kind of database: before and after, at each of these times.
macro_rules! matrix {
    ($($name:ident: $what:literal, $scene:expr, $times:expr;)+) => {
        /// What has points.
        const COVERED: &[&str] = &[$($what),+];

        mod on_a_file {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                run(DatabaseKind::Sqlite, $what, $scene, $times).await;
            })+
        }

        mod on_a_server {
            use super::*;
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                run(DatabaseKind::Postgres, $what, $scene, $times).await;
            })+
        }
    };
}

matrix! {
    ingest: "ingest", Scene::Reports(Manner::Sure), FIRST_AND_THIRD;
    claim: "claim", Scene::Reports(Manner::Sure), FIRST_AND_THIRD;
    takeover: "takeover", Scene::Abandoned, FIRST_AND_THIRD;
    fetch: "fetch", Scene::Referred, FIRST_AND_THIRD;
    input: "input", Scene::Referred, FIRST_AND_THIRD;
    call: "call", Scene::Reports(Manner::Sure), FIRST_AND_THIRD;
    heartbeat: "heartbeat", Scene::Reports(Manner::Slow), FIRST_AND_THIRD;
    raw: "raw", Scene::Reports(Manner::Sure), FIRST_AND_THIRD;
    judged: "judged", Scene::Reports(Manner::Sure), FIRST_AND_THIRD;
    commit: "commit", Scene::Reports(Manner::Sure), FIRST_AND_THIRD;
    reject: "reject", Scene::Reports(Manner::Garbled), FIRST_AND_THIRD;
    release: "release", Scene::Reports(Manner::Limited), FIRST_AND_THIRD;
    review: "review", Scene::Reports(Manner::Unsure), FIRST_AND_THIRD;
    decision: "decision", Scene::Deed(Deed::Decide), FIRST_AND_THIRD;
    replay: "replay", Scene::Deed(Deed::Replay), FIRST_AND_THIRD;
    erase: "erase", Scene::Deed(Deed::Erase), FIRST_AND_THIRD;
    // As often as there are steps at least, and once in all.
    step_of_a_migration: "migrate.step", Scene::Migration, &[1, 2];
    migration: "migrate", Scene::Migration, &[1];
}
