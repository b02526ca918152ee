//! The signature cases, each through the program: `verify` says of a stored delivery what the edge
//! does with the same one.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use fencepost_conformance::{
    Case, Expected, Verdict, cases, configurations, generated, refused_configurations, toml,
    variables,
};
use serde_json::Value;

use super::{Place, Ran, project_folder};

/// Processes at once.
const THREADS: usize = 4;
const SEED: u64 = 1_800_000_000;
const GENERATED: usize = 100;

/// A folder with every variable that the configurations have, and a file for each of them: to read
/// all takes a process longer than anything else that it does.
fn place() -> Place {
    let configurations = configurations();
    let place = project("");
    for (name, configuration) in &configurations {
        let alone = BTreeMap::from([(name.clone(), configuration.clone())]);
        std::fs::write(place.folder.path().join(file_of(name)), toml(&alone)).unwrap();
    }
    let variables = variables(&configurations);
    variables.iter().fold(place, |place, (name, value)| {
        let name = format!("SPIN_VARIABLE_{}", name.to_ascii_uppercase());
        place.with(&name, value)
    })
}

fn file_of(configuration: &str) -> String {
    format!("{configuration}.toml")
}

fn project(toml: &str) -> Place {
    let place = Place::new().with("FENCEPOST_CONFIG", "fencepost.toml");
    let folder = place.folder.path();
    std::fs::write(folder.join("fencepost.toml"), toml).unwrap();
    std::os::unix::fs::symlink(project_folder().join("backend"), folder.join("backend")).unwrap();
    place
}

/// Runs a case; `file` is for its body, which no two cases at a time may share.
fn run(place: &Place, case: &Case, file: &str) -> Ran {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    std::fs::write(place.folder.path().join(file), &case.body).unwrap();
    let mut command = place.command();
    command.env("FENCEPOST_CONFIG", file_of(&case.configuration));
    command.args(["verify", "--method", &case.method]);
    command.args(["--path", &case.target(), "--at", &case.clock.to_string()]);
    for header in &case.headers {
        let line = [header.name.as_bytes(), b": ", &header.value].concat();
        command.arg("-H").arg(OsString::from_vec(line));
    }
    Ran::of(command.arg(file).output().unwrap())
}

/// What is wrong with what the program said, if anything is.
fn wrong(case: &Case, ran: &Ran) -> Option<String> {
    let Ok(said) = serde_json::from_str::<Value>(&ran.stdout) else {
        return Some(format!("no document: {ran:?}"));
    };
    let expect = &case.expect;
    let (verdict, exit) = match expect.verdict {
        Verdict::Accepted => ("accepted", 0),
        Verdict::Ignored => ("ignored", 0),
        Verdict::Handshake => ("handshake", 0),
        Verdict::Refused => ("refused", 1),
        Verdict::Misconfigured => ("misconfigured", 2),
    };
    let says = |name: &str, expected: Option<&str>| said[name].as_str() == expected;
    let right = ran.code == Some(exit)
        && ran.stderr.is_empty()
        && says("verdict", Some(verdict))
        && said["status"] == expect.status
        && says("code", expect.code.as_deref())
        && (expect.reason.is_none() || says("reason", expect.reason.as_deref()))
        && (expect.answer.is_none() || says("answer", expect.answer.as_deref()))
        && said["report_key"].is_string() == (expect.verdict == Verdict::Accepted)
        && said["body_bytes"] == case.body.len();
    (!right).then(|| format!("expected {expect:?}\n said {said}, exit {:?}", ran.code))
}

/// Runs all cases and says which came out otherwise.
fn differing(place: &Place, cases: &[Case]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = |thread: usize| {
        let mut differing = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let ran = run(place, case, &format!("body-{thread}"));
            if let Some(wrong) = wrong(case, &ran) {
                differing.push(format!("{}:\n {wrong}", case.name));
            }
        }
        differing
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let differing = workers.into_iter().map(|worker| worker.join().unwrap());
        differing.flatten().collect()
    })
}

#[test]
fn every_case_comes_out_as_it_has_to() {
    let cases = cases();
    assert!(cases.len() >= 330, "{}", cases.len());
    let differing = differing(&place(), &cases);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn damaged_deliveries_come_out_as_another_implementation_says() {
    let cases = generated(SEED, GENERATED);
    let accepted = cases
        .iter()
        .filter(|case| case.expect.verdict == Verdict::Accepted);
    let accepted = accepted.count();
    assert!(accepted > 0 && accepted < GENERATED, "{accepted}");
    let differing = differing(&place(), &cases);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn an_outcome_that_differs_is_seen() {
    let mut accepted = cases();
    accepted.retain(|case| case.expect.verdict == Verdict::Accepted);
    accepted.truncate(1);
    let place = place();
    assert_eq!(differing(&place, &accepted), Vec::<String>::new());
    let right = accepted[0].expect.clone();
    for wrong in [
        Expected {
            status: 200,
            ..right.clone()
        },
        Expected {
            verdict: Verdict::Ignored,
            ..right.clone()
        },
        Expected {
            verdict: Verdict::Refused,
            ..right.clone()
        },
        Expected {
            code: Some("unauthorized".to_owned()),
            ..right.clone()
        },
        Expected {
            reason: Some("variable".to_owned()),
            ..right.clone()
        },
        Expected {
            answer: Some("c-1".to_owned()),
            ..right
        },
    ] {
        accepted[0].expect = wrong;
        assert_eq!(differing(&place, &accepted).len(), 1, "{:?}", accepted[0]);
    }
}

#[test]
fn no_command_takes_a_configuration_that_must_not_load() {
    let refused = refused_configurations();
    assert!(!refused.is_empty());
    for (why, toml) in refused {
        let ran = project(&toml).run(&["verify", "--path", "/hooks/refused"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(2), ""),
            "{why}: {ran:?}"
        );
        assert!(ran.stderr.contains("source.refused"), "{why}: {ran:?}");
    }
}
