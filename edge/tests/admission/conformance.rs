//! The signature cases, natively.

use fencepost_conformance::{
    Case, Outcome, Verdict, cases, configurations, generated, toml, variables,
};

use crate::{
    configuration::EDGE_SECRET,
    request::Request,
    world::{Seen, World},
};

/// Any will do; another one damages other bytes.
const SEED: u64 = 1;
const GENERATED: usize = 2000;

fn world() -> World {
    let configurations = configurations();
    let mut variables = variables(&configurations);
    for (name, value) in [
        ("backend_url", "http://127.0.0.1:8080"),
        ("edge_secret", EDGE_SECRET),
    ] {
        assert_eq!(variables.insert(name.to_owned(), value.to_owned()), None);
    }
    let world = World::of(&toml(&configurations), variables);
    assert_eq!(world.sources.as_ref().err(), None);
    world
}

/// The case as a runtime hands it over.
fn request(case: &Case) -> Request {
    let path = match &case.tenant {
        None => format!("/hooks/{}", case.configuration),
        Some(tenant) => format!("/hooks/{}/{tenant}", case.configuration),
    };
    let headers = case.headers.iter();
    let headers = headers.map(|header| (header.name.clone(), header.value.clone()));
    let mut request = Request {
        method: case.method.clone(),
        query: case.query.clone(),
        headers: headers.collect(),
        chunks: case.pieces(),
        ..Request::new(&path, "")
    };
    let names_length = |(name, _): &(String, Vec<u8>)| name.eq_ignore_ascii_case("content-length");
    if case.chunks.is_none() && !request.headers.iter().any(names_length) {
        request = request.header("content-length", case.body.len().to_string());
    }
    request
}

fn outcome(seen: Seen) -> Outcome {
    let headers = seen.answer.headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Outcome {
        status: seen.answer.status,
        headers: headers.collect(),
        body: Some(seen.answer.body.into_bytes()),
        forwarded: seen.posts.len(),
        lines: seen.lines,
    }
}

/// What came of these cases that should not have.
fn disagreements(cases: &[Case]) -> Vec<String> {
    let mut world = world();
    let mut found = Vec::new();
    for case in cases {
        world.now = case.clock;
        let outcome = outcome(world.deliver(&request(case)));
        for difference in outcome.differences(&case.expect) {
            found.push(format!("{}: {difference}", case.name));
        }
    }
    found
}

#[test]
fn every_case_has_the_outcome_that_it_states() {
    let found = disagreements(&cases());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn damaged_deliveries_have_the_outcome_of_another_implementation() {
    let damaged = generated(SEED, GENERATED);
    assert_eq!(damaged.len(), GENERATED);
    let found = disagreements(&damaged);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_outcome_that_differs_is_seen() {
    let mut accepted = cases();
    accepted.retain(|case| case.expect.status == 202);
    accepted.truncate(1);
    let case = &mut accepted[0];
    (case.expect.verdict, case.expect.status) = (Verdict::Refused, 401);
    case.expect.code = Some("unauthorized".to_owned());
    let found = disagreements(&accepted).join("\n");
    for difference in [
        "status is 202, should be 401",
        "forwarded is 1, should be 0",
        "event is , should be refused",
        "code is , should be unauthorized",
    ] {
        assert!(found.contains(difference), "{found}");
    }
}
