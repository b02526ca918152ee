//! What people are shown.

use fencepost::{
    report::{Outcome, State, StateWord},
    store::Filter,
};

use super::fixture::{
    Database, grant, identity, ingest, input, key, mapping, report, report_with_content, value,
    value_for_review,
};

pub(crate) async fn a_list_is_paged_newest_first(db: &impl Database) {
    let store = db.store();
    for n in 0..7 {
        ingest(&*store, n).await;
        // Some came in the same millisecond.
        let of_report = format!("report_key = {}", db.bytes(key(n)));
        let received = 1_000 + i64::from(n / 3);
        db.execute(&format!(
            "UPDATE report SET received_ms = {received} WHERE {of_report}"
        ))
        .await;
    }
    let mut expected: Vec<_> = (0..7).map(|n| (n / 3, key(n))).collect();
    expected.sort_by(|a, b| b.cmp(a));
    for limit in [1, 2, 3, 7, 100] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = store.list(Filter::default(), cursor, limit).await.unwrap();
            assert!(page.reports.len() <= usize::try_from(limit).unwrap());
            seen.extend(page.reports.iter().map(|report| report.key));
            cursor = page.next.map(|next| next.to_string().parse().unwrap());
            if cursor.is_none() {
                break;
            }
        }
        let expected: Vec<_> = expected.iter().map(|(_, key)| *key).collect();
        assert_eq!(seen, expected, "{limit} per page");
    }
}

pub(crate) async fn a_list_is_filtered(db: &impl Database) {
    let store = db.store();
    for n in 0..4 {
        ingest(&*store, n).await;
    }
    let mut elsewhere = report(4);
    elsewhere.pipeline = "other".to_owned();
    store.ingest(elsewhere).await.unwrap();
    let lease = grant(&*store, 1).await.lease;
    let running = lease.report();
    let find = |filter| {
        let store = store.clone();
        async move {
            let page = store.list(filter, None, 50).await.unwrap();
            page.reports
                .into_iter()
                .map(|report| report.key)
                .collect::<Vec<_>>()
        }
    };
    let state = |state| Filter {
        state: Some(state),
        ..Filter::default()
    };
    assert_eq!(find(state(StateWord::Running)).await, [running]);
    assert_eq!(find(state(StateWord::Accepted)).await.len(), 4);
    store.commit(lease, value()).await.unwrap();
    assert_eq!(find(state(StateWord::Terminal)).await, [running]);
    let pipeline = Filter {
        pipeline: Some("other".to_owned()),
        ..Filter::default()
    };
    assert_eq!(find(pipeline).await, [key(4)]);
    let tenant = |name: &str| Filter {
        tenant: Some(name.to_owned()),
        ..Filter::default()
    };
    assert_eq!(find(tenant("acme")).await.len(), 5);
    assert_eq!(find(tenant("acme' OR '1'='1")).await.len(), 0);
}

pub(crate) async fn stats_count_what_there_is(db: &impl Database) {
    let store = db.store();
    for n in 0..4 {
        ingest(&*store, n).await;
    }
    store.ingest(report_with_content(0, 9)).await.unwrap();
    store
        .commit(grant(&*store, 1).await.lease, value())
        .await
        .unwrap();
    store
        .commit(grant(&*store, 2).await.lease, value_for_review())
        .await
        .unwrap();
    let _held = grant(&*store, 3).await;
    db.execute("UPDATE job SET updated_ms = updated_ms - 60000 WHERE state = 'accepted'")
        .await;

    let stats = store.stats().await.unwrap();
    let states: Vec<_> = stats
        .states
        .iter()
        .map(|state| (state.state, state.count))
        .collect();
    let expected = [
        (State::Accepted, 1),
        (State::ReadyForReview, 1),
        (State::Running, 1),
        (State::Terminal(Outcome::Committed), 1),
    ];
    assert_eq!(states, expected);
    assert!(stats.states[0].oldest_ms >= 60_000, "{:?}", stats.states);
    assert!(stats.states[1].oldest_ms < 60_000, "{:?}", stats.states);
    assert_eq!((stats.results, stats.attempts, stats.charged), (2, 3, 3));
    assert_eq!(
        (stats.reviews_open, stats.conflicts, stats.paused),
        (1, 1, 0)
    );
    // Four accepted, one final, one to review.
    assert_eq!((stats.undelivered, stats.set_aside), (6, 0));
}

pub(crate) async fn an_unknown_report_is_not_there(db: &impl Database) {
    let store = db.store();
    assert_eq!(store.report(key(1)).await.unwrap(), None);
    assert_eq!(store.attempts(key(1)).await.unwrap(), []);
    let mut ordered = report(1);
    ordered.order = Some("2027-03-01T10:00:00Z".to_owned());
    store.ingest(ordered.clone()).await.unwrap();
    let view = store.report(key(1)).await.unwrap().unwrap();
    assert_eq!((view.links, view.order), (ordered.links, ordered.order));
    assert_eq!(view.summary.identity, Some(identity(1)));
    assert_eq!((view.token.get(), view.classifier_version), (0, None));
    assert_eq!(report(1).mapping_digest, mapping(1));
    store.ready().await.unwrap();
}

pub(crate) async fn inputs_are_paged_newest_first_and_none_is_empty(db: &impl Database) {
    let store = db.store();
    for n in 0..7 {
        let mut report = report(n);
        report.input = Some(input(&format!(r#"{{"text":"{n}"}}"#), 1));
        store.ingest(report).await.unwrap();
        let of_report = format!("report_key = {}", db.bytes(key(n)));
        let received = 1_000 + i64::from(n / 3);
        let received = format!("UPDATE report SET received_ms = {received} WHERE {of_report}");
        db.execute(&received).await;
    }
    let mut elsewhere = report(7);
    elsewhere.pipeline = "other".to_owned();
    store.ingest(elsewhere).await.unwrap();
    store.erase(key(1), "kim".to_owned()).await.unwrap();
    let (empty, of_report) = (db.bytes(""), db.bytes(key(5)));
    db.execute(&format!(
        "UPDATE report SET input = {empty} WHERE report_key = {of_report}"
    ))
    .await;
    let mut expected: Vec<_> = [0, 2, 3, 4, 6].map(|n| (n / 3, key(n), n)).into();
    expected.sort_by(|a, b| b.cmp(a));
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(_, key, n)| (key, format!(r#"{{"text":"{n}"}}"#).into_bytes()))
        .collect();
    let before = db.contents().await;
    for limit in [1, 2, 5, 100] {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = store.inputs("moderation".to_owned(), cursor, limit);
            let page = page.await.unwrap();
            assert_eq!(page.unreadable, []);
            seen.extend(
                page.inputs
                    .into_iter()
                    .map(|input| (input.key, input.input)),
            );
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, expected, "{limit} per page");
    }
    let none = store.inputs("nothing".to_owned(), None, 5).await.unwrap();
    assert_eq!((none.inputs, none.next), (Vec::new(), None));
    assert_eq!(db.contents().await, before);
}
