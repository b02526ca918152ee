//! What follows over several attempts, with every extractor.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fencepost::{
    report::{AttemptOutcome, Outcome, ReviewReason, State},
    store::{Charge, CredentialName, PauseReason, Replayed, Subject},
    worker::Step,
};
use fencepost_model::{Behaviour, Call, ModelServer, in_turn};
use tokio::net::TcpSocket;

use super::{
    Asked, FINE,
    bench::{Bench, Case},
};
use crate::who::{ALL, Who, answering};

fn fine() -> Behaviour {
    Behaviour::Answer(FINE.to_owned())
}

fn keys(server: &ModelServer) -> Vec<String> {
    let calls = server.calls().into_iter();
    calls.map(|call| call.call_key).collect()
}

async fn moderating(bench: &Bench, server: &ModelServer) -> Case {
    let pipeline = bench.pipeline("moderation", Asked::Moderation, &server.base_url());
    bench.case(pipeline).await
}

/// Steps until a step is none of those that another follows.
async fn settled(case: &Case) -> Step {
    loop {
        let step = case.worker.step().await.unwrap();
        if !matches!(step, Step::Rejected { .. } | Step::Rescheduled { .. }) {
            return step;
        }
    }
}

#[tokio::test]
async fn what_passes_is_waited_out_and_the_same_question_is_asked_again() {
    for who in ALL {
        let server = ModelServer::start(in_turn([
            who.error(529),
            who.error(503),
            who.error(429),
            who.error(520),
            Behaviour::HangUp,
            fine(),
        ]));
        let bench = Bench::new(who).await;
        let case = moderating(&bench, &server).await;
        let key = bench.ingest("moderation", "1").await;
        assert_eq!(settled(&case).await, Step::Committed(key), "{who:?}");
        let outcomes = [
            (AttemptOutcome::Overloaded, false),
            (AttemptOutcome::Overloaded, false),
            (AttemptOutcome::RateLimited, false),
            (AttemptOutcome::Transport, true),
            (AttemptOutcome::Transport, true),
            (AttemptOutcome::Committed, true),
        ];
        let outcomes = outcomes.map(|(outcome, charged)| (Some(outcome), charged));
        assert_eq!(bench.outcomes(key).await, outcomes, "{who:?}");
        let calls = server.calls();
        let first: Call = calls[0].clone();
        let same =
            |call: &Call| call.call_key == first.call_key && call.body_sha256 == first.body_sha256;
        assert!(
            calls.len() == 6 && calls.iter().all(same),
            "{who:?} {calls:?}"
        );
    }
}

#[tokio::test]
async fn a_wrong_answer_makes_the_next_question_another_one_until_attempts_are_spent() {
    for who in ALL {
        let wrong = FINE.replace("other", "none");
        let server = ModelServer::start(in_turn([Behaviour::Answer(wrong)]));
        let bench = Bench::new(who).await;
        let case = moderating(&bench, &server).await;
        let key = bench.ingest("moderation", "1").await;
        assert_eq!(settled(&case).await, Step::SentToReview(key), "{who:?}");
        let wrong = (Some(AttemptOutcome::SchemaInvalid), true);
        assert_eq!(bench.outcomes(key).await, [wrong; 3], "{who:?}");
        let review = bench.view(key).await.review.unwrap();
        assert_eq!(review.reason, ReviewReason::AttemptsSpent, "{who:?}");
        let mut keys = keys(&server);
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 3, "{who:?}");
        // What a provider allows of an id of ours: 64 hexadecimal digits in small letters.
        let fits = |key: &String| {
            let digits = key.bytes();
            key.len() == 64
                && digits
                    .into_iter()
                    .all(|digit| b"0123456789abcdef".contains(&digit))
        };
        assert!(keys.iter().all(fits), "{who:?} {keys:?}");
    }
}

#[tokio::test]
async fn a_cut_answer_is_asked_for_once_more_with_room_for_a_longer_one() {
    for who in ALL {
        for (second, step) in [
            (cut(who), Step::SentToReview as fn(_) -> _),
            (fine(), Step::Committed),
        ] {
            let caps = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&caps);
            let script = in_turn([cut(who), second]);
            let server = ModelServer::start(move |asked| {
                heard.lock().unwrap().push(who.cap(&asked.request));
                script(asked)
            });
            let bench = Bench::new(who).await;
            let case = moderating(&bench, &server).await;
            let key = bench.ingest("moderation", "1").await;
            assert_eq!(settled(&case).await, step(key), "{who:?}");
            assert_eq!(*caps.lock().unwrap(), [Some(100), Some(400)], "{who:?}");
            let view = bench.view(key).await;
            match view.review {
                Some(review) => assert_eq!(review.reason, ReviewReason::Truncated, "{who:?}"),
                None => assert_eq!(view.summary.state, State::Terminal(Outcome::Committed)),
            }
        }
    }
}

fn cut(who: Who) -> Behaviour {
    answering(who.ended(who.cut_off()[0], FINE).to_string())
}

#[tokio::test]
async fn a_credential_that_is_refused_is_shown_no_more_until_it_is_resumed() {
    for who in ALL {
        for (status, reason) in [(401, PauseReason::Auth), (402, PauseReason::Quota)] {
            let server = ModelServer::start(in_turn([who.error(status), fine()]));
            let bench = Bench::new(who).await;
            let case = moderating(&bench, &server).await;
            let keys = [
                bench.ingest("moderation", "1").await,
                bench.ingest("moderation", "2").await,
            ];
            let step = case.worker.step().await.unwrap();
            let given_back = matches!(
                step,
                Step::Rescheduled { key, charge: Charge::GiveBack, .. } if key == keys[0]
            );
            assert!(given_back, "{who:?} {step:?}");
            let idle = case.worker.step().await.unwrap();
            assert!(
                matches!(idle, Step::Idle { wait: Some(_) }),
                "{who:?} {idle:?}"
            );
            assert_eq!(server.calls().len(), 1, "{who:?}");
            let subject = Subject::Credential(CredentialName::new("moderation"));
            let pauses = bench.store.pauses().await.unwrap();
            assert_eq!((&pauses[0].subject, pauses[0].reason), (&subject, reason));
            bench.store.resume(subject, "kim".to_owned()).await.unwrap();
            for _ in keys {
                let step = case.worker.step().await.unwrap();
                assert!(matches!(step, Step::Committed(_)), "{who:?} {step:?}");
            }
        }
    }
}

/// TanStack/ai #682: refused for its schema, and so for each report, it is not asked for each.
#[tokio::test]
async fn a_question_that_is_never_taken_is_not_put_for_every_report() {
    for who in ALL {
        let server = ModelServer::start(in_turn([who.error(400)]));
        let bench = Bench::new(who).await;
        let case = moderating(&bench, &server).await;
        for id in ["1", "2", "3", "4"] {
            bench.ingest("moderation", id).await;
        }
        for _ in 0..3 {
            let step = case.worker.step().await.unwrap();
            assert!(matches!(step, Step::SentToReview(_)), "{who:?} {step:?}");
        }
        let idle = case.worker.step().await.unwrap();
        assert!(
            matches!(idle, Step::Idle { wait: Some(_) }),
            "{who:?} {idle:?}"
        );
        assert_eq!(server.calls().len(), 3, "{who:?}");
        let pauses = bench.store.pauses().await.unwrap();
        let subject = Subject::Pipeline("moderation".to_owned());
        assert_eq!(
            (&pauses[0].subject, pauses[0].reason),
            (&subject, PauseReason::InvalidRequest)
        );
    }
}

#[tokio::test]
async fn only_a_call_that_was_not_sent_is_given_back() {
    // Kept, so that nobody else gets the port, and never listened on.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nobody = format!("http://{}/v1", socket.local_addr().unwrap());
    for who in ALL {
        let silent = ModelServer::start(in_turn([Behaviour::Hang]));
        let bench = Bench::new(who).await;
        for (name, base_url, call_timeout, outcome, charge) in [
            (
                "nobody",
                &nobody,
                Duration::from_secs(45),
                AttemptOutcome::Transport,
                Charge::GiveBack,
            ),
            (
                "silent",
                &silent.base_url(),
                Duration::ZERO,
                AttemptOutcome::Timeout,
                Charge::Keep,
            ),
        ] {
            let mut pipeline = bench.pipeline(name, Asked::Moderation, base_url);
            pipeline.call_timeout = call_timeout;
            let case = bench.case(pipeline).await;
            let key = bench.ingest(name, "1").await;
            let step = case.worker.step().await.unwrap();
            let as_expected = matches!(step, Step::Rescheduled { charge: is, .. } if is == charge);
            assert!(as_expected, "{who:?} {name} {step:?}");
            let expected = (Some(outcome), charge == Charge::Keep);
            assert_eq!(bench.outcomes(key).await, [expected], "{who:?}");
        }
    }
}

#[tokio::test]
async fn nobody_holds_a_lease_while_a_provider_wants_to_be_left_alone_for_longer() {
    for who in ALL {
        let busy = who.error(429).with("retry-after", "3600");
        let server = ModelServer::start(in_turn([busy]));
        let bench = Bench::new(who).await;
        let case = moderating(&bench, &server).await;
        let key = bench.ingest("moderation", "1").await;
        case.worker.step().await.unwrap();
        assert_eq!(
            bench.view(key).await.summary.state,
            State::Accepted,
            "{who:?}"
        );
        let idle = case.worker.step().await.unwrap();
        let Step::Idle { wait: Some(wait) } = idle else {
            panic!("{who:?} {idle:?}")
        };
        let minutes = Duration::from_secs(59 * 60)..=Duration::from_secs(60 * 60);
        assert!(minutes.contains(&wait), "{who:?} {wait:?}");
        assert_eq!(server.calls().len(), 1, "{who:?}");
    }
}

/// langfuse #17522: what was asked otherwise is other work, though it is about the same report.
#[tokio::test]
async fn another_prompt_is_another_extraction_of_the_same_report() {
    for who in ALL {
        let newer = FINE.replace("other", "spam");
        let server = ModelServer::start(in_turn([fine(), Behaviour::Answer(newer.clone())]));
        let bench = Bench::new(who).await;
        let case = moderating(&bench, &server).await;
        let key = bench.ingest("moderation", "1").await;
        assert_eq!(settled(&case).await, Step::Committed(key), "{who:?}");
        let mut pipeline = bench.pipeline("moderation", Asked::Moderation, &server.base_url());
        "Classify it with care.".clone_into(&mut pipeline.judge.prompt);
        "moderation-8".clone_into(&mut pipeline.versions.classifier_version);
        pipeline.versions.classifier_digest = [9; 32];
        let case = bench.case(pipeline).await;
        let version = "moderation-8".to_owned();
        let replayed = bench.store.replay(key, version, "kim".to_owned()).await;
        assert_eq!(replayed.unwrap(), Replayed::Made, "{who:?}");
        assert_eq!(settled(&case).await, Step::Committed(key), "{who:?}");
        let committed = (Some(AttemptOutcome::Committed), true);
        assert_eq!(bench.outcomes(key).await, [committed; 2], "{who:?}");
        assert_eq!(
            bench.view(key).await.result.unwrap().value,
            newer,
            "{who:?}"
        );
        let calls = server.calls();
        assert_eq!(calls.len(), 2, "{who:?}");
        assert_ne!(calls[0].call_key, calls[1].call_key, "{who:?}");
        assert_ne!(calls[0].body_sha256, calls[1].body_sha256, "{who:?}");
        assert_eq!(bench.store.stats().await.unwrap().results, 1, "{who:?}");
    }
}
