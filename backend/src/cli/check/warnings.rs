//! What a configuration does without, by a sender's choice or its owner's.

use fencepost_identity::{
    config::Source,
    signature::{Algorithm, Proof, Scheme, StampSource, Window, Word},
};
use serde_json::Value;

use crate::{
    config::{Pipeline, Project},
    judge::Test,
};

/// What a person has to decide about, whatever a model says.
const SELF_HARM: &str = "self_harm";

/// A line for each member that may say `self_harm` and that no rule asks about.
pub(super) fn unattended(pipeline: &Pipeline) -> Vec<String> {
    let members = pipeline.schema.document().get("properties");
    let members = members.and_then(Value::as_object).into_iter().flatten();
    let says = |schema: &Value| {
        let words = schema.get("enum").and_then(Value::as_array);
        words.is_some_and(|words| words.iter().any(|word| word == SELF_HARM))
    };
    let is_asked = |pointer: &str| {
        pipeline.review_when.iter().any(|rule| {
            let is_it = matches!(&rule.test, Test::Is(wanted) if wanted == SELF_HARM);
            is_it && rule.pointer.as_str() == pointer
        })
    };
    let pointers = members
        .filter(|(_, schema)| says(schema))
        .map(|(name, _)| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        .filter(|pointer| !is_asked(pointer));
    let line = |pointer: String| {
        format!(
            "pipeline `{}`: `{SELF_HARM}` may be decided without a person; put {{ pointer = \
             \"{pointer}\", is = \"{SELF_HARM}\" }} into `review_when`",
            pipeline.name
        )
    };
    pointers.map(line).collect()
}

/// A line for each extractor that could be asked more at once than a process ever asks.
pub(super) fn idle_limits(project: &Project) -> Vec<String> {
    let loops = project.worker.concurrency.get();
    let calls = project.limits.iter().filter_map(|(name, limits)| {
        let calls = usize::try_from(limits.concurrency?.get()).ok()?;
        (calls > loops).then_some((name, calls))
    });
    let line = |(name, calls)| {
        format!(
            "extractor `{name}`: `limits.concurrency` is {calls}, and nothing comes of it: a \
             process asks {loops} at once, as `concurrency` of [worker] says"
        )
    };
    calls.map(line).collect()
}

/// A line for each.
pub(super) fn weaknesses(source: &Source) -> Vec<String> {
    let name = &source.name;
    let scheme = &source.verify.scheme;
    let mut lines = Vec::new();
    if scheme.proof() == Proof::SenderOnly {
        lines.push(format!(
            "source `{name}`: nothing authenticates the body, only the sender: who sees one \
             delivery can make others"
        ));
    }
    let Scheme::Signed(signed) = scheme else {
        return lines;
    };
    if signed.algorithm == Algorithm::HmacSha1 {
        lines.push(format!(
            "source `{name}`: SHA-1; take a stronger algorithm once its sender has one"
        ));
    }
    let Some(stamp) = &signed.stamp else {
        return lines;
    };
    let signed_time = match stamp.source {
        StampSource::Body(_) => true,
        StampSource::Header | StampSource::Pair(_) => signed.template.names(Word::Timestamp),
    };
    if !signed_time {
        lines.push(format!(
            "source `{name}`: its `timestamp` is not signed, so an old delivery can be given a new \
             one; put `{{timestamp}}` into the template if the sender signs it"
        ));
    }
    if stamp.window == Window::Off {
        lines.push(format!(
            "source `{name}`: `tolerance_seconds` is \"off\": a delivery is taken at any time \
             after it was signed"
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use fencepost_identity::config::Sources;

    use super::*;

    fn of(verify: &str) -> Vec<String> {
        let text = format!(
            r#"
            [source.s]
            {verify}
            secrets = ["k"]
            pipeline = "p"
            [source.s.identity]
            tenant = {{ value = "acme" }}
            report_id = "/id"
            version = "event"
            [source.s.input]
            text = "/id"
            [pipeline.p]
            "#
        );
        let sources = Sources::parse(&text);
        weaknesses(sources.unwrap().get("s").unwrap())
    }

    #[test]
    fn each_weakness_is_told_and_nothing_else() {
        for (verify, told) in [
            ("verify = \"github\"", None),
            ("verify = \"stripe\"", None),
            ("verify = \"linear\"", None),
            ("verify = \"gitlab-token\"", Some("authenticates the body")),
            (
                "verify = { kind = \"basic\" }",
                Some("authenticates the body"),
            ),
            (
                "verify = { preset = \"intercom\", allow_weak = true }",
                Some("SHA-1"),
            ),
            (
                "verify = { preset = \"stripe\", tolerance_seconds = \"off\" }",
                Some("\"off\""),
            ),
            (
                "verify = { preset = \"stripe\", template = \"{body}\" }",
                Some("not signed"),
            ),
            (
                "verify = { preset = \"slack\", template = \"{body}\" }",
                Some("not signed"),
            ),
        ] {
            let lines = of(verify);
            assert_eq!(lines.len(), usize::from(told.is_some()), "{lines:?}");
            for (line, told) in lines.iter().zip(told) {
                assert!(line.contains(told) && line.contains("`s`"), "{line}");
            }
        }
    }
}
