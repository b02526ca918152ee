//! Damaged deliveries are repeatable, various, and never taken in for nothing.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_conformance::{Origin, Verdict, generated};

#[test]
fn the_same_seed_gives_the_same_cases() {
    assert_eq!(generated(7, 150), generated(7, 150));
    assert_ne!(generated(7, 150), generated(8, 150));
    assert_eq!(generated(7, 150)[..40], generated(7, 40)[..]);
}

#[test]
fn they_are_of_every_kind() {
    let cases = generated(1, 2000);
    let names: BTreeSet<_> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len());
    assert!(cases.iter().all(|case| case.from == Origin::Generated));
    let configurations: BTreeSet<_> = cases.iter().map(|case| &case.configuration).collect();
    assert!(configurations.len() > 60, "{}", configurations.len());
    let mut kinds = BTreeMap::new();
    for case in &cases {
        let code = case.expect.code.as_deref().unwrap_or("accepted");
        *kinds.entry(code).or_insert(0) += 1;
    }
    for (kind, least) in [
        ("accepted", 200),
        ("unauthorized", 400),
        ("bad_signature_format", 200),
        ("bad_timestamp", 50),
    ] {
        let found = kinds.get(kind).copied().unwrap_or_default();
        assert!(found >= least, "{kind}: {found} of {kinds:?}");
    }
}

#[test]
fn what_is_accepted_is_never_a_delivery_with_another_body() {
    let bodies: BTreeSet<_> = fencepost_conformance::cases()
        .into_iter()
        .filter(|case| case.expect.verdict == Verdict::Accepted)
        .map(|case| (case.configuration, case.body))
        .collect();
    for case in generated(3, 2000) {
        if case.expect.verdict == Verdict::Accepted {
            assert!(
                bodies.contains(&(case.configuration, case.body)),
                "{}",
                case.name
            );
        }
    }
}
