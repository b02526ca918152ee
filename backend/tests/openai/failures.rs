use std::time::Duration;

use fencepost::extractor::Disposition;

use super::*;

const LIMITED: Failure = Failure::RateLimited { retry_after: None };
const QUOTA: Failure = Failure::Quota { retry_after: None };
const OVERLOADED: Failure = Failure::Overloaded { retry_after: None };

#[tokio::test]
async fn every_status_has_its_class() {
    for (status, code, expected) in [
        (400, "invalid_json_schema", Failure::InvalidRequest),
        (400, "context_length_exceeded", Failure::ContextTooLong),
        (401, "invalid_api_key", Failure::Auth),
        (402, "", QUOTA),
        (403, "unsupported_country_region_territory", Failure::Auth),
        (404, "model_not_found", Failure::InvalidRequest),
        (405, "", Failure::InvalidRequest),
        (408, "timeout", BROKEN),
        (409, "", BROKEN),
        (413, "", Failure::InvalidRequest),
        (415, "", Failure::InvalidRequest),
        (422, "", Failure::InvalidRequest),
        (425, "", BROKEN),
        (429, "rate_limit_exceeded", LIMITED),
        (429, "insufficient_quota", QUOTA),
        (500, "server_error", BROKEN),
        (502, "", BROKEN),
        (503, "", OVERLOADED),
        (504, "", BROKEN),
        (520, "", BROKEN),
        (529, "overloaded_error", OVERLOADED),
        (204, "", BROKEN),
        (302, "", BROKEN),
    ] {
        let behaviour = Behaviour::error(status, "some_type", Some(code));
        assert_eq!(failure(behaviour).await, expected, "{status} {code}");
    }
}

#[tokio::test]
async fn a_status_counts_even_where_its_body_says_nothing() {
    for body in [
        &b"<html>busy</html>"[..],
        b"",
        b"{\"error\":\"busy\"}",
        b"[]",
        b"\xff",
    ] {
        let behaviour = |status| Behaviour::Respond {
            status,
            headers: Vec::new(),
            body: body.to_vec(),
        };
        assert_eq!(failure(behaviour(429)).await, LIMITED, "{body:?}");
        assert_eq!(failure(behaviour(503)).await, OVERLOADED, "{body:?}");
        assert_eq!(
            failure(behaviour(400)).await,
            Failure::InvalidRequest,
            "{body:?}"
        );
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
        let limited = with(Behaviour::error(429, "requests", None));
        let expected = Failure::RateLimited { retry_after };
        assert_eq!(failure(limited).await, expected, "{headers:?}");
        let overloaded = failure(with(Behaviour::overloaded())).await;
        let Disposition::Snooze {
            retry_after: heard,
            inference,
        } = overloaded.disposition()
        else {
            panic!("{overloaded:?}");
        };
        assert_eq!(
            (heard, inference),
            (retry_after, Inference::NotBegun),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn an_attempt_tells_who_was_asked_and_the_providers_id() {
    let behaviour = Behaviour::overloaded().with("x-request-id", "req_of_the_gateway");
    let call = once(behaviour).await.unwrap_err().call;
    assert_eq!(
        (call.provider.as_str(), call.model.as_str()),
        ("openai", "asked")
    );
    assert_eq!(call.request_id.unwrap().as_str(), "req_of_the_gateway");
    assert_eq!(call.usage, Usage::default());
}
