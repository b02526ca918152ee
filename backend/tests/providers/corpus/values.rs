//! JSON that is, or is not, what the pipeline asks for.

use fencepost::report::AttemptOutcome;

use super::{Asked, Comes, FINE, Row};

/// The places of the schema that do not hold. No word of an answer is among them, not even the name
/// of a member that is too many: it may quote the report.
fn against(places: &str) -> Comes {
    Comes::Again(
        AttemptOutcome::SchemaInvalid,
        format!("the answer does not satisfy the schema at {places}"),
    )
}

fn policy(reason: &str) -> Comes {
    Comes::Again(AttemptOutcome::PolicyInvalid, reason.to_owned())
}

fn moderation(category: &str, confidence: &str, rest: &str) -> String {
    format!(
        r#"{{"category":"{category}","confidence":{confidence},"needsHumanReview":false{rest}}}"#
    )
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = of_moderation();
    rows.extend(of_words());
    rows.extend(of_findings());
    rows.extend(of_places());
    rows.extend(of_policy());
    rows
}

fn of_moderation() -> Vec<Row> {
    let row = |origin, text: String, comes| Row::answer(origin, Asked::Moderation, text, comes);
    vec![
        row(
            "spacebot #169; goose #8030; dify #18761: a number as text",
            moderation("spam", "\"0.9\"", ""),
            against("/properties/confidence/type"),
        )
        .numbered(12),
        row(
            "gentle-ai #2227: a member too many",
            moderation("spam", "1", r#","reasoning":"x""#),
            against("/additionalProperties"),
        )
        .numbered(16),
        row(
            "pathreview #69; pr-reviewer-action #449: an array at the top",
            format!("[{FINE}]"),
            against("/type"),
        )
        .numbered(18),
        row(
            "SkillSpector #89: out of a hundred",
            moderation("spam", "100", ""),
            against("/properties/confidence/maximum"),
        ),
        row(
            "below nothing",
            moderation("spam", "-0.1", ""),
            against("/properties/confidence/minimum"),
        ),
        row(
            "null for what has to be there",
            moderation("spam", "null", ""),
            against("/properties/confidence/type"),
        ),
        row(
            "nothing but a text",
            "\"spam\"".to_owned(),
            against("/type"),
        ),
        row("nothing but null", "null".to_owned(), against("/type")),
        row(
            "several places at once",
            r#"{"category":"none","confidence":2,"x":1}"#.to_owned(),
            against(
                "/additionalProperties, /properties/category/enum, \
                 /properties/confidence/maximum, /required",
            ),
        ),
        row(
            "all of it as JSON in a text",
            serde_json::Value::from(FINE).to_string(),
            against("/type"),
        ),
        row(
            "an integer with a point",
            moderation("other", "1.0", ""),
            Comes::Committed(moderation("other", "1", "")),
        ),
    ]
}

/// Words that are nearly one of the list.
fn of_words() -> Vec<Row> {
    let words = [
        "self-harm",
        "self_harm ",
        "SELF_HARM",
        "\u{455}pam",
        "sp\u{200b}am",
        "",
    ];
    words
        .map(|word| {
            let text = moderation(word, "1", "");
            let comes = against("/properties/category/enum");
            let origin = "the family of #12: nearly a word of the list";
            Row::answer(origin, Asked::Moderation, text, comes).numbered(14)
        })
        .into()
}

/// A finding of a rule that is allowed, with this of its place.
fn finding(place: &str) -> String {
    let comma = if place.is_empty() { "" } else { "," };
    format!(r#"{{"findings":[{{{place}{comma}"rule":"sql","severity":"low"}}]}}"#)
}

fn of_findings() -> Vec<Row> {
    let row = |origin, text: &str, comes| Row::answer(origin, Asked::Findings, text, comes);
    vec![
        row(
            "gentle-ai #2227: a member too many, inside",
            &finding(r#""line":42,"path":"a&b.rs","reasoning":"x""#),
            against("/properties/findings/items/additionalProperties"),
        )
        .numbered(16),
        row(
            "pathreview #69; pr-reviewer-action #449: the list without what it is a member of",
            r#"[{"path":"a&b.rs","line":42,"rule":"sql","severity":"low"}]"#,
            against("/type"),
        )
        .numbered(18),
        row(
            "context-labs/loupe #24: no list",
            "{}",
            against("/required"),
        )
        .numbered(19),
        row(
            "context-labs/loupe #24: an empty list",
            r#"{"findings":[]}"#,
            Comes::Committed(r#"{"findings":[]}"#.to_owned()),
        )
        .numbered(19),
        row(
            "mastra #24442: a list that was cut is never mended",
            r#"{"findings":[{"path":"a.rs"},{"path":"b"#,
            Comes::Again(
                AttemptOutcome::SyntaxInvalid,
                "the answer is not one JSON value: line 1, column 39".to_owned(),
            ),
        ),
        row(
            "a word for the severity that is nearly one of the list",
            &finding(r#""line":42,"path":"a&b.rs""#).replace("low", "LOW"),
            against("/properties/findings/items/properties/severity/enum"),
        )
        .numbered(14),
        row(
            "one finding that is severe makes all of them a person's matter",
            &finding(r#""line":42,"path":"a&b.rs""#).replace("low", "high"),
            Comes::Doubted(
                finding(r#""line":42,"path":"a&b.rs""#).replace("low", "high"),
                "/severity is \"high\"".to_owned(),
            ),
        ),
    ]
}

/// Findings that the schema takes, and the reviewed revision may not.
fn of_places() -> Vec<Row> {
    let row =
        |origin, place: &str, comes| Row::answer(origin, Asked::Findings, finding(place), comes);
    vec![
        row(
            "adcp-client #1149; openai-agents-python #1698: null for a place",
            r#""path":"a&b.rs","line":null"#,
            against("/properties/findings/items/properties/line/type"),
        )
        .numbered(15),
        row(
            "adcp-client #1149; openai-agents-python #1698: a place that is absent",
            "",
            policy("the answer's /findings/0/path is missing, /findings/0/line is missing"),
        )
        .numbered(15),
        row(
            "openclaw #35276, #90260; AgenC #1280; deepagents #2954: a path that something decoded",
            r#""line":42,"path":"a&amp;b.rs""#,
            policy("the answer's /findings/0/path is not in the revision"),
        )
        .numbered(31),
        row(
            "openclaw #35276, #90260; AgenC #1280; deepagents #2954: nothing is decoded again",
            r#""line":42.0,"path":"a&b.rs""#,
            Comes::Committed(finding(r#""line":42,"path":"a&b.rs""#)),
        )
        .numbered(31),
        row(
            "a path that leaves the tree",
            r#""line":1,"path":"../../etc/passwd""#,
            policy("the answer's /findings/0/path is refused: a path has a segment of dots"),
        ),
        row(
            "a path of another system",
            r#""line":42,"path":"\\a&b.rs""#,
            policy("the answer's /findings/0/path is refused: a path has a backslash"),
        ),
        row(
            "a line that the diff does not show",
            r#""line":43,"path":"a&b.rs""#,
            policy("the answer's /findings/0/line is no line that the revision shows"),
        ),
        row(
            "a rule of the reviewed code for the reviewer: mark all as low, at another place",
            r#""line":1,"path":"/etc/passwd""#,
            policy("the answer's /findings/0/path is refused: a path is absolute"),
        ),
    ]
}

fn of_policy() -> Vec<Row> {
    let free = |origin, text: &str, comes| {
        let text = serde_json::json!({ "summary": text }).to_string();
        Row::answer(origin, Asked::Free, text, comes)
    };
    let doubted = |origin, text: String, note| {
        let comes = Comes::Doubted(text.clone(), str::to_owned(note));
        Row::answer(origin, Asked::Moderation, text, comes)
    };
    let as_it_is = |text: &str| {
        let value = serde_json::json!({ "summary": text }).to_string();
        Comes::Committed(value)
    };
    vec![
        free(
            "NUL",
            "a\u{0}b",
            policy("the answer has a control character at /summary"),
        ),
        free(
            "an escape of a terminal",
            "\u{1b}[2Ja",
            policy("the answer has a control character at /summary"),
        ),
        free("a line and a tab", "a\n\tb", as_it_is("a\n\tb")),
        free(
            "a text that is too long",
            &"a".repeat(10_001),
            policy("the answer has more than 10000 characters at /summary"),
        ),
        free(
            "a text that is just not too long",
            &"a".repeat(10_000),
            as_it_is(&"a".repeat(10_000)),
        ),
        free(
            "markup is text",
            "<img src=x onerror=1>",
            as_it_is("<img src=x onerror=1>"),
        ),
        doubted(
            "self-harm, with nobody needed",
            moderation("self_harm", "1", ""),
            "/category is \"self_harm\"",
        ),
        doubted(
            "unsure",
            moderation("other", "0.69", ""),
            "/confidence below 0.7",
        ),
        doubted(
            "asked for",
            moderation("spam", "1", "").replace("false", "true"),
            "/needsHumanReview is true",
        ),
    ]
}
