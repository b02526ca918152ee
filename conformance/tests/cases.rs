//! What `cases.json` promises about itself.

use std::collections::BTreeSet;

use fencepost_conformance::{
    Case, Origin, Verdict, cases, configurations, left_out, refused_configurations, toml, variables,
};

#[test]
fn there_are_many_cases_and_each_is_named_once() {
    let cases = cases();
    assert!(cases.len() >= 330, "{}", cases.len());
    let names: BTreeSet<_> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.iter().all(|case| case.from != Origin::Generated));
}

#[test]
fn every_case_can_be_sent_over_http() {
    for case in cases() {
        let token = |c: char| c.is_ascii_alphanumeric() || c == '-';
        for header in &case.headers {
            let value = header.value.as_slice();
            assert!(header.name.chars().all(token), "{}", case.name);
            assert_eq!(value.trim_ascii(), value, "{}", case.name);
            let carried = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
            assert!(value.iter().all(carried), "{}", case.name);
        }
        let target = case.target();
        assert!(
            target.bytes().all(|byte| byte.is_ascii_graphic()),
            "{target}"
        );
        assert!(!target.contains('#'), "{target}");
        assert_eq!(case.pieces().concat(), case.body);
    }
}

#[test]
fn what_is_expected_fits_together() {
    for case in cases() {
        let Expected { status, code } = expected(&case);
        assert_eq!(case.expect.status, status, "{}", case.name);
        assert_eq!(case.expect.code.is_some(), code, "{}", case.name);
        let answered = case.expect.verdict == Verdict::Handshake;
        assert!(answered || case.expect.answer.is_none(), "{}", case.name);
    }
}

struct Expected {
    status: u16,
    code: bool,
}

/// The status that a verdict and a code have.
fn expected(case: &Case) -> Expected {
    let status = match (case.expect.verdict, case.expect.code.as_deref()) {
        (Verdict::Accepted, _) => 202,
        (Verdict::Ignored | Verdict::Handshake, _) => 200,
        (Verdict::Misconfigured, _) => 503,
        (Verdict::Refused, Some("unauthorized")) => 401,
        (Verdict::Refused, Some("handshake_refused")) => 403,
        (Verdict::Refused, Some("unknown_source")) => 404,
        (Verdict::Refused, Some("method_not_allowed")) => 405,
        (Verdict::Refused, Some("too_large")) => 413,
        (Verdict::Refused, Some("unsupported_content_encoding")) => 415,
        (Verdict::Refused, _) => 400,
    };
    let code = matches!(
        case.expect.verdict,
        Verdict::Refused | Verdict::Misconfigured
    );
    Expected { status, code }
}

#[test]
fn every_configuration_has_cases_and_every_case_a_configuration() {
    let configurations = configurations();
    let named: BTreeSet<_> = configurations.keys().cloned().collect();
    let used: BTreeSet<_> = cases().into_iter().map(|case| case.configuration).collect();
    assert_eq!(named, used);
    let whole: toml::Table = toml(&configurations).parse().unwrap();
    assert_eq!(
        whole["source"].as_table().unwrap().len(),
        configurations.len()
    );
    assert!(!variables(&configurations).is_empty());
}

#[test]
fn what_is_left_out_has_a_reason() {
    assert!(!left_out().is_empty());
    assert!(left_out().iter().all(|one| !one.why.is_empty()));
    for (wrong, whole) in refused_configurations() {
        assert!(whole.parse::<toml::Table>().is_ok(), "{wrong}");
    }
}
