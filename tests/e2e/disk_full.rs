//! A disk that takes no more: the sender is told to come again, and when there is room it is taken,
//! once. The disk is full at a chosen byte: the bound on the size of the backend's files (Linux
//! can set another process's) is put where its write-ahead log ends, and taken away again.

use std::{fs, process::Command};

use fencepost_tests::{Delivery, Program, Stack, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};

const TEXT: &str = "a text that finds no room";

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

    // No room at all, none for a frame's head, and room for a part of the transaction.
    let end = log_bytes(&stack);
    for (index, room) in [0, end + 10, end + 4_200, end + 9_000]
        .into_iter()
        .enumerate()
    {
        println!("files end at {room}");
        limit_files(&stack, Some(room));
        let answer = stack.deliver(&Delivery::note("n-1", TEXT)).await;
        answer.assert_problem(503, "not_stored");
        assert_eq!(stack.db().written().await, written, "nothing is stored");
        wait_until("the log tells of it", async || {
            (not_stored(&stack) > index).then_some(())
        })
        .await;
        assert_eq!(not_stored(&stack), index + 1, "one line each");
        let refusals = stack.refusals();
        assert_eq!(refusals.len(), index + 1, "{refusals:?}");
        assert_eq!(refusals[index]["reason"], "backend_refused", "{refusals:?}");
    }
    assert!(!stack.project.log("backend.stderr").contains(TEXT));
    assert!(!stack.project.log("host.stderr").contains(TEXT));

    limit_files(&stack, None);
    let note = Delivery::note("n-1", TEXT);
    let key = stack.deliver(&note).await.assert_accepted();
    assert_eq!(stack.deliver(&note).await.assert_duplicate(), key);
    assert!(stack.report(&before).await.is_some());
    assert_eq!(stack.db().reports().await, 2);
    stack.finish().await;
}
