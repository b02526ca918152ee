//! The second implementation and `cases.json` say the same.

use std::collections::BTreeMap;

use fencepost_conformance::{Case, Judgement, Reference, Verdict, cases, configurations};

/// What is only found out once a signature holds.
const OF_THE_PAYLOAD: [&str; 11] = [
    "bad_handshake",
    "control_character",
    "duplicate_member",
    "empty_field",
    "field_too_long",
    "invalid_form",
    "invalid_json",
    "lone_surrogate",
    "missing_field",
    "not_an_identifier",
    "tenant_not_allowed",
];

#[test]
fn it_agrees_with_every_case_that_signatures_decide() {
    let judges: BTreeMap<_, _> = configurations()
        .iter()
        .map(|(name, configuration)| (name.clone(), Reference::new(configuration)))
        .collect();
    let (mut decided, mut differing) = (0, vec![]);
    for case in cases() {
        let judgement = judges[&case.configuration].judge(&case);
        if judgement != Judgement::Elsewhere {
            decided += 1;
        }
        if !agrees(judgement, &case) {
            differing.push(format!("{}: {judgement:?}", case.name));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(decided > 900, "{decided}");
}

fn agrees(judgement: Judgement, case: &Case) -> bool {
    let expect = &case.expect;
    let code = expect.code.as_deref().unwrap_or_default();
    let reason = expect.reason.as_deref().unwrap_or(code);
    match judgement {
        Judgement::Holds => match expect.verdict {
            Verdict::Accepted | Verdict::Ignored | Verdict::Handshake => true,
            Verdict::Refused => OF_THE_PAYLOAD.contains(&reason),
            Verdict::Misconfigured => false,
        },
        Judgement::Refused(said) => expect.verdict == Verdict::Refused && code == said,
        Judgement::Misconfigured => expect.verdict == Verdict::Misconfigured,
        // Nothing is ever taken in without a signature that was looked at.
        Judgement::Elsewhere => !matches!(expect.verdict, Verdict::Accepted | Verdict::Ignored),
    }
}
