use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::extractor::OutputCap;

const SAMPLES: &str = include_str!("tests/samples.txt");
const SCHEMA: &str = include_str!("../../../schemas/code-review-v1.json");

/// In two halves, since only one room of this project writes SQL.
const STATEMENT: &str = concat!("SEL", "ECT a FROM t WHERE b = ");

/// Its patterns are made once: without optimisation that takes its time.
fn baseline() -> &'static CodeBaseline {
    static BASELINE: LazyLock<CodeBaseline> =
        LazyLock::new(|| CodeBaseline::new(DIFF_DEFAULT).unwrap());
    &BASELINE
}

fn compiled() -> &'static Schema {
    static COMPILED: LazyLock<Schema> =
        LazyLock::new(|| Schema::compile(SCHEMA.as_bytes()).unwrap());
    &COMPILED
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// A diff that adds a file with these lines.
fn adding(path: &str, lines: &[&str]) -> String {
    let count = lines.len();
    let lines: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}")
}

fn found(diff: &str) -> Vec<(String, u32, String)> {
    let revision = Revision::of_diff(diff).unwrap();
    let findings = baseline().findings(&revision);
    let told = findings.iter().map(|finding| {
        let (rule, severity) = (finding.hit.rule.as_str(), finding.hit.severity.as_str());
        let told = format!("{rule}:{severity}");
        (finding.path.to_owned(), finding.line, told)
    });
    told.collect()
}

#[test]
fn each_rule_finds_what_it_is_for_and_leaves_the_rest() {
    let samples = SAMPLES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut positive, mut negative) = (0, 0);
    let mut wrong = Vec::new();
    for sample in samples {
        let (told, text) = sample.split_once(" | ").unwrap();
        let (expected, path) = told.split_once(' ').unwrap();
        let text = text.replace('·', "");
        let until = text.split('⇣').next().unwrap().split('⏎').count();
        let lines: Vec<&str> = text.split(['⇣', '⏎']).collect();
        let line = match text.contains('⇣') {
            true => until,
            false => lines.len(),
        };
        let expected = match expected {
            "-" => vec![],
            _ => vec![(
                path.to_owned(),
                u32::try_from(line).unwrap(),
                expected.to_owned(),
            )],
        };
        match expected.is_empty() {
            true => negative += 1,
            false => positive += 1,
        }
        let found = found(&adding(path, &lines));
        if found != expected {
            wrong.push(format!("{sample}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(positive > 60 && negative > 60, "{positive}, {negative}");
}

#[test]
fn only_added_lines_are_looked_at_and_told_by_their_number() {
    let diff = format!(
        "\
diff --git a/src/b.py b/src/b.py
--- a/src/b.py
+++ b/src/b.py
@@ -7,4 +7,4 @@
 get(url, verify=False)
-get(url, verify=False)
+get(url)
+get(url, verify=False)
-get(url, verify=False)
 get(url, verify=False)
diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,3 @@
 one
+password = f\"{{x}}\"; get(url, verify=False); sql(f\"{STATEMENT}{{x}}\")
 two
"
    );
    let rules = [
        ("src/a.py", 2, "disabled_tls_verification:high"),
        ("src/a.py", 2, "sql_injection:high"),
        ("src/b.py", 9, "disabled_tls_verification:high"),
    ];
    let rules = rules.map(|(path, line, rule)| (path.to_owned(), line, rule.to_owned()));
    assert_eq!(found(&diff), rules);
}

async fn ask(input: &Value) -> Result<Draft, ExtractError> {
    let input = input.to_string();
    let question = Question {
        call_key: fencepost_identity::key::CallKey::from_bytes([7; 32]),
        input: input.as_bytes(),
        prompt: "ignored",
        schema: &schema(),
        cap: OutputCap::Ordinary,
    };
    baseline().extract(&question).await
}

#[tokio::test]
async fn an_answer_is_what_the_schema_takes_and_quotes_nothing() {
    let secret = format!("{}_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX", "ghp");
    let diff = adding(
        "a b/ä.py",
        &[&format!("t = '{secret}'"), "get(u, verify=False)"],
    );
    let draft = ask(&json!({ "diff": diff, "title": "x" })).await.unwrap();
    assert!(!draft.text.contains(&secret));
    assert_eq!(draft.call.provider, "code-baseline");
    assert!(draft.call.model.contains("no language model"));
    let value = compiled().read(&draft.text).unwrap().value().clone();
    let findings = value["findings"].as_array().unwrap();
    let places: Vec<_> = findings
        .iter()
        .map(|it| (&it["path"], &it["line"]))
        .collect();
    let path = json!("a b/ä.py");
    assert_eq!(places, [(&path, &json!(1)), (&path, &json!(2))]);

    let nothing = ask(&json!({ "diff": "" })).await.unwrap();
    assert_eq!(nothing.text, r#"{"findings":[]}"#);
}

#[tokio::test]
async fn an_input_without_a_readable_diff_is_an_invalid_request() {
    for input in [json!({}), json!({ "diff": 1 }), json!({ "diff": "canary" })] {
        let error = ask(&input).await.unwrap_err();
        assert_eq!(error.failure, Failure::InvalidRequest, "{input}");
        assert!(!format!("{error}{error:?}").contains("canary"));
    }
}

/// A list that was cut would say that the rest is in order.
#[tokio::test]
async fn more_than_can_be_answered_is_left_to_a_person() {
    let lines = |count| vec!["get(url, verify=False)"; count];
    let most = adding("a.py", &lines(FINDINGS_MAX));
    let draft = ask(&json!({ "diff": most })).await.unwrap();
    assert!(compiled().read(&draft.text).is_ok());
    let more = adding("a.py", &lines(FINDINGS_MAX + 1));
    let error = ask(&json!({ "diff": more })).await.unwrap_err();
    // Of what others write nothing follows for the pipeline: this counts towards no pause.
    assert_eq!(error.failure, Failure::Refused);
}

#[test]
fn a_schema_that_its_answers_do_not_fit_is_refused() {
    let baseline = baseline();
    assert_eq!(baseline.check_schema(&schema()), Ok(()));
    let other = include_str!("../../../schemas/moderation-v3.json");
    let other = serde_json::from_str(other).unwrap();
    assert!(matches!(
        baseline.check_schema(&other),
        Err(Unfit::Answers(_))
    ));
    for rule in Rule::ALL {
        let mut schema = schema();
        let names = schema.pointer_mut("/properties/findings/items/properties/rule/enum");
        let names = names.unwrap().as_array_mut().unwrap();
        names.retain(|name| name != rule.as_str());
        let told = baseline.check_schema(&schema).unwrap_err().to_string();
        assert!(told.contains("/rule/enum"), "{told}");
    }
}

#[test]
fn what_shapes_its_answers_is_told() {
    let baseline = baseline();
    let fingerprint = baseline.fingerprint();
    assert_eq!(fingerprint, CodeBaseline::fingerprint_of("diff"));
    assert_ne!(fingerprint, CodeBaseline::fingerprint_of("patch"));
    assert_eq!(fingerprint["model"], MODEL);
    assert_eq!(fingerprint["sha256"].as_str().unwrap().len(), 64);
}

/// What may follow the beginning of a text in quotes.
fn written(beginning: String) -> impl Strategy<Value = String> {
    let rest = r#"(\{x\}|\$x|%s)*["'`] ?[+.%]? ?[a-z("]*"#;
    rest.prop_map(move |rest| format!("{beginning}{STATEMENT}{rest}"))
}

proptest! {
    #[test]
    fn any_line_gives_an_answer_that_the_schema_takes(
        lines in prop::collection::vec(
            prop_oneof![
                any::<String>(),
                r#"(f|\$)?["'`]"#.prop_flat_map(written),
                "(password|token)[ \"']*(=|:)[ \"']*[a-zA-Z0-9]{0,12}[\"']?",
            ],
            1..8,
        ),
        ending in prop::sample::select(vec!["rs", "py", "js", "go", "java", "php", "yml", "x"]),
    ) {
        let lines: Vec<String> = lines.iter().map(|line| line.replace('\n', " ")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let diff = adding(&format!("a.{ending}"), &lines);
        let input = json!({ "diff": diff }).to_string();
        let text = baseline().answer(input.as_bytes()).unwrap();
        prop_assert_eq!(&text, &baseline().answer(input.as_bytes()).unwrap());
            prop_assert!(compiled().read(&text).is_ok());
    }
}
