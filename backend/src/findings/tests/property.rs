//! What holds for any answer.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// What a model may write where a path or a word should stand.
fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(vec![
            "src/a.rs",
            "./src/a.rs",
            "b&c.rs",
            "..",
            "\\",
            "low",
            "high"
        ])
        .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    let line = prop_oneof![(0..20_u32).prop_map(Value::from), text()];
    (text(), text(), text(), line.clone(), line).prop_map(
        |(rule, severity, path, line, end_line)| {
            json!({
                "rule": rule, "severity": severity, "path": path, "line": line,
                "end_line": end_line
            })
        },
    )
}

fn good() -> impl Strategy<Value = Value> {
    let rule = prop::sample::select(vec!["sql", "tls"]);
    let severity = prop::sample::select(vec!["low", "high", "critical"]);
    let path = prop::sample::select(vec!["src/a.rs", "./src/a.rs"]);
    (rule, severity, path, 10..=13_u32)
        .prop_map(|(rule, severity, path, line)| finding(rule, severity, path, line))
}

proptest! {
    #[test]
    fn nothing_panics(
        findings in prop::collection::vec(anything(), 0..8),
        diff in prop_oneof![Just(DIFF.to_owned()), any::<String>()],
    ) {
        let answer = json!({ "findings": findings }).to_string();
        let input = input_of(&diff);
        let read = rules().read(&answer, &input);
        let parsed = json::parse(answer.as_bytes()).unwrap();
        let marks = rules().marks(&parsed, &input);
        prop_assert!(read.is_err() || marks.is_ok_and(|marks| marks.len() == findings.len()));
    }

    #[test]
    fn no_text_of_an_answer_is_told(mut findings in prop::collection::vec(anything(), 1..8)) {
        for finding in &mut findings {
            *finding = with(finding.clone(), "path", "q7x9canary");
        }
        let told = read(&findings).unwrap_err().to_string();
        prop_assert!(!told.contains("q7x9"), "{}", told);
    }

    #[test]
    fn any_order_gives_the_same_fingerprints_and_counts(
        (ordered, shuffled) in prop::collection::vec(good(), 0..12)
            .prop_flat_map(|findings| (Just(findings.clone()), Just(findings).prop_shuffle())),
    ) {
        let prints = |findings: &[Value]| {
            let read = read(findings).unwrap();
            let set: BTreeSet<_> = read
                .iter()
                .map(|finding| (finding.fingerprint.clone(), finding.collapsed))
                .collect();
            assert_eq!(set.len(), read.len());
            set
        };
        prop_assert_eq!(prints(&ordered), prints(&shuffled));
    }
}
