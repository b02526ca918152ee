//! `POST /v1/reports`.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Body, http::Request};
use fencepost::{
    config::Role,
    http::{
        Arrival, Carries, Health, IngestApi, IngestLimits, IngestParts, Versions, ingest_router,
    },
    store::{Corruption, NewInput, Store, StoreError},
    telemetry::subscriber,
};
use fencepost_identity::envelope::{EdgeSecret, Envelope};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    FILE, call,
    envelope::{NOW, SECRET, TEXT, clock, envelope, headers, request, signed},
    scripted::{Mood, Scripted},
};

pub(super) const BYTES_MAX: usize = 4096;

pub(super) fn router(store: &Arc<Scripted>, in_flight_max: usize) -> (Router, Arc<Notify>) {
    let wake = Arc::new(Notify::new());
    let store: Arc<dyn Store> = Arc::<Scripted>::clone(store);
    let secrets = [SECRET, "previous-0123456789"].map(|text| EdgeSecret::new(text).unwrap());
    let api = IngestApi::new(IngestParts {
        store: Arc::clone(&store),
        secrets: secrets.to_vec(),
        sources: [("reports", Carries::Input), ("code", Carries::Reference)]
            .map(|(source, carries)| {
                let pipeline = "moderation".to_owned();
                (source.to_owned(), Arrival { pipeline, carries })
            })
            .into(),
        clock,
        wake: Arc::clone(&wake),
        limits: IngestLimits {
            envelope_bytes_max: BYTES_MAX,
            in_flight_max,
        },
    });
    (
        ingest_router(
            api,
            Arc::new(Health::new(
                store,
                Versions::Bound(Vec::new()),
                FILE.as_ref(),
                Role::All,
            )),
        ),
        wake,
    )
}

#[tokio::test]
async fn a_new_report_is_stored_as_the_envelope_has_it_and_wakes_a_worker() {
    let store = Scripted::new(Mood::Fine);
    let (router, wake) = router(&store, 1);
    let answer = call(&router, signed(&envelope().to_json())).await;
    let key = envelope().identity.report_key().to_string();
    assert_eq!(answer.status, 202);
    assert_eq!(
        answer.body,
        json!({"report_key": key, "state": "accepted", "duplicate": false})
    );
    let [report] = &store.seen()[..] else {
        panic!("not exactly one report")
    };
    assert_eq!(report.identity, envelope().identity);
    assert_eq!(report.input, envelope().input.map(NewInput::from));
    assert_eq!(report.links, envelope().links);
    assert_eq!(report.order, envelope().order);
    assert_eq!(report.mapping_digest, envelope().mapping_digest);
    assert_eq!(
        (report.source.as_str(), report.pipeline.as_str()),
        ("reports", "moderation")
    );
    wake.notified().await;
}

#[tokio::test]
async fn a_reference_is_stored_without_an_input() {
    let store = Scripted::new(Mood::Fine);
    let (router, _) = router(&store, 1);
    let reference = Envelope {
        source: "code".to_owned(),
        input: None,
        ..envelope()
    };
    let answer = call(&router, signed(&reference.to_json())).await;
    assert_eq!(answer.status, 202);
    let [report] = &store.seen()[..] else {
        panic!("not exactly one report")
    };
    assert_eq!((report.source.as_str(), &report.input), ("code", &None));
    assert_eq!(report.links, envelope().links);
}

/// Whoever has the other configuration: the sender tries again until they agree.
#[tokio::test]
async fn content_where_a_reference_is_expected_is_refused_and_the_other_way_round() {
    let store = Scripted::new(Mood::Fine);
    let (router, _) = router(&store, 1);
    let content = Envelope {
        source: "code".to_owned(),
        ..envelope()
    };
    let reference = Envelope {
        input: None,
        ..envelope()
    };
    for envelope in [content, reference] {
        let answer = call(&router, signed(&envelope.to_json())).await;
        assert_eq!(answer.status, 503);
        assert_eq!(answer.body["code"], "input_form_differs");
    }
    assert_eq!(store.seen(), []);
}

#[tokio::test]
async fn a_conflict_is_told_in_the_answer() {
    let (router, _) = router(&Scripted::new(Mood::Conflict), 1);
    let answer = call(&router, signed(&envelope().to_json())).await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        (&answer.body["duplicate"], &answer.body["conflict"]),
        (&json!(true), &json!(true))
    );
}

#[tokio::test]
async fn a_secret_that_goes_out_of_use_and_a_clock_at_the_window_s_edge_are_still_good() {
    let body = envelope().to_json();
    let store = Scripted::new(Mood::Fine);
    let (router, _) = router(&store, 1);
    for (secret, time) in [
        ("previous-0123456789", NOW),
        (SECRET, NOW - 300),
        (SECRET, NOW + 300),
    ] {
        let answer = call(
            &router,
            request(&headers(secret, time, &body), body.clone()),
        )
        .await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    assert_eq!(store.seen().len(), 3);
}

/// A request, and what it is refused with.
struct Refused {
    name: &'static str,
    request: Request<Body>,
    status: u16,
    code: &'static str,
}

/// Every way of being refused before the store is asked.
fn refused() -> Vec<Refused> {
    let groups = [
        (401, "unauthorized", not_from_the_edge()),
        (503, "stale_envelope", not_now()),
        (400, "bad_envelope", no_envelopes()),
        (400, "key_mismatch", with_another_key()),
        (400, "hash_mismatch", with_another_hash()),
        (
            503,
            "unknown_source",
            vec![("source", resigned("\"reports\"}", "\"x\"}"))],
        ),
        (
            413,
            "too_large",
            vec![("too long", signed(&" ".repeat(BYTES_MAX + 1)))],
        ),
    ];
    let all = groups.into_iter().flat_map(|(status, code, requests)| {
        let refused = move |(name, request)| Refused {
            name,
            request,
            status,
            code,
        };
        requests.into_iter().map(refused)
    });
    all.collect()
}

type Requests = Vec<(&'static str, Request<Body>)>;

/// The envelope, changed and then signed: as an edge would that has gone wrong.
fn resigned(from: &str, to: &str) -> Request<Body> {
    let body = envelope().to_json();
    assert!(body.contains(from), "{from}");
    signed(&body.replace(from, to))
}

fn not_from_the_edge() -> Requests {
    let body = envelope().to_json();
    let good = headers(SECRET, NOW, &body);
    let without = |name: &str| {
        let kept = good.iter().filter(|(other, _)| *other != name);
        request(&kept.cloned().collect::<Vec<_>>(), body.clone())
    };
    let twice = [good.clone(), good.clone()].concat();
    let mut other_time = good.clone();
    other_time[0] = headers(SECRET, NOW - 1, &body).swap_remove(0);
    let stranger = headers("a stranger's secret", NOW, &body);
    vec![
        ("no header", request(&[], body.clone())),
        ("no time", without("fencepost-time")),
        ("no key id", without("fencepost-key-id")),
        ("no signature", without("fencepost-signature")),
        ("headers twice", request(&twice, body.clone())),
        ("another secret", request(&stranger, body.clone())),
        ("another time", request(&other_time, body.clone())),
        (
            "a changed byte",
            request(&good, body.replace("acme", "acmf")),
        ),
    ]
}

fn not_now() -> Requests {
    let body = envelope().to_json();
    let at = |time| request(&headers(SECRET, time, &body), body.clone());
    vec![("behind", at(NOW - 301)), ("ahead", at(NOW + 301))]
}

fn no_envelopes() -> Requests {
    vec![
        ("no JSON", signed("{")),
        ("no object", signed("[]")),
        ("empty", signed("")),
        (
            "twice",
            resigned("{\"identity\"", "{\"order\":\"3\",\"identity\""),
        ),
        (
            "unknown",
            resigned("{\"identity\"", "{\"raw\":\"x\",\"identity\""),
        ),
        (
            "unknown within",
            resigned("\"tenant\"", "\"x\":1,\"tenant\""),
        ),
        ("no source", resigned(",\"source\":\"reports\"", "")),
        ("no identity", resigned("\"acme\"", "\"\"")),
    ]
}

fn with_another_key() -> Requests {
    let key = envelope().identity.report_key().to_string();
    vec![
        ("key", resigned(&key, &"0".repeat(64))),
        ("tenant", resigned("acme", "acmf")),
        ("revision", resigned("\"revision\":3", "\"revision\":4")),
    ]
}

fn with_another_hash() -> Requests {
    let hash = envelope().input.unwrap().hash().to_string();
    vec![
        ("hash", resigned(&hash, &"0".repeat(64))),
        ("input", resigned("you are", "You are")),
    ]
}

#[tokio::test]
async fn what_is_refused_has_its_code_and_never_reaches_the_store() {
    let store = Scripted::new(Mood::Fine);
    let (router, _) = router(&store, 1);
    for Refused {
        name,
        request,
        status,
        code,
    } in refused()
    {
        let answer = call(&router, request).await;
        assert_eq!((answer.status, answer.code()), (status, code), "{name}");
        assert_eq!(
            answer.headers.contains_key("retry-after"),
            status == 503,
            "{name}"
        );
        assert!(
            !answer.body.to_string().contains("canary"),
            "{name}: {answer:?}"
        );
    }
    assert_eq!(store.seen(), []);
}

#[tokio::test]
async fn what_a_database_can_not_do_is_a_503_that_promises_nothing() {
    let corrupt = || {
        StoreError::Corrupt(Corruption {
            table: "report",
            column: "state",
            key: "7".to_owned(),
        })
    };
    let newer = || StoreError::NewerSchema { found: 9, known: 1 };
    for (mood, code) in [
        (Mood::OtherMapping, "mapping_changed"),
        (Mood::Fails(|| StoreError::Busy), "busy"),
        (Mood::Fails(|| StoreError::Full), "not_stored"),
        (
            Mood::Fails(|| StoreError::Unavailable("gone".to_owned())),
            "not_stored",
        ),
        (Mood::Fails(|| StoreError::Damaged), "not_stored"),
        (
            Mood::Fails(|| StoreError::Fault("syntax".to_owned())),
            "not_stored",
        ),
        (Mood::Fails(corrupt), "not_stored"),
        (Mood::Fails(newer), "not_stored"),
    ] {
        let (router, _) = router(&Scripted::new(mood), 1);
        let answer = call(&router, signed(&envelope().to_json())).await;
        assert_eq!((answer.status, answer.code()), (503, code));
        assert!(answer.headers.contains_key("retry-after"));
    }
}

#[tokio::test]
async fn a_report_is_stored_even_if_the_edge_hangs_up() {
    let store = Scripted::gated(Mood::Fine, 0);
    let (router, wake) = router(&store, 1);
    let mut answer = Box::pin(call(&router, signed(&envelope().to_json())));
    // Polled until it waits for the store, and then dropped, as a server does with a request whose
    // connection is gone.
    while call(&router, request(&[], "")).await.status != 503 {
        tokio::select! {
            biased;
            _ = &mut answer => panic!("the store has not answered"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(answer);
    store.open();
    while store.seen().is_empty() {
        tokio::task::yield_now().await;
    }
    wake.notified().await;
}

/// Collects log lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn logs_tell_why_and_never_what() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = subscriber(&"json,trace".parse().unwrap(), move || writer.clone()).unwrap();
    // For the whole process: the lines of the tests beside this one are looked at too.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let moods = [
        Mood::Fine,
        Mood::Conflict,
        Mood::OtherMapping,
        Mood::Fails(|| StoreError::Full),
    ];
    for mood in moods {
        let (router, _) = router(&Scripted::new(mood), 1);
        call(&router, signed(&envelope().to_json())).await;
        for refused in refused() {
            call(&router, refused.request).await;
        }
    }
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for told in [
        "Accepted report",
        "came again with another content",
        "is not the one that it is bound to",
        "Did not store a report",
        "is not signed with a live edge secret",
        "time is 301 s away",
        "a member that is not known",
        "report key is not the one",
    ] {
        assert!(text.contains(told), "{told} is not in {text}");
    }
    assert!(!text.contains("canary") && !text.contains(TEXT), "{text}");
    assert!(
        text.lines()
            .all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
    );
}
