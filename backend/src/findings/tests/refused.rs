//! What is refused, and what is told of it.

use super::*;

fn told(findings: &[Value]) -> String {
    let unfit = read(findings).unwrap_err();
    assert!(matches!(unfit, Unfit::Rules(_)), "{unfit:?}");
    unfit.to_string()
}

#[test]
fn every_way_to_be_nowhere_is_told_by_its_place() {
    let good = finding("sql", "low", "src/a.rs", 11);
    let path = |text: &str| with(good.clone(), "path", text);
    let line = |value: Value| with(good.clone(), "line", value);
    let without = |member: &str| {
        let mut finding = good.clone();
        finding.as_object_mut().unwrap().remove(member);
        finding
    };
    for (finding, expected) in [
        (without("path"), "path is missing"),
        (with(good.clone(), "path", Value::Null), "path is missing"),
        (with(good.clone(), "path", 7), "path is missing"),
        (without("line"), "line is missing"),
        (line(Value::Null), "line is missing"),
        (without("rule"), "rule is missing"),
        (without("severity"), "severity is missing"),
        (
            with(good.clone(), "severity", "huge"),
            "severity is no word of the list",
        ),
        (
            path("src/../src/a.rs"),
            "path is refused: a path has a segment of dots",
        ),
        (
            path("a/../a.rs"),
            "path is refused: a path has a segment of dots",
        ),
        (path("src\\a.rs"), "path is refused: a path has a backslash"),
        (path("/src/a.rs"), "path is refused: a path is absolute"),
        (path(""), "path is refused: a path has an empty segment"),
        (
            path("src/a.rs\n"),
            "path is refused: a path has a control character",
        ),
        (path("/etc/passwd"), "path is refused: a path is absolute"),
        (path("src/A.rs"), "path is not in the revision"),
        (line(json!(9)), "line is no line that the revision shows"),
        (line(json!(14)), "line is no line that the revision shows"),
        (line(json!(0)), "line is no line that the revision shows"),
        (line(json!(-11)), "line is no line that the revision shows"),
        (line(json!(11.5)), "line is no line that the revision shows"),
        (line(json!("11")), "line is no line that the revision shows"),
        (
            line(json!(4_294_967_307_u64)),
            "line is no line that the revision shows",
        ),
        (
            with(good.clone(), "end_line", 10),
            "end_line is before the line where it begins",
        ),
        (
            with(good.clone(), "end_line", 14),
            "end_line is no line that the revision shows",
        ),
        (
            with(good.clone(), "end_line", "12"),
            "end_line is no line that the revision shows",
        ),
    ] {
        let expected = format!("the answer's /findings/0/{expected}");
        assert_eq!(told(std::slice::from_ref(&finding)), expected, "{finding}");
    }
    for end_line in [Value::Null, json!(11), json!(13)] {
        assert!(read(&[with(good.clone(), "end_line", end_line)]).is_ok());
    }
}

#[test]
fn a_path_is_taken_literally() {
    assert!(read(&[finding("sql", "low", "b&c.rs", 1)]).is_ok());
    for path in ["b&amp;c.rs", "b%26c.rs", "src%2Fa.rs"] {
        assert_eq!(
            told(&[finding("sql", "low", path, 1)]),
            "the answer's /findings/0/path is not in the revision",
            "{path}"
        );
    }
    // One letter in two spellings of Unicode is two names.
    let composed = DIFF.replace("b&c.rs", "\u{e9}.rs");
    let read = |path| read_in(&composed, &[finding("sql", "low", path, 1)]);
    assert!(read("\u{e9}.rs").is_ok() && read("e\u{301}.rs").is_err());
}

#[test]
fn all_violations_are_told_and_one_takes_all_findings_with_it() {
    let told = told(&[
        finding("sql", "low", "src/a.rs", 11),
        finding("sql", "low", "..", 1),
        with(finding("sql", "low", "canary", 1), "end_line", 0),
    ]);
    assert_eq!(
        told,
        "the answer's /findings/1/path is refused: a path has a segment of dots, \
         /findings/2/path is not in the revision, \
         /findings/2/end_line is before the line where it begins"
    );
}

#[test]
fn what_is_told_is_bounded() {
    let many = |number: usize| vec![finding("sql", "low", "canary", 1); number];
    let hundred = told(&many(100));
    assert!(
        hundred.ends_with("/findings/99/path is not in the revision"),
        "{hundred}"
    );
    let more = told(&many(1_000));
    assert_eq!(more, format!("{hundred} and 900 more"));
    let too_many = "the answer's /findings has more than 1000 findings";
    assert_eq!(told(&many(1_001)), too_many);
    let fine = vec![finding("sql", "low", "src/a.rs", 11); 1_000];
    assert_eq!(read(&fine).unwrap()[0].collapsed, 999);
}

#[test]
fn an_answer_without_its_list_is_refused() {
    for answer in ["{}", r#"{"findings":null}"#, r#"{"findings":{}}"#] {
        let unfit = rules().read(answer, &input_of(DIFF)).unwrap_err();
        assert_eq!(unfit.to_string(), "the answer's /findings is no list");
    }
    assert_eq!(read(&[]), Ok(Vec::new()));
}

#[test]
fn an_input_that_can_not_be_read_is_told_by_name_and_line() {
    for (input, expected) in [
        ("[]", "the input has no `diff`"),
        ("{", "the input is no object"),
        (r#"{"diff":null}"#, "the input has no `diff`"),
        (r#"{"diff":["canary"]}"#, "the input's `diff` is no text"),
        (
            r#"{"diff":"canary\n"}"#,
            "the input's `diff`: line 1 of the diff: expected `diff --git`, `---` or the end",
        ),
    ] {
        let unfit = rules().read(r#"{"findings":[]}"#, input.as_bytes());
        let unfit = unfit.unwrap_err();
        assert!(matches!(unfit, Unfit::Input(_)));
        assert_eq!(unfit.to_string(), expected);
    }
}
