//! Answers that have been kept as long as their pipeline says.

use std::{sync::Arc, time::Duration};

use fencepost::{
    store::{Keeping, LastAnswer},
    worker::{EXPIRY_INTERVAL, Expiry, Step},
};

use crate::{
    rig::{GOOD, Rig, logged},
    timer::within,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn expiry(rig: &Rig, kept_for: Duration) -> Expiry {
    let keeping = |pipeline: &str| Keeping {
        pipeline: pipeline.to_owned(),
        kept_for,
    };
    Expiry {
        store: Arc::clone(&rig.store),
        keepings: vec![keeping("another"), keeping("moderation")],
        timer: Arc::clone(&rig.timer) as _,
        stop: rig.signal(),
    }
}

#[tokio::test]
async fn they_are_emptied_once_their_time_has_come() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.ingest("1").await;
    rig.answered(&worker, "nonsense").await;
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
    let expiry = expiry(&rig, HOUR);
    assert_eq!(expiry.pass().await, 0);
    rig.sql("UPDATE attempt SET ended_ms = ended_ms - 3600000 WHERE number = 1")
        .await;
    assert_eq!(expiry.pass().await, 1);
    let attempts = rig.attempts(key).await;
    let kept = attempts.iter().map(|attempt| attempt.raw.as_deref());
    assert_eq!(kept.collect::<Vec<_>>(), [None, Some(GOOD.as_bytes())]);
    assert!(attempts[0].raw_emptied.is_some() && attempts[1].raw_emptied.is_none());
    let last = rig.store.last_answer(key, "moderation-7".to_owned());
    assert!(matches!(last.await, Ok(Some(LastAnswer::Kept(_)))));
}

#[tokio::test]
async fn it_is_looked_for_them_again_and_again_until_the_end() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let running = tokio::spawn(expiry(&rig, Duration::ZERO).run());
    for id in ["1", "2"] {
        rig.timer.begun(EXPIRY_INTERVAL).await;
        let key = rig.ingest(id).await;
        assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
        assert!(rig.attempts(key).await[0].raw.is_some());
        rig.timer.end(EXPIRY_INTERVAL).await;
        rig.timer.begun(EXPIRY_INTERVAL).await;
        assert!(rig.attempts(key).await[0].raw_emptied.is_some());
    }
    rig.stop.drain();
    within(running).await.unwrap();
    // Where every pipeline keeps its answers, there is nothing to look for.
    let nothing = Expiry {
        keepings: Vec::new(),
        ..expiry(&Rig::new().await, HOUR)
    };
    within(nothing.run()).await;
}

#[tokio::test]
async fn a_row_that_can_not_be_understood_holds_up_no_other() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let mut keys = Vec::new();
    for id in ["1", "2", "3"] {
        let key = rig.ingest(id).await;
        assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
        keys.push(key);
    }
    // The first one's report can't be locked, the second one's attempt has no number.
    rig.sql("UPDATE attempt SET ended_ms = number + rowid")
        .await;
    rig.sql("UPDATE report SET is_current = 7 WHERE report_id = '1'")
        .await;
    rig.sql(
        "UPDATE attempt SET number = 0 WHERE report_key = \
         (SELECT report_key FROM report WHERE report_id = '2')",
    )
    .await;
    let expiry = expiry(&rig, HOUR);
    assert_eq!(expiry.pass().await, 1);
    assert!(rig.attempts(keys[2]).await[0].raw_emptied.is_some());
    assert!(rig.attempts(keys[0]).await[0].raw.is_some());
    assert_eq!(expiry.pass().await, 0);
    let logged = logged();
    assert!(logged.contains(&format!("report.is_current of {}", keys[0])));
    assert!(logged.contains(&format!("attempt.number of {}", keys[1])));
}
