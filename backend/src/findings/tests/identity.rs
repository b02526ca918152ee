//! What makes another finding, and what does not.

use super::*;

#[test]
fn a_reworded_finding_is_the_same() {
    let one = finding("sql", "low", "src/a.rs", 11);
    let other = with(one.clone(), "summary", "in other words");
    assert_eq!(print_of(one), print_of(other));
}

#[test]
fn a_reordered_list_has_the_same_findings() {
    let one = finding("sql", "low", "src/a.rs", 11);
    let other = finding("tls", "low", "b&c.rs", 1);
    let ahead = read(&[one.clone(), other.clone()]).unwrap();
    let mut back = read(&[other, one]).unwrap();
    back.reverse();
    assert_eq!(ahead, back);
}

#[test]
fn another_end_line_is_the_same() {
    let one = finding("sql", "low", "src/a.rs", 11);
    let long = with(one.clone(), "end_line", 12);
    let longer = with(one.clone(), "end_line", 13);
    assert_eq!(print_of(one), print_of(long.clone()));
    assert_eq!(print_of(long), print_of(longer));
}

#[test]
fn crlf_and_lf_are_the_same() {
    let one = [finding("sql", "low", "src/a.rs", 12)];
    let crlf = DIFF.replace("run(input);\n", "run(input);\r\n");
    assert_ne!(crlf, DIFF);
    assert_eq!(read_in(&crlf, &one), read(&one));
}

#[test]
fn a_path_with_and_without_a_dot_is_the_same() {
    let plain = print_of(finding("sql", "low", "src/a.rs", 11));
    assert_eq!(print_of(finding("sql", "low", "./src/a.rs", 11)), plain);
}

#[test]
fn another_severity_is_the_same() {
    let plain = print_of(finding("sql", "low", "src/a.rs", 11));
    assert_eq!(print_of(finding("sql", "critical", "src/a.rs", 11)), plain);
}

#[test]
fn a_line_that_moved_is_the_same() {
    let moved = DIFF.replace("@@ -10,2 +10,4 @@", "@@ -50,2 +70,4 @@");
    let then = read(&[finding("sql", "low", "src/a.rs", 12)]).unwrap();
    let now = read_in(&moved, &[finding("sql", "low", "src/a.rs", 72)]).unwrap();
    assert_eq!(then[0].fingerprint, now[0].fingerprint);
}

#[test]
fn two_rules_on_one_line_are_two() {
    let read = read(&[
        finding("sql", "low", "src/a.rs", 11),
        finding("tls", "low", "src/a.rs", 11),
    ]);
    assert_eq!(read.unwrap().len(), 2);
}

#[test]
fn the_same_line_twice_in_a_file_is_two() {
    let read = read(&[
        finding("sql", "low", "src/a.rs", 11),
        finding("sql", "low", "src/a.rs", 12),
    ]);
    let read = read.unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].fingerprint[..3], read[1].fingerprint[..3]);
    assert_eq!(
        (&*read[0].fingerprint[3], &*read[1].fingerprint[3]),
        ("1", "2")
    );
}

#[test]
fn the_same_line_in_two_files_is_two() {
    let one = print_of(finding("sql", "low", "src/a.rs", 11));
    let other = print_of(finding("sql", "low", "b&c.rs", 1));
    assert_eq!(one[2], other[2]);
    assert_ne!(one, other);
}

#[test]
fn of_the_same_twice_the_most_severe_stays_and_the_others_are_counted() {
    let told = |severity: &str, summary: &str| {
        with(finding("sql", severity, "src/a.rs", 11), "summary", summary)
    };
    let read = read(&[
        told("low", "first"),
        finding("tls", "low", "src/a.rs", 11),
        told("critical", "second"),
        told("critical", "third"),
        told("high", "fourth"),
    ]);
    let told: Vec<_> = read
        .unwrap()
        .iter()
        .map(|finding| {
            let value: Value = serde_json::from_str(&finding.value).unwrap();
            (
                value["summary"].as_str().unwrap().to_owned(),
                finding.collapsed,
            )
        })
        .collect();
    assert_eq!(told, [("x".to_owned(), 0), ("second".to_owned(), 3)]);
}
