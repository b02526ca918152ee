use super::*;

const SCHEMA: &str = r##"{
    "type": "object",
    "properties": {
        "summary": { "type": "string" },
        "a/b": { "type": "array", "items": { "$ref": "#/$defs/part" } },
        "free": { "type": "object" }
    },
    "$defs": { "part": { "properties": { "quote": { "type": "string" } } } }
}"##;
const KEY: CallKey = CallKey::from_bytes([7; 32]);
const PROMPT: &str = "Classify what follows, and say in a few words why.\n";

fn checked(policy: &Policy, answer: &Value) -> Result<(), String> {
    let schema = Schema::compile(SCHEMA.as_bytes()).unwrap();
    let report = schema.read(&answer.to_string()).unwrap();
    let answered = Answered {
        report: &report,
        schema: &schema,
        prompt: PROMPT,
        call_key: KEY,
    };
    let checked = policy.check(answered);
    checked.map_err(|violation| violation.to_string())
}

fn told(answer: &Value) -> String {
    checked(&Policy::default(), answer).unwrap_err()
}

#[test]
fn an_answer_of_ordinary_texts_is_taken() {
    let told = prompt::fixed(PROMPT);
    let quoted: String = told.chars().take(REPEATED_MAX).collect();
    for answer in [
        json!({}),
        json!({ "summary": "two\n\tlines, é, \u{200d}, \u{202e}" }),
        json!({ "summary": quoted, "free": { "any": [null, 1.5, true, "text"] } }),
        json!({ "summary": prompt::canary(CallKey::from_bytes([8; 32])) }),
    ] {
        assert_eq!(checked(&Policy::default(), &answer), Ok(()), "{answer}");
    }
}

#[test]
fn no_text_has_a_control_character() {
    for control in ["\0", "\u{1b}", "\r", "\u{7f}", "\u{9b}"] {
        let answer = json!({ "summary": format!("a{control}b") });
        assert_eq!(
            told(&answer),
            "the answer has a control character at /summary"
        );
    }
}

#[test]
fn no_text_is_longer_than_the_pipeline_says() {
    let policy = Policy {
        text_characters_max: 4,
        ..Policy::default()
    };
    let four = json!({ "free": { "€": "€€€€" } });
    assert_eq!(checked(&policy, &four), Ok(()));
    let five = json!({ "free": { "x": "€€€€€" } });
    let told = "the answer has more than 4 characters at /free/*";
    assert_eq!(checked(&policy, &five), Err(told.to_owned()));
}

#[test]
fn the_canary_is_found_in_any_text() {
    let canary = prompt::canary(KEY);
    for (answer, place) in [
        (json!({ "summary": format!("it is {canary}.") }), "/summary"),
        (
            json!({ "summary": canary.to_ascii_uppercase() }),
            "/summary",
        ),
        (
            json!({ "a/b": [{}, { "quote": canary.as_str() }] }),
            "/a~1b/1/quote",
        ),
        (json!({ "free": { canary.as_str(): 1 } }), "/free/*"),
        (
            json!({ "free": { "secret": { "quote": canary.as_str() } } }),
            "/free/*/quote",
        ),
    ] {
        let expected = format!("the answer repeats the code of its instructions at {place}");
        assert_eq!(told(&answer), expected);
    }
}

#[test]
fn instructions_are_not_repeated_at_length() {
    let instructions = prompt::fixed(PROMPT);
    let all: Vec<char> = instructions.chars().collect();
    for from in [0, 17, all.len() - REPEATED_MAX - 1] {
        let run: String = all[from..].iter().take(REPEATED_MAX + 1).collect();
        let answer = json!({ "a/b": [{ "quote": format!("They say: {run} And so on.") }] });
        assert_eq!(
            told(&answer),
            "the answer repeats more than 200 characters of its instructions at /a~1b/0/quote"
        );
        // One character less is a quotation.
        let run: String = run.chars().take(REPEATED_MAX).collect();
        let answer = json!({ "summary": format!("€{run}€") });
        assert_eq!(checked(&Policy::default(), &answer), Ok(()));
    }
}

#[test]
fn what_is_too_long_is_told_by_numbers() {
    let policy = Policy {
        input_characters_max: 10,
        input_bytes_max: 30,
        ..Policy::default()
    };
    // Four of the characters are the name's.
    let input = |text: &str| json!({ "text": text }).to_string();
    assert_eq!(policy.too_long(input("€€€€€€").as_bytes()), None);
    assert_eq!(
        policy.too_long(input("1234567").as_bytes()).unwrap(),
        "the input has 11 characters, more than 10"
    );
    assert_eq!(
        policy.too_long(input("€€€€€€€").as_bytes()).unwrap(),
        "the input has 32 bytes, more than 30"
    );
}

#[test]
fn hidden_characters_are_doubted_where_the_pipeline_does_not_say_otherwise() {
    let ignoring = Policy {
        hidden: HiddenCharacters::Ignore,
        ..Policy::default()
    };
    for (text, doubt) in [
        ("plain", None),
        ("a\u{2060}", Some("the input has 1 hidden character")),
        (
            "\u{202e}a\u{200b}",
            Some("the input has 2 hidden characters"),
        ),
    ] {
        let input = json!({ "text": text }).to_string();
        let found = Policy::default().doubt(input.as_bytes());
        assert_eq!(found.as_deref(), doubt, "{text:?}");
        assert_eq!(ignoring.doubt(input.as_bytes()), None);
    }
}

#[test]
fn only_what_decides_about_answers_makes_another_classifier() {
    let usual = Policy::default();
    assert_eq!(usual.fingerprint(), None);
    let shorter = Policy {
        text_characters_max: 100,
        ..usual.clone()
    };
    assert_eq!(
        shorter.fingerprint(),
        Some(json!({ "max_text_characters": 100 }))
    );
    let others = Policy {
        text_characters_max: usual.text_characters_max,
        input_characters_max: 1,
        input_bytes_max: 1,
        hidden: HiddenCharacters::Ignore,
    };
    assert_eq!(others.fingerprint(), None);
}
