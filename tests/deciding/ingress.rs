//! The same delivery, over and over.

use fencepost_model::moderation;
use fencepost_tests::{Cut, Database, DatabaseKind, Delivery, Sealed, wait_until};
use futures::{StreamExt as _, stream};

use crate::stack;

pub(crate) async fn a_webhook_replayed_a_hundred_times_at_once_is_one_record_and_one_call(
    kind: DatabaseKind,
) {
    let (mut stack, model) = stack(kind, &[], |_| moderation("spam", 0.9, false)).await;
    stack.start_worker().await;
    let deliveries = (0..100).map(|_| Delivery::note("n-1", "a text of a note"));
    let answers = stack.deliver_at_once(deliveries.collect()).await;
    let accepted = answers.iter().filter(|answer| answer.status == 202).count();
    assert_eq!(accepted, 1);
    assert!(
        answers
            .iter()
            .all(|answer| [200, 202].contains(&answer.status))
    );
    stack.settle().await;
    assert_eq!(model.calls().len(), 1);
    assert_eq!(stack.db().reports().await, 1);
    stack.finish().await;
}

/// As many at once as the listener takes; who is sent away with 503 comes again as any sender does.
pub(crate) async fn two_thousand_posts_of_one_report_are_one_report(kind: DatabaseKind) {
    const POSTS: usize = 2000;
    const AT_ONCE: usize = 250;
    let (mut stack, model) = stack(kind, &[], |_| moderation("spam", 0.9, false)).await;
    let note = Sealed::note(&stack.project, "n-1", "a text of a note");
    let statuses: Vec<u16> = stream::iter(0..POSTS)
        .map(|_| async { stack.post(&note).await.unwrap().status })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    let count = |status| statuses.iter().filter(|it| **it == status).count();
    assert_eq!(count(202), 1, "accepted once");
    assert_eq!(count(202) + count(200) + count(503), POSTS);
    assert!(count(200) > POSTS / 4, "{} duplicates", count(200));
    // A report, its job, its event, and what its source is bound to.
    assert_eq!(stack.db().written().await, 4, "duplicates write nothing");
    stack.start_worker().await;
    stack.settle().await;
    assert_eq!(model.calls().len(), 1);
    stack.finish().await;
}

/// What was hung up on is there as a whole or not at all, and delivered again it is there once. No
/// connection to a server is left in a transaction.
pub(crate) async fn a_sender_that_hangs_up_leaves_the_whole_report_or_nothing(kind: DatabaseKind) {
    const SENDERS: usize = 60;
    let (mut stack, model) = stack(kind, &[], |_| moderation("spam", 0.9, false)).await;
    let notes: Vec<_> = (0..SENDERS)
        .map(|number| Sealed::note(&stack.project, &format!("n-{number}"), "a text of a note"))
        .collect();
    let cuts = [Cut::AfterHead, Cut::AfterHalf, Cut::AfterAll];
    stream::iter(notes.iter().zip(cuts.into_iter().cycle()))
        .for_each_concurrent(None, |(note, cut)| stack.hang_up(note, cut))
        .await;
    for (note, cut) in notes.iter().zip(cuts.into_iter().cycle()) {
        let answer = stack.post(note).await.unwrap();
        match cut {
            Cut::AfterHead | Cut::AfterHalf => drop(answer.assert_accepted()),
            Cut::AfterAll => assert!([200, 202].contains(&answer.status), "{answer:?}"),
        }
    }
    // A report, its job and its event for each, and what their source is bound to.
    let written = i64::try_from(3 * SENDERS + 1).unwrap();
    assert_eq!(stack.db().written().await, written);
    if let Database::Postgres(_) = stack.db() {
        let left = "SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND application_name = 'fencepost'
                      AND state LIKE 'idle in transaction%'";
        // One that is at work shows so for a moment; one that is left behind stays.
        wait_until("no connection is in a transaction", async || {
            (stack.db().number(left).await == 0).then_some(())
        })
        .await;
    }
    stack.start_worker().await;
    stack.settle().await;
    assert_eq!(model.calls().len(), SENDERS);
    stack.finish().await;
}
