//! Further cases: right deliveries, damaged at random.

use std::collections::BTreeMap;

use crate::{Case, Expected, Judgement, Origin, Reference, Verdict, cases, configurations};

mod chance;
mod damage;

use self::{chance::Chance, damage::damage};

/// As many cases as are asked for, over all configurations; the same seed gives the same ones.
///
/// What has to come of each is what [`Reference`] says. Deliveries that it can't decide alone, such
/// as a token beside another body, are not among them.
///
/// # Panics
/// Where `cases.json` is malformed.
#[must_use]
pub fn generated(seed: u64, count: usize) -> Vec<Case> {
    let judges: BTreeMap<String, Reference> = configurations()
        .iter()
        .map(|(name, configuration)| (name.clone(), Reference::new(configuration)))
        .collect();
    let right = right_deliveries(&judges);
    let names: Vec<&String> = right.keys().collect();
    let all: Vec<&Case> = right.values().flatten().collect();
    let mut chance = Chance::new(seed);
    let mut generated = Vec::with_capacity(count);
    while generated.len() < count {
        let configuration = *chance.pick(&names);
        let siblings: Vec<&Case> = right[configuration].iter().collect();
        let original = *chance.pick(&siblings);
        let others = if chance.one_in(2) { &siblings } else { &all };
        let mut case = original.clone();
        let mut done = vec![];
        for _ in 0..=chance.below(2) {
            done.push(damage(&mut case, others, &mut chance));
        }
        if !can_be_sent(&case) {
            continue;
        }
        let judgement = judges[configuration].judge(&case);
        if let Some(expect) = expected(judgement, &case, original) {
            let number = generated.len();
            let done = done.join(", ");
            case.name = format!("{seed}/{number}: {done}: {}", original.name);
            case.from = Origin::Generated;
            case.expect = expect;
            generated.push(case);
        }
    }
    generated
}

/// The cases that are accepted for their signature, by configuration. A delivery that claims
/// another host stays as it is: it could not be sent with that claim damaged.
fn right_deliveries(judges: &BTreeMap<String, Reference>) -> BTreeMap<String, Vec<Case>> {
    let mut right: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases() {
        let accepted = case.expect.verdict == Verdict::Accepted
            && judges[&case.configuration].judge(&case) == Judgement::Holds;
        let hosted = case.headers.iter().any(|header| header.name == "Host");
        if accepted && !hosted {
            let name = case.configuration.clone();
            right.entry(name).or_default().push(case);
        }
    }
    right
}

/// Whether HTTP carries it as it is.
fn can_be_sent(case: &Case) -> bool {
    case.headers.iter().all(|header| {
        let value = header.value.as_slice();
        let carried = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
        value.trim_ascii() == value && value.iter().all(carried)
    })
}

/// How the body says that it is coded.
fn codings(case: &Case) -> Vec<&[u8]> {
    let named = |name: &str| name.eq_ignore_ascii_case("content-encoding");
    let headers = case.headers.iter();
    let coded = headers.filter(|header| named(&header.name));
    coded.map(|header| header.value.as_slice()).collect()
}

fn expected(judgement: Judgement, case: &Case, original: &Case) -> Option<Expected> {
    let refused = |status, code: &str| Expected {
        verdict: Verdict::Refused,
        status,
        code: Some(code.to_owned()),
        reason: None,
        answer: None,
    };
    match judgement {
        // What the payload is worth is only known of the original's.
        Judgement::Holds => {
            let same = case.body == original.body
                && case.tenant == original.tenant
                && codings(case) == codings(original);
            same.then(|| Expected {
                reason: None,
                ..original.expect.clone()
            })
        }
        Judgement::Refused(code) => {
            let status = match code {
                "unauthorized" => 401,
                "too_large" => 413,
                "unsupported_content_encoding" => 415,
                _ => 400,
            };
            Some(refused(status, code))
        }
        Judgement::Misconfigured => Some(Expected {
            verdict: Verdict::Misconfigured,
            ..refused(503, "misconfigured")
        }),
        Judgement::Elsewhere => None,
    }
}
