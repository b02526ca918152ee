//! For how long a provider wants to be left alone. The clock of these tests stands at
//! 2027-03-01T10:00:00Z.

use std::time::Duration;

use fencepost::{
    report::AttemptOutcome,
    store::{Charge, PauseReason},
};
use fencepost_model::Behaviour;
use serde_json::json;

use super::{Comes, Row};
use crate::who::{Who, responding};

const DAY: u64 = 24 * 60 * 60 * 1000;

type Headers = &'static [(&'static str, &'static str)];

/// Headers, and how many milliseconds they mean; nothing, where they are none.
const TIMES: [(Headers, Option<u64>); 32] = [
    (&[], None),
    (&[("retry-after", "7")], Some(7_000)),
    (&[("retry-after", " 7 ")], Some(7_000)),
    (&[("retry-after", "1.5")], Some(1_500)),
    (&[("retry-after", "0.25")], Some(250)),
    (&[("retry-after-ms", "250")], Some(250)),
    (&[("retry-after-ms", "250.5")], Some(250)),
    (
        &[("retry-after", "7"), ("retry-after-ms", "250")],
        Some(250),
    ),
    (
        &[("retry-after", "7"), ("retry-after-ms", "soon")],
        Some(7_000),
    ),
    (
        &[("retry-after", "7"), ("retry-after-ms", "0")],
        Some(7_000),
    ),
    (
        &[("retry-after", "Mon, 01 Mar 2027 10:00:42 GMT")],
        Some(42_000),
    ),
    (
        &[("retry-after", "Monday, 01-Mar-27 10:00:42 GMT")],
        Some(42_000),
    ),
    (&[("retry-after", "Mon Mar  1 10:00:42 2027")], Some(42_000)),
    // Longer than the lease, which is given back: nobody holds it meanwhile.
    (&[("retry-after", "3600")], Some(3_600_000)),
    // The time for the whole job is over by then.
    (&[("retry-after", "99999999999999999999")], Some(DAY)),
    (
        &[("retry-after", "Wed, 01 Mar 2028 10:00:00 GMT")],
        Some(DAY),
    ),
    // Digits are seconds and never a year.
    (&[("retry-after", "2028")], Some(2_028_000)),
    (&[("retry-after", "0")], None),
    (&[("retry-after", "0.0")], None),
    (&[("retry-after", "-5")], None),
    (&[("retry-after", "+5")], None),
    (&[("retry-after", "1e3")], None),
    (&[("retry-after", "NaN")], None),
    (&[("retry-after", "inf")], None),
    (&[("retry-after", "soon")], None),
    (&[("retry-after", "5s")], None),
    (&[("retry-after", "1, 2")], None),
    (&[("retry-after", "")], None),
    (&[("retry-after", "Mon, 01 Mar 2027 10:00:00 GMT")], None),
    (&[("retry-after", "Mon, 01 Mar 2027 09:59:59 GMT")], None),
    (&[("retry-after-ms", "-1")], None),
    (&[("retry-after-ms", "NaN")], None),
];

fn with(behaviour: Behaviour, headers: &[(&'static str, &str)]) -> Behaviour {
    let headers = headers.iter();
    headers.fold(behaviour, |behaviour, (name, value)| {
        behaviour.with(name, *value)
    })
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = of_headers();
    rows.extend(of_bodies());
    rows
}

fn of_headers() -> Vec<Row> {
    let mut rows = Vec::new();
    for (headers, milliseconds) in TIMES {
        let wait = milliseconds.map(Duration::from_millis);
        for (status, comes) in [
            (
                429,
                Comes::Later(AttemptOutcome::RateLimited, Charge::GiveBack, wait),
            ),
            (
                503,
                Comes::Later(AttemptOutcome::Overloaded, Charge::GiveBack, wait),
            ),
            (402, Comes::Paused(PauseReason::Quota, wait)),
        ] {
            rows.push(Row::own(
                "a time in a header",
                move |who| Some(with(who.error(status), headers)),
                comes,
            ));
        }
    }
    // A status that names no wait of its own has none, whatever a gateway adds.
    let busy = responding(502, "").with("retry-after", "7");
    let later = Comes::Later(AttemptOutcome::Transport, Charge::Keep, None);
    rows.push(Row::behaviour("a time with an error", busy, later));
    rows
}

fn of_bodies() -> Vec<Row> {
    [
        ("37s", None, Some(37_000)),
        ("1.5s", None, Some(1_500)),
        ("3600s", None, Some(3_600_000)),
        ("37s", Some("7"), Some(7_000)),
        ("37s", Some("soon"), Some(37_000)),
        ("0s", None, None),
        ("-3s", None, None),
        ("37", None, None),
        ("soon", None, None),
        ("", None, None),
    ]
    .into_iter()
    .map(|(delay, header, milliseconds)| {
        let wait = milliseconds.map(Duration::from_millis);
        let said = move |who| match who {
            Who::Gemini => {
                let kind = "type.googleapis.com/google.rpc.RetryInfo";
                let details = [json!({ "@type": kind, "retryDelay": delay })];
                let said = Behaviour::google_error(429, "RESOURCE_EXHAUSTED", "", &details);
                let header = header.map(|value| ("retry-after", value));
                Some(with(said, header.as_slice()))
            }
            Who::OpenAi(_) | Who::Anthropic(_) | Who::Bedrock(_) => None,
        };
        let limited = Comes::Later(AttemptOutcome::RateLimited, Charge::GiveBack, wait);
        Row::own("a time in the body", said, limited)
    })
    .collect()
}
