//! What a lease is worth, before and after another takes over.

use fencepost::{
    report::{AttemptOutcome, State},
    store::{Charge, Commit, Held, Lost, Rejected, Released},
};

use super::fixture::{
    Database, LEASE, answer, grant, idle, ingest, key, rejection, release, value,
};

pub(crate) async fn a_heartbeat_prolongs_the_lease(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let grant = grant(&*store, 1).await;
    assert_eq!(grant.lease.length(), LEASE);
    db.age_leases().await;
    // It ran out, but nobody took over.
    let held = store.heartbeat(&grant.lease).await.unwrap();
    let Held::Yes { until } = held else {
        panic!("{held:?}")
    };
    assert!(until >= grant.lease.until());
    assert_eq!(
        db.number("SELECT lease_until_ms FROM job").await,
        until.get()
    );
    idle(&*store, 2).await;
}

pub(crate) async fn a_takeover_raises_the_token_and_the_old_holder_loses(db: &impl Database) {
    let store = db.store();
    let mut old = Vec::new();
    for n in 1..=3 {
        ingest(&*store, n).await;
        old.push(grant(&*store, 1).await.lease);
    }
    db.age_leases().await;
    let mut new = Vec::new();
    for worker in 2..=4 {
        let grant = grant(&*store, worker).await;
        assert_eq!(
            (grant.lease.token().get(), grant.lease.attempt().get()),
            (2, 2)
        );
        new.push(grant.lease);
    }
    let by = new[0].token();
    let lost = Lost::Superseded { by };
    let before = db.contents().await;
    for lease in &old {
        assert_eq!(store.heartbeat(lease).await.unwrap(), Held::Lost(lost));
        assert_eq!(
            store.store_raw(lease, answer()).await.unwrap(),
            Held::Lost(lost)
        );
    }
    let [first, second, third] = <[_; 3]>::try_from(old).unwrap();
    assert_eq!(
        store.commit(first, value()).await.unwrap(),
        Commit::Lost(lost)
    );
    assert_eq!(
        store.reject(second, rejection()).await.unwrap(),
        Rejected::Lost(lost)
    );
    let released = release(AttemptOutcome::Released, Charge::GiveBack);
    assert_eq!(
        store.release(third, released).await.unwrap(),
        Released::Lost(lost)
    );
    assert_eq!(
        db.contents().await,
        before,
        "a holder that lost wrote something"
    );

    for lease in new {
        let report = lease.report();
        let commit = store.commit(lease, value()).await.unwrap();
        assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
        let attempts = store.attempts(report).await.unwrap();
        let outcomes: Vec<_> = attempts
            .iter()
            .filter_map(|attempt| attempt.outcome)
            .collect();
        assert_eq!(
            outcomes,
            [AttemptOutcome::LeaseLost, AttemptOutcome::Committed]
        );
    }
}

pub(crate) async fn a_lease_that_ran_out_may_still_commit(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let grant = grant(&*store, 1).await;
    db.age_leases().await;
    let held = store.store_raw(&grant.lease, answer()).await.unwrap();
    assert!(matches!(held, Held::Yes { .. }), "{held:?}");
    let commit = store.commit(grant.lease, value()).await.unwrap();
    assert!(matches!(commit, Commit::Final(_)), "{commit:?}");
    idle(&*store, 2).await;
}

pub(crate) async fn the_same_token_with_another_nonce_loses(db: &impl Database) {
    let store = db.store();
    let mut leases = Vec::new();
    for n in 1..=3 {
        ingest(&*store, n).await;
        leases.push(grant(&*store, 1).await.lease);
    }
    // As after a database was set back and granted the same number again.
    let nonce = db.bytes("00".repeat(16));
    db.execute(&format!("UPDATE job SET nonce = {nonce}")).await;
    let before = db.contents().await;
    let lost = Lost::GrantedTwice;
    for lease in &leases {
        assert_eq!(store.heartbeat(lease).await.unwrap(), Held::Lost(lost));
        assert_eq!(
            store.store_raw(lease, answer()).await.unwrap(),
            Held::Lost(lost)
        );
    }
    let [first, second, third] = <[_; 3]>::try_from(leases).unwrap();
    assert_eq!(
        store.commit(first, value()).await.unwrap(),
        Commit::Lost(lost)
    );
    assert_eq!(
        store.reject(second, rejection()).await.unwrap(),
        Rejected::Lost(lost)
    );
    let released = release(AttemptOutcome::Released, Charge::GiveBack);
    assert_eq!(
        store.release(third, released).await.unwrap(),
        Released::Lost(lost)
    );
    assert_eq!(db.contents().await, before);
}

pub(crate) async fn a_raised_token_alone_makes_the_holder_lose(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let lease = grant(&*store, 1).await.lease;
    db.execute("UPDATE report SET fence = 7").await;
    let before = db.contents().await;
    let held = store.heartbeat(&lease).await.unwrap();
    let Held::Lost(Lost::Superseded { by }) = held else {
        panic!("{held:?}")
    };
    assert_eq!(by.get(), 7);
    let lost = Lost::Superseded { by };
    assert_eq!(
        store.store_raw(&lease, answer()).await.unwrap(),
        Held::Lost(lost)
    );
    assert_eq!(
        store.commit(lease, value()).await.unwrap(),
        Commit::Lost(lost)
    );
    assert_eq!(db.contents().await, before);

    // And the job's own token counts, whatever the report's is.
    ingest(&*store, 2).await;
    let lease = grant(&*store, 2).await.lease;
    db.execute("UPDATE job SET token = 9").await;
    let held = store.heartbeat(&lease).await.unwrap();
    assert_eq!(held, Held::Lost(Lost::GrantedTwice));
}

pub(crate) async fn an_answer_that_nobody_judged_is_used_again(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant(&*store, 1).await;
    assert_eq!(first.stored, None);
    let held = store.store_raw(&first.lease, answer()).await.unwrap();
    assert_eq!(
        held,
        Held::Yes {
            until: first.lease.until()
        }
    );
    db.age_leases().await;

    let second = grant(&*store, 2).await;
    assert_eq!(second.lease.call_key(), first.lease.call_key());
    let stored = second.stored.unwrap();
    assert_eq!(stored.answer, answer());
    assert_eq!(stored.attempt, first.lease.attempt());
    let mut judged = value();
    judged.call = None;
    store.commit(second.lease, judged).await.unwrap();

    let attempts = store.attempts(key(1)).await.unwrap();
    let [asked, judged] = attempts.as_slice() else {
        panic!("{attempts:?}")
    };
    assert_eq!(asked.outcome, Some(AttemptOutcome::LeaseLost));
    assert_eq!(asked.verdict, Some(AttemptOutcome::Committed));
    assert_eq!(asked.raw, Some(answer().raw));
    assert_eq!(asked.call, Some(answer().call));
    assert_eq!(asked.call_key, Some(first.lease.call_key()));
    assert_eq!(judged.outcome, Some(AttemptOutcome::Committed));
    assert_eq!((judged.call.as_ref(), judged.raw.as_ref()), (None, None));
}

pub(crate) async fn an_answer_with_a_verdict_is_not_used_again(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let first = grant(&*store, 1).await;
    store.store_raw(&first.lease, answer()).await.unwrap();
    let key_of_first = first.lease.call_key();
    store.reject(first.lease, rejection()).await.unwrap();

    let second = grant(&*store, 2).await;
    assert_eq!(second.stored, None);
    assert_ne!(second.lease.call_key(), key_of_first);
    assert_eq!(second.last_verdict, Some(AttemptOutcome::SchemaInvalid));
    // Nor is one whose verdict alone is known.
    ingest(&*store, 2).await;
    let other = grant(&*store, 3).await;
    store.store_raw(&other.lease, answer()).await.unwrap();
    db.execute("UPDATE attempt SET verdict = 'refused' WHERE verdict IS NULL")
        .await;
    let of_other = format!("report_key = {}", db.bytes(key(2)));
    db.execute(&format!(
        "UPDATE job SET lease_until_ms = 1 WHERE {of_other}"
    ))
    .await;
    let again = grant(&*store, 4).await;
    assert_eq!(again.lease.call_key(), other.lease.call_key());
    assert_eq!(again.stored, None);
    // Without a verdict, the same question is asked again.
    let key_of_second = second.lease.call_key();
    let snooze = release(AttemptOutcome::Timeout, Charge::Keep);
    store.release(second.lease, snooze).await.unwrap();
    let third = grant(&*store, 3).await;
    assert_eq!(third.lease.call_key(), key_of_second);
    assert_eq!(
        store.report(key(1)).await.unwrap().unwrap().summary.state,
        State::Running
    );
}
