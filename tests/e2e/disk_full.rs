//! A disk that takes no more: the sender is told to come again, and when there is room it is taken,
//! once. The disk is full at a chosen byte: the bound on the size of the backend's files (Linux can
//! set another process's) is put where its write-ahead log ends, and moved on frame by frame.

use std::{fs, process::Command};

use fencepost_tests::{Delivery, Program, Stack, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};

const TEXT: &str = "a text that finds no room";
/// A page of the database in the write-ahead log, with its head.
const FRAME_BYTES: u64 = 4096 + 24;
/// More than one delivery can change.
const FRAMES_MAX: u64 = 100;

/// From the given byte on, no file of the backend can be written.
fn limit_files(stack: &Stack, bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit {
        current: bytes,
        maximum,
    };
    prlimit(Some(stack.backend_process().id()), Resource::Fsize, limit).unwrap();
}

fn log_bytes(stack: &Stack) -> u64 {
    fs::metadata(stack.project.path("fencepost.db-wal"))
        .unwrap()
        .len()
}

/// The backend's log lines that tell of a report that was not stored.
fn not_stored(stack: &Stack) -> usize {
    let log = stack.backend_log();
    let told = log.iter().filter_map(|event| event["message"].as_str());
    told.filter(|message| message.starts_with("Did not store a report"))
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_a_503_and_when_there_is_room_nothing_was_lost() {
    let mut stack = Stack::start().await;
    stack.stop_backend().await;
    // As on a full disk, a write has to fail and not to kill.
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; exec \"$0\" serve"])
        .arg(Program::Backend.path());
    stack.start_backend_as(shell).await;
    let before = stack
        .deliver(&Delivery::note("n-0", "a text that finds room"))
        .await;
    let before = before.assert_accepted();
    stack.settle().await;
    let written = stack.db().written().await;

    // No room at all, then for one more frame of the transaction each time, until all fit.
    let end = log_bytes(&stack);
    let mut rooms = vec![0];
    rooms.extend((0..FRAMES_MAX).map(|frames| end + frames * FRAME_BYTES + FRAME_BYTES / 2));
    let note = Delivery::note("n-1", TEXT);
    let mut refused = 0;
    let key = loop {
        let room = rooms[refused];
        println!("files end at {room}");
        limit_files(&stack, Some(room));
        let answer = stack.deliver(&note).await;
        if answer.status != 503 {
            break answer.assert_accepted();
        }
        answer.assert_problem(503, "not_stored");
        assert_eq!(stack.db().written().await, written, "nothing is stored");
        refused += 1;
        wait_until("the log tells of it", async || {
            (not_stored(&stack) >= refused).then_some(())
        })
        .await;
        assert_eq!(not_stored(&stack), refused, "one line each");
        let refusals = wait_until("the edge's log tells of it", async || {
            Some(stack.refusals()).filter(|refusals| refusals.len() >= refused)
        })
        .await;
        assert_eq!(refusals.len(), refused, "{refusals:?}");
        assert_eq!(
            refusals[refused - 1]["reason"],
            "backend_refused",
            "{refusals:?}"
        );
    };
    assert!(
        refused > 5,
        "only {refused} refusals: the disk was hardly full"
    );
    assert!(!stack.project.log("backend.stderr").contains(TEXT));
    assert!(!stack.project.log("host.stderr").contains(TEXT));

    limit_files(&stack, None);
    assert_eq!(stack.deliver(&note).await.assert_duplicate(), key);
    assert!(stack.report(&before).await.is_some());
    assert_eq!(stack.db().reports().await, 2);
    stack.finish().await;
}
