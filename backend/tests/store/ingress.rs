//! The ingress fence.

use fencepost::{
    report::State,
    store::{
        Bindings, Bound, Content, Ingested, PipelineVersions, Rebound, StoreError, VersionConflict,
        VersionKind,
    },
};

use super::fixture::{
    Database, grant, idle, ingest, key, mapping, poll_and_drop, report, report_with_content, value,
};

pub(crate) async fn a_report_is_accepted_once(db: &impl Database) {
    let (store, key) = (db.store(), key(1));
    let first = store.ingest(report(1)).await.unwrap();
    assert_eq!(
        first,
        Ingested::Accepted {
            key,
            state: State::Accepted
        }
    );
    for table in ["report", "job", "outbox", "source_binding"] {
        assert_eq!(db.rows(table).await, 1, "{table}");
    }
    let duplicate = |state| Ingested::Duplicate {
        key,
        state,
        content: Content::Same,
    };
    let again = store.ingest(report(1)).await.unwrap();
    assert_eq!(again, duplicate(State::Accepted));
    // A duplicate is one in every state.
    let grant = grant(&*store, 1).await;
    assert_eq!(
        store.ingest(report(1)).await.unwrap(),
        duplicate(State::Running)
    );
    store.commit(grant.lease, value()).await.unwrap();
    let state = store.report(key).await.unwrap().unwrap().summary.state;
    assert_eq!(store.ingest(report(1)).await.unwrap(), duplicate(state));
    assert_eq!(db.rows("job").await, 1);
    idle(&*store, 2).await;
}

pub(crate) async fn a_duplicate_writes_nothing(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let (changes, contents) = (db.changes().await, db.contents().await);
    for _ in 0..20 {
        let again = store.ingest(report(1)).await.unwrap();
        assert!(
            matches!(
                again,
                Ingested::Duplicate {
                    content: Content::Same,
                    ..
                }
            ),
            "{again:?}"
        );
    }
    assert_eq!(db.changes().await, changes);
    assert_eq!(db.contents().await, contents);
    // The measure moves when something is written.
    ingest(&*store, 2).await;
    assert_ne!(db.changes().await, changes);
}

pub(crate) async fn other_content_is_recorded_once_per_content(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    for (content, seen) in [(2, 1), (2, 2), (3, 1), (2, 3)] {
        let ingested = store.ingest(report_with_content(1, content)).await.unwrap();
        let (state, content) = (State::Accepted, Content::Conflict { seen });
        assert_eq!(
            ingested,
            Ingested::Duplicate {
                key: key(1),
                state,
                content
            }
        );
    }
    assert_eq!(db.rows("content_conflict").await, 2);
    assert_eq!(db.rows("report").await, 1);
    assert_eq!(store.report(key(1)).await.unwrap().unwrap().conflicts, 2);
    // The first one stays.
    let first = db.bytes("01".repeat(32));
    let first = format!("SELECT count(*) FROM report WHERE input_hash = {first}");
    assert_eq!(db.number(&first).await, 1);
}

pub(crate) async fn a_changed_mapping_is_refused(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let contents = db.contents().await;
    for n in [1, 2] {
        let mut changed = report(n);
        changed.mapping_digest = mapping(2);
        let ingested = store.ingest(changed).await.unwrap();
        assert_eq!(ingested, Ingested::MappingChanged { bound: mapping(1) });
    }
    assert_eq!(db.contents().await, contents);
}

pub(crate) async fn a_hundred_deliveries_at_once_are_one_report(db: &impl Database) {
    let stores = [db.store(), db.another_store().await];
    let deliveries: Vec<_> = (0..100)
        .map(|n| {
            let store = stores[n % 2].clone();
            tokio::spawn(async move { store.ingest(report(1)).await.unwrap() })
        })
        .collect();
    let mut accepted = 0;
    for delivery in deliveries {
        match delivery.await.unwrap() {
            Ingested::Accepted { .. } => accepted += 1,
            Ingested::Duplicate {
                content: Content::Same,
                ..
            } => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(accepted, 1);
    for table in ["report", "job", "outbox"] {
        assert_eq!(db.rows(table).await, 1, "{table}");
    }
}

pub(crate) async fn a_caller_that_hangs_up_leaves_all_or_nothing(db: &impl Database) {
    let store = db.store();
    for n in 0..40_u32 {
        let polls = usize::try_from(n % 8).unwrap();
        poll_and_drop(store.ingest(report(n)), polls).await;
        let of_report = format!("report_key = {}", db.bytes(key(n)));
        // In one statement, since what was begun may be going on.
        let written = format!(
            "SELECT (SELECT count(*) FROM report WHERE {of_report})
             + 10 * (SELECT count(*) FROM job WHERE {of_report})
             + 100 * (SELECT count(*) FROM outbox WHERE {of_report})"
        );
        let written = db.number(&written).await;
        assert!(
            written == 0 || written == 111,
            "{written} after {polls} polls"
        );
    }
    for n in 0..40 {
        store.ingest(report(n)).await.unwrap();
    }
    for table in ["report", "job", "outbox"] {
        assert_eq!(db.rows(table).await, 40, "{table}");
    }
}

pub(crate) async fn versions_are_bound_on_first_use(db: &impl Database) {
    let store = db.store();
    let versions = |classifier: u8, schema: u8| PipelineVersions {
        pipeline: "moderation".to_owned(),
        classifier_version: "moderation-7".to_owned(),
        classifier_digest: [classifier; 32],
        schema_version: format!("moderation-v{schema}"),
        schema_digest: [3; 32],
    };
    assert_eq!(
        store.bind_versions(versions(1, 3)).await.unwrap(),
        Bound::Bound
    );
    assert_eq!(
        store.bind_versions(versions(1, 3)).await.unwrap(),
        Bound::Bound
    );
    let conflict = VersionConflict {
        pipeline: "moderation".to_owned(),
        kind: VersionKind::Classifier,
        version: "moderation-7".to_owned(),
        bound: [1; 32],
    };
    let other = db.another_store().await;
    let bound = other.bind_versions(versions(2, 4)).await.unwrap();
    assert_eq!(bound, Bound::Conflict(vec![conflict]));
    // The schema version that came along was not bound.
    assert_eq!(db.rows("version_binding").await, 2);
    let elsewhere = PipelineVersions {
        pipeline: "other".to_owned(),
        ..versions(2, 3)
    };
    assert_eq!(store.bind_versions(elsewhere).await.unwrap(), Bound::Bound);
}

pub(crate) async fn what_is_bound_is_told_without_binding(db: &impl Database) {
    let store = db.store();
    assert_eq!(store.bindings().await.unwrap(), Bindings::default());
    let versions = |pipeline: &str, classifier: u8, schema: u8| PipelineVersions {
        pipeline: pipeline.to_owned(),
        classifier_version: "7".to_owned(),
        classifier_digest: [classifier; 32],
        schema_version: "v3".to_owned(),
        schema_digest: [schema; 32],
    };
    ingest(&*store, 1).await;
    let first = versions("moderation", 1, 3);
    let binding = store.bind_versions(first.clone()).await.unwrap();
    assert_eq!(binding, Bound::Bound);
    let contents = db.contents().await;

    let bound = db.another_store().await.bindings().await.unwrap();
    let sources = [("comments".to_owned(), mapping(1))];
    assert_eq!(bound.sources, sources.into());
    let key = |kind, name: &str| (kind, "moderation".to_owned(), name.to_owned());
    let expected = [
        (key(VersionKind::Classifier, "7"), [1; 32]),
        (key(VersionKind::Schema, "v3"), [3; 32]),
    ];
    assert_eq!(bound.versions, expected.into());
    // What would be bound, and what would be a conflict if it were.
    assert_eq!(bound.conflicts(&first), []);
    assert_eq!(bound.conflicts(&versions("other", 2, 4)), []);
    let conflicts = bound.conflicts(&versions("moderation", 2, 4));
    let told = store.bind_versions(versions("moderation", 2, 4)).await;
    assert_eq!(told.unwrap(), Bound::Conflict(conflicts.clone()));
    let kinds: Vec<_> = conflicts.iter().map(|c| (c.kind, c.bound)).collect();
    assert_eq!(
        kinds,
        [
            (VersionKind::Classifier, [1; 32]),
            (VersionKind::Schema, [3; 32])
        ]
    );
    assert_eq!(db.contents().await, contents);
    let digest = db.bytes("00");
    db.execute(&format!("UPDATE version_binding SET digest = {digest}"))
        .await;
    let corrupt = store.bindings().await;
    assert!(
        matches!(corrupt, Err(StoreError::Corrupt(_))),
        "{corrupt:?}"
    );
}

pub(crate) async fn a_source_is_bound_anew_only_by_a_person(db: &impl Database) {
    let store = db.store();
    ingest(&*store, 1).await;
    let rebind = |source: &str, digest| {
        let (store, source) = (store.clone(), source.to_owned());
        async move {
            store
                .rebind_source(source, mapping(digest), "operator".to_owned())
                .await
                .unwrap()
        }
    };
    assert_eq!(rebind("comments", 1).await, Rebound::Same);
    assert_eq!(db.rows("audit").await, 0);
    assert_eq!(
        rebind("comments", 2).await,
        Rebound::Changed { from: mapping(1) }
    );
    assert_eq!(rebind("forms", 5).await, Rebound::First);
    assert_eq!(db.rows("audit").await, 2);
    let refused = store.ingest(report(2)).await.unwrap();
    assert_eq!(refused, Ingested::MappingChanged { bound: mapping(2) });
    let mut remapped = report(2);
    remapped.mapping_digest = mapping(2);
    let ingested = store.ingest(remapped).await.unwrap();
    assert!(
        matches!(ingested, Ingested::Accepted { .. }),
        "{ingested:?}"
    );
}
