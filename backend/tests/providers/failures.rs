//! What every extractor makes of a status, whatever is or is not said with it.

use std::time::Duration;

use fencepost::extractor::{Disposition, Failure, Inference, OutputCap, Usage};
use fencepost_model::{Behaviour, ModelServer, in_turn};

use crate::who::{
    ALL, BROKEN, GEMINI, LIMITED, OVERLOADED, QUOTA, SCHEMA, TOOL, ask, responding, settings,
};

/// What a status means where nothing else is said.
const STATUSES: [(u16, Failure); 27] = [
    (204, BROKEN),
    (302, BROKEN),
    (400, Failure::InvalidRequest),
    (401, Failure::Auth),
    (402, QUOTA),
    (403, Failure::Auth),
    (404, Failure::InvalidRequest),
    (405, Failure::InvalidRequest),
    (408, BROKEN),
    (409, BROKEN),
    (413, Failure::InvalidRequest),
    (415, Failure::InvalidRequest),
    (422, Failure::InvalidRequest),
    (425, BROKEN),
    (429, LIMITED),
    (500, BROKEN),
    (501, BROKEN),
    (502, BROKEN),
    (503, OVERLOADED),
    (504, BROKEN),
    (520, BROKEN),
    (521, BROKEN),
    (522, BROKEN),
    (523, BROKEN),
    (524, BROKEN),
    (529, OVERLOADED),
    (599, BROKEN),
];

#[tokio::test]
async fn a_status_has_its_class_whoever_answers() {
    for who in ALL {
        for (status, expected) in STATUSES {
            let failure = who.failure(who.error(status)).await;
            assert_eq!(failure, expected, "{who:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_status_counts_even_where_its_body_says_nothing() {
    for who in ALL {
        for body in [
            &b"<html>413 Request Entity Too Large</html>"[..],
            b"",
            b"{}",
            b"[]",
            b"{\"error\":\"busy\"}",
            b"{\"error\":{}}",
            b"{\"error\":[]}",
            b"\xff",
        ] {
            for (status, expected) in [
                (400, Failure::InvalidRequest),
                (413, Failure::InvalidRequest),
                (429, LIMITED),
                (500, BROKEN),
                (503, OVERLOADED),
                (529, OVERLOADED),
            ] {
                let failure = who.failure(responding(status, body)).await;
                assert_eq!(failure, expected, "{who:?} {status} {body:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_providers_own_time_is_heard() {
    for (headers, milliseconds) in [
        (&[("retry-after", "7")][..], Some(7_000)),
        (&[("retry-after", "1.5")], Some(1_500)),
        (&[("retry-after-ms", "250")], Some(250)),
        // The more precise one, unless it is none.
        (
            &[("retry-after", "7"), ("retry-after-ms", "250")],
            Some(250),
        ),
        (
            &[("retry-after", "7"), ("retry-after-ms", "soon")],
            Some(7_000),
        ),
        (
            &[("retry-after", "Mon, 01 Mar 2027 10:00:42 GMT")],
            Some(42_000),
        ),
        (&[("retry-after", "Mon, 01 Mar 2027 09:59:59 GMT")], None),
        (&[("retry-after", "0")], None),
        (&[("retry-after", "-5")], None),
        (&[("retry-after", "NaN")], None),
        (&[("retry-after", "soon")], None),
        (&[("retry-after-ms", "-1")], None),
        (&[], None),
    ] {
        let retry_after = milliseconds.map(Duration::from_millis);
        let with = |behaviour: Behaviour| {
            let headers = headers.iter();
            headers.fold(behaviour, |behaviour, (name, value)| {
                behaviour.with(name, *value)
            })
        };
        for who in ALL {
            let limited = who.failure(with(who.error(429))).await;
            let expected = Failure::RateLimited { retry_after };
            assert_eq!(limited, expected, "{who:?} {headers:?}");
            let overloaded = who.failure(with(responding(503, ""))).await;
            let expected = Failure::Overloaded { retry_after };
            assert_eq!(overloaded, expected, "{who:?} {headers:?}");
            let snooze = Disposition::Snooze {
                retry_after,
                inference: Inference::NotBegun,
            };
            assert_eq!(overloaded.disposition(), snooze, "{who:?} {headers:?}");
        }
    }
}

#[tokio::test]
async fn an_attempt_tells_who_was_asked_and_the_providers_id() {
    for who in ALL {
        let id = "req_of_the_gateway";
        let busy = who.error(503).with("x-request-id", id);
        let busy = busy.with("request-id", id).with("x-amzn-requestid", id);
        let call = who.once(busy).await.unwrap_err().call;
        assert_eq!(
            (call.provider.as_str(), call.model.as_str()),
            (who.provider(), "asked")
        );
        assert_eq!(call.request_id.unwrap().as_str(), id, "{who:?}");
        assert_eq!(call.usage, Usage::default(), "{who:?}");
    }
}

#[tokio::test]
async fn without_a_key_the_provider_says_so() {
    // Other servers that speak OpenAI's form want none, and Amazon has other credentials.
    for who in [SCHEMA, TOOL, GEMINI] {
        let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
        let extractor = who.with(settings(&server.base_url()), None);
        let error = ask(&*extractor, OutputCap::Ordinary).await.unwrap_err();
        assert_eq!(error.failure, Failure::Auth, "{who:?}");
        assert_eq!(server.calls(), [], "{who:?}");
    }
}
