//! What ships can't be made to die: it knows no point and no such variable.

use std::{collections::BTreeSet, process::Command};

use fencepost_tests::{Program, run};

const VARIABLE: &str = "FENCEPOST_KILL_AT";

/// The points that the program for tests has.
fn points() -> Vec<String> {
    let mut command = Command::new(Program::Failpoints.path());
    let listed = run(command.env(VARIABLE, "list"));
    assert_eq!(listed.code, Some(0), "{listed:?}");
    listed.stdout.lines().map(str::to_owned).collect()
}

/// All text of a program, whatever stands between.
fn texts(program: Program) -> String {
    let bytes = std::fs::read(program.path()).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn every_point_is_in_the_matrix() {
    let points: BTreeSet<_> = points().into_iter().collect();
    let around = |what: &&str| ["before", "after"].map(|bound| format!("{what}.{bound}"));
    let covered: BTreeSet<_> = crate::COVERED.iter().flat_map(around).collect();
    assert_eq!(points, covered);
}

#[test]
fn what_ships_knows_no_point() {
    let shipped = texts(Program::Backend);
    let armed = texts(Program::Failpoints);
    let points = points();
    assert!(points.len() > 20, "{points:?}");
    for text in points.iter().map(String::as_str).chain([VARIABLE]) {
        assert!(armed.contains(text), "{text}: so the search finds");
        assert!(!shipped.contains(text), "{text} is in what ships");
    }
}

#[test]
fn what_ships_does_not_die_of_the_variable() {
    let version = |program: Program, order: &str| {
        let mut command = Command::new(program.path());
        run(command.arg("--version").env(VARIABLE, order))
    };
    for order in ["list", "nonsense", "ingest.before:1"] {
        let shipped = version(Program::Backend, order);
        assert_eq!(shipped.code, Some(0), "{shipped:?}");
        assert!(shipped.stdout.starts_with("fencepost "), "{shipped:?}");
    }
    // The other one heeds it, and says so if it can't.
    assert_eq!(version(Program::Failpoints, "nonsense").code, Some(2));
    assert_eq!(
        version(Program::Failpoints, "ingest.before:0").code,
        Some(2)
    );
}
