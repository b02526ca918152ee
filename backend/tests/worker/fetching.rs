//! The input of a report that came as a reference: fetched under the lease, once, before anybody
//! is asked.

use std::{sync::Arc, time::Duration};

use fencepost::{
    report::{AttemptOutcome, InputOrigin, ReviewReason, State},
    store::{Charge, Content as Stored, Ingested, Lost, PauseReason, StoreError, Subject},
    worker::Step,
};
use fencepost_model::{Content, ContentServer, Gate};
use tokio::task::JoinSet;

use crate::{
    content::{TOKEN, reference},
    rig::{BEAT, CANARY, Charged, GOOD, Rig, logged, one_step},
    store::Failing,
    timer::within,
};

const TIMEOUT: Duration = Duration::from_secs(17);

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

/// A rig whose reports' content is at this server.
async fn rig(server: &ContentServer) -> Rig {
    let mut rig = Rig::new().await;
    rig.fetches(&format!(
        "url = \"http://{}/{{report_id}}/{{link.head}}\"\nallow_private = [\"127.0.0.1\"]\n\
         token_env = \"CONTENT_TOKEN\"\ntimeout_seconds = 17\nmax_bytes = 100",
        server.address()
    ));
    rig
}

/// The input that a model is shown of this content.
fn input(content: &str) -> Vec<u8> {
    serde_json::json!({ "text": content })
        .to_string()
        .into_bytes()
}

#[tokio::test]
async fn ten_deliveries_are_one_fetch_and_one_call() {
    let server = ContentServer::start(|_| text(CANARY)).await;
    let mut rig = rig(&server).await;
    let worker = rig.worker().await;
    for _ in 0..10 {
        rig.refer("1").await;
    }
    let key = rig.refer("1").await;
    assert_eq!(rig.view(key).await.input_from, InputOrigin::Reference);
    let mut shown = Vec::new();
    let (step, _) = rig
        .step(&worker, |asked| {
            shown = asked.input.clone();
            asked.answer(GOOD);
        })
        .await;
    assert_eq!((step, shown), (Step::Committed(key), input(CANARY)));
    assert_eq!(rig.view(key).await.input_from, InputOrigin::Fetched);
    let again = rig.store.ingest(reference("1")).await.unwrap();
    assert!(
        matches!(
            again,
            Ingested::Duplicate {
                content: Stored::Same,
                ..
            }
        ),
        "{again:?}"
    );
    let paths: Vec<_> = server.requests().into_iter().map(|it| it.path).collect();
    assert_eq!(paths, ["/1/abc"]);
    let logged = logged();
    assert!(!logged.contains(TOKEN) && !logged.contains(CANARY));
}

#[tokio::test]
async fn who_takes_over_after_the_input_was_kept_does_not_fetch_again() {
    let server = ContentServer::start(|request| text(&request.path)).await;
    let mut rig = rig(&server).await;
    let (first, second) = (rig.worker().await, rig.worker().await);
    let key = rig.refer("1").await;
    // A step that is dropped is a worker that was killed: here once it asks the model.
    tokio::select! {
        step = one_step(&first) => panic!("{step:?}"),
        asked = rig.calls.recv() => assert_eq!(asked.unwrap().input, input("/1/abc")),
    }
    rig.leases_run_out().await;
    assert_eq!(rig.answered(&second, GOOD).await.0, Step::Committed(key));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn who_is_killed_before_the_input_is_kept_leaves_nothing() {
    let gate = Gate::closed();
    let held = gate.clone();
    let server = ContentServer::start(move |_| text("late").after(&held)).await;
    let mut rig = rig(&server).await;
    let (first, second) = (rig.worker().await, rig.worker().await);
    let key = rig.refer("1").await;
    tokio::select! {
        step = one_step(&first) => panic!("{step:?}"),
        () = server.asked(1) => {}
    }
    assert_eq!(rig.view(key).await.input_from, InputOrigin::Reference);
    rig.leases_run_out().await;
    gate.open();
    assert_eq!(rig.answered(&second, GOOD).await.0, Step::Committed(key));
    assert_eq!(server.requests().len(), 2);
    let outcomes = [
        (Some(AttemptOutcome::LeaseLost), Charged::Yes),
        (Some(AttemptOutcome::Committed), Charged::Yes),
    ];
    assert_eq!(rig.outcomes(key).await, outcomes);
}

#[tokio::test]
async fn twenty_workers_on_one_reference_make_one_fetch_and_one_call() {
    let server = ContentServer::start(|_| text("here")).await;
    let mut rig = rig(&server).await;
    let key = rig.refer("1").await;
    let mut steps = JoinSet::new();
    for _ in 0..20 {
        let worker = rig.worker().await;
        steps.spawn(async move { one_step(&worker).await.unwrap() });
    }
    let asked = rig.asked().await;
    asked.answer(GOOD);
    let steps = within(steps.join_all()).await;
    let committed = steps.iter().filter(|step| **step == Step::Committed(key));
    assert_eq!(committed.count(), 1, "{steps:?}");
    rig.no_call();
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn content_that_comes_after_a_takeover_is_not_kept() {
    let gate = Gate::closed();
    let held = gate.clone();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = ContentServer::start(move |_| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => text("late").after(&held),
            _ => text("in time"),
        }
    })
    .await;
    let mut rig = rig(&server).await;
    let (first, second) = (rig.worker().await, rig.worker().await);
    let key = rig.refer("1").await;
    let (step, ()) = tokio::join!(one_step(&first), async {
        server.asked(1).await;
        rig.leases_run_out().await;
        let (step, _) = rig
            .step(&second, |asked| {
                assert_eq!(asked.input, input("in time"));
                asked.answer(GOOD);
            })
            .await;
        assert_eq!(step, Step::Committed(key));
        gate.open();
    });
    let step = step.unwrap();
    let lost = |step: &Step| {
        matches!(
            step,
            Step::Superseded {
                lost: Lost::Superseded { .. },
                ..
            }
        )
    };
    assert!(lost(&step), "{step:?}");
    let late = "SELECT count(*) FROM report WHERE CAST(input AS TEXT) LIKE '%late%'";
    assert_eq!(rig.number(late).await, 0);
}

#[tokio::test]
async fn a_heartbeat_keeps_a_long_fetch_and_a_lost_lease_drops_it() {
    let gate = Gate::closed();
    let held = gate.clone();
    let server = ContentServer::start(move |_| text("never").after(&held)).await;
    let rig = rig(&server).await;
    let (worker, other) = (rig.worker().await, rig.worker().await);
    let key = rig.refer("1").await;
    let timer = rig.timer.clone();
    let (step, ()) = tokio::join!(one_step(&worker), async {
        server.asked(1).await;
        timer.begun(BEAT).await;
        rig.leases_run_out().await;
        timer.end(BEAT).await;
        // The next wait begins when the heartbeat was answered.
        timer.begun(BEAT).await;
        let idle = one_step(&other).await.unwrap();
        assert!(matches!(idle, Step::Idle { .. }), "{idle:?}");
        rig.store.erase(key, "kim".to_owned()).await.unwrap();
        timer.end(BEAT).await;
    });
    let step = step.unwrap();
    assert!(matches!(step, Step::Superseded { .. }), "{step:?}");
}

#[tokio::test]
async fn what_fetching_again_would_not_help_goes_to_a_person_who_sees_why() {
    for (content, why) in [
        (
            Content::status(404, &[]),
            "the server has no content there (status 404)",
        ),
        (
            Content::status(410, &[]),
            "the server has no content there (status 410)",
        ),
        (
            text(&"x".repeat(101)),
            "the content has more than 100 bytes",
        ),
        (
            Content::status(302, &[("location", "http://169.254.169.254/")]),
            "the address leads to a host that `hosts` does not list",
        ),
    ] {
        let server = ContentServer::start(move |_| content.clone()).await;
        let mut rig = rig(&server).await;
        let worker = rig.worker().await;
        let key = rig.refer("1").await;
        assert_person(&mut rig, &worker, key, why).await;
    }
}

async fn assert_person(
    rig: &mut Rig,
    worker: &fencepost::worker::Worker,
    key: fencepost_identity::key::ReportKey,
    why: &str,
) {
    let step = one_step(worker).await.unwrap();
    assert_eq!(step, Step::SentToReview(key), "{why}");
    let invalid = (Some(AttemptOutcome::InvalidRequest), Charged::Yes);
    assert_eq!(rig.outcomes(key).await, [invalid], "{why}");
    let view = rig.view(key).await;
    assert_eq!(view.input_from, InputOrigin::Reference);
    let review = view.review.unwrap();
    let expected = format!("the input was not fetched: {why}");
    assert_eq!(review.reason, ReviewReason::InvalidRequest);
    assert_eq!(review.note.as_deref(), Some(expected.as_str()));
    let attempt = rig.attempts(key).await.remove(0);
    assert_eq!(attempt.reason, review.note);
    rig.no_call();
}

#[tokio::test]
async fn a_report_without_the_link_goes_to_a_person_who_is_told_which() {
    let server = ContentServer::start(|_| text("here")).await;
    let mut rig = rig(&server).await;
    let worker = rig.worker().await;
    let mut without = reference("1");
    without.links.clear();
    let key = without.identity.report_key();
    rig.store.ingest(without).await.unwrap();
    assert_person(&mut rig, &worker, key, "the report has no link `head`").await;
    assert_eq!(server.requests().len(), 0);
}

/// A newer configuration may be on its way to it; if none comes, a person is asked.
#[tokio::test]
async fn a_worker_that_does_not_know_the_source_leaves_the_report_to_others() {
    let mut rig = Rig::new().await;
    let worker = rig.worker().await;
    let key = rig.refer("1").await;
    let step = one_step(&worker).await.unwrap();
    let Step::Rescheduled { due, charge, .. } = step else {
        panic!("{step:?}")
    };
    assert_eq!(charge, Charge::GiveBack);
    let attempt = rig.attempts(key).await.remove(0);
    assert_eq!(due.since(attempt.ended.unwrap()), Duration::from_secs(60));
    let reason = attempt.reason.unwrap();
    assert!(reason.contains("source `comments`"), "{reason}");
    for _ in 1..6 {
        rig.waits_are_over().await;
        let step = one_step(&worker).await.unwrap();
        if step == Step::SentToReview(key) {
            break;
        }
        assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    }
    let state = rig.state(key).await;
    assert_eq!(state, State::ReadyForReview);
    rig.no_call();
}

#[tokio::test]
async fn what_passes_by_itself_is_put_off_and_not_charged() {
    let after = |seconds| Some(Duration::from_secs(seconds));
    let respond = |status, headers: &[(&'static str, &str)]| Content::status(status, headers);
    for (content, outcome, wait) in [
        (respond(500, &[]), AttemptOutcome::Overloaded, None),
        (
            respond(503, &[("retry-after", "30")]),
            AttemptOutcome::Overloaded,
            after(30),
        ),
        (
            respond(429, &[("retry-after", "40")]),
            AttemptOutcome::RateLimited,
            after(40),
        ),
        (
            respond(403, &[("retry-after", "50")]),
            AttemptOutcome::RateLimited,
            after(50),
        ),
        (
            Content::BreakOff("half".to_owned()),
            AttemptOutcome::Transport,
            None,
        ),
    ] {
        let server = ContentServer::start(move |_| content.clone()).await;
        let mut rig = rig(&server).await;
        let worker = rig.worker().await;
        let key = rig.refer("1").await;
        let step = one_step(&worker).await.unwrap();
        let Step::Rescheduled { due, charge, .. } = step else {
            panic!("{step:?}")
        };
        assert_eq!(charge, Charge::GiveBack);
        assert_eq!(rig.outcomes(key).await, [(Some(outcome), Charged::No)]);
        let ended = rig.attempts(key).await.remove(0).ended.unwrap();
        assert_eq!(due.since(ended), wait.unwrap_or_default(), "{outcome}");
        rig.no_call();
    }
}

#[tokio::test]
async fn a_server_that_is_down_for_a_while_is_asked_until_it_is_up() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = ContentServer::start(move |_| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0..2 => Content::status(502, &[]),
            _ => text("here"),
        }
    })
    .await;
    let mut rig = rig(&server).await;
    let worker = rig.worker().await;
    let key = rig.refer("1").await;
    for _ in 0..2 {
        let step = one_step(&worker).await.unwrap();
        assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    }
    assert_eq!(rig.answered(&worker, GOOD).await.0, Step::Committed(key));
}

#[tokio::test]
async fn content_that_takes_too_long_is_given_up() {
    let server = ContentServer::start(|_| Content::Unfinished("begun".to_owned())).await;
    let mut rig = rig(&server).await;
    let worker = rig.worker().await;
    let key = rig.refer("1").await;
    let timer = rig.timer.clone();
    let (step, ()) = tokio::join!(one_step(&worker), async {
        server.asked(1).await;
        timer.end(TIMEOUT).await;
    });
    let step = step.unwrap();
    assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    let timeout = (Some(AttemptOutcome::Timeout), Charged::No);
    assert_eq!(rig.outcomes(key).await, [timeout]);
    rig.no_call();
}

#[tokio::test]
async fn a_refused_token_is_paused_and_a_probe_ends_it() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let server = ContentServer::start(move |_| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => Content::status(401, &[]),
            _ => text("here"),
        }
    })
    .await;
    let mut rig = rig(&server).await;
    let worker = rig.worker().await;
    let key = rig.refer("1").await;
    let other = rig.refer("2").await;
    let step = one_step(&worker).await.unwrap();
    assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    let pauses = rig.store.pauses().await.unwrap();
    assert_eq!(pauses.len(), 1);
    assert_eq!(pauses[0].subject.to_string(), "credential CONTENT_TOKEN");
    assert_eq!(pauses[0].reason, PauseReason::Auth);
    assert!(matches!(pauses[0].subject, Subject::Credential(_)));
    let idle = one_step(&worker).await.unwrap();
    assert!(matches!(idle, Step::Idle { wait: Some(_) }), "{idle:?}");
    assert_eq!(server.requests().len(), 1, "nobody else is tried with it");
    rig.probes_are_due().await;
    rig.waits_are_over().await;
    let mut done = vec![rig.answered(&worker, GOOD).await.0];
    assert_eq!(rig.store.pauses().await.unwrap(), []);
    done.push(rig.answered(&worker, GOOD).await.0);
    for key in [key, other] {
        assert!(done.contains(&Step::Committed(key)), "{done:?}");
    }
    let auth = (Some(AttemptOutcome::Auth), Charged::No);
    assert_eq!(rig.outcomes(key).await[0], auth);
}

#[tokio::test]
async fn a_worker_that_stops_gives_the_fetch_back() {
    let server = ContentServer::start(|_| Content::Unfinished(String::new())).await;
    let rig = rig(&server).await;
    let worker = rig.worker().await;
    let key = rig.refer("1").await;
    let (step, ()) = tokio::join!(one_step(&worker), async {
        server.asked(1).await;
        rig.stop.halt();
    });
    let step = step.unwrap();
    assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    let released = (Some(AttemptOutcome::Released), Charged::No);
    assert_eq!(rig.outcomes(key).await, [released]);
    // Whoever is to stop begins none.
    let step = one_step(&worker).await.unwrap();
    assert!(matches!(step, Step::Rescheduled { .. }), "{step:?}");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(rig.outcomes(key).await, [released; 2]);
    assert_eq!(rig.state(key).await, State::Accepted);
}

#[tokio::test]
async fn an_input_is_written_again_when_the_database_fails_and_not_fetched() {
    let server = ContentServer::start(|_| text("here")).await;
    let mut rig = rig(&server).await;
    let errors = [StoreError::Busy, StoreError::Unavailable(String::new())];
    let store = Arc::new(Failing::at_input(Arc::clone(&rig.store), errors));
    let worker = rig.worker_on(store).await;
    let key = rig.refer("1").await;
    let timer = rig.timer.clone();
    let ends = async {
        for _ in 0..2 {
            timer.end(Duration::ZERO).await;
        }
    };
    let ((step, _), ()) = tokio::join!(rig.answered(&worker, GOOD), ends);
    assert_eq!(step, Step::Committed(key));
    assert_eq!(server.requests().len(), 1);
}
