//! The properties of the fuzzers, with drawn bytes.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use fencepost_fuzz::{PROPERTIES, seeds};
use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};

/// Bytes of many lengths, and seeds with a part of them exchanged.
fn bytes(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let spoilt = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        vec(any::<u8>(), 0..4),
    );
    let spoilt = spoilt.prop_map(move |(seed, at, part)| {
        let mut bytes = seed.get(&seeds).clone();
        let at = at.index(bytes.len() + 1);
        let end = (at + part.len()).min(bytes.len());
        bytes.splice(at..end, part);
        bytes
    });
    prop_oneof![vec(any::<u8>(), 0..160), vec(0_u8..16, 0..64), spoilt]
}

#[track_caller]
fn holds(name: &str, cases: u32) {
    let (_, property) = PROPERTIES.iter().find(|(known, _)| *known == name).unwrap();
    let seeds = seeds(name);
    seeds.iter().for_each(|seed| property(seed));
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let run = TestRunner::new(config).run(&bytes(seeds), |bytes| {
        property(&bytes);
        Ok(())
    });
    run.unwrap_or_else(|failure| panic!("{name}: {failure}"));
}

#[test]
fn a_delivery_is_accepted_only_for_what_was_signed() {
    holds("admission", 6_000);
}

#[test]
fn a_configuration_is_read_whole_or_refused() {
    holds("configurations", 6_000);
}

#[test]
fn a_document_is_read_as_another_reader_does() {
    holds("documents", 6_000);
}

#[test]
fn a_code_has_one_text() {
    holds("encodings", 6_000);
}

#[test]
fn a_form_holds_what_its_field_holds() {
    holds("forms", 3_000);
}

#[test]
fn headers_hold_nothing_without_a_code() {
    holds("headers", 6_000);
}

#[test]
fn what_is_inflated_is_bounded() {
    holds("inflated", 1_000);
}

#[test]
fn an_echo_is_a_whole_parameter() {
    holds("queries", 3_000);
}

#[test]
fn a_scheme_that_is_made_up_is_no_other() {
    holds("schemes", 6_000);
}

#[test]
fn a_time_is_read_as_days_are_counted() {
    holds("stamps", 6_000);
}

#[test]
fn every_property_has_a_fuzzer() {
    let manifest = include_str!("../targets/Cargo.toml");
    for (name, _) in PROPERTIES {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), PROPERTIES.len());
}
