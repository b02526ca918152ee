//! What came of a delivery, and whether that is what had to.

use serde_json::Value;

use crate::{Expected, Verdict};

/// What a runner sees of a delivery to an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer's status.
    pub status: u16,
    /// The answer's headers, their names in small letters.
    pub headers: Vec<(String, String)>,
    /// The answer's body; nothing where HTTP carries none, as to HEAD.
    pub body: Option<Vec<u8>>,
    /// How many reports reached the backend.
    pub forwarded: usize,
    /// What the edge logged, a line of JSON each.
    pub lines: Vec<String>,
}

impl Outcome {
    /// Every difference to what is expected.
    #[must_use]
    pub fn differences(&self, expected: &Expected) -> Vec<String> {
        let mut found = Vec::new();
        let mut check = |what: &str, is: String, should: String| {
            if is != should {
                found.push(format!("{what} is {is}, should be {should}"));
            }
        };
        let events: Vec<Value> = self
            .lines
            .iter()
            .map(|line| json(line.as_bytes()))
            .collect();
        let logged = |name: &str| {
            let members = events.iter().map(|event| text(event, name));
            members.collect::<Vec<_>>().join(" and ")
        };
        check(
            "status",
            self.status.to_string(),
            expected.status.to_string(),
        );
        let forwarded = usize::from(expected.verdict == Verdict::Accepted);
        check(
            "forwarded",
            self.forwarded.to_string(),
            forwarded.to_string(),
        );
        check("event", logged("event"), event(expected.verdict).to_owned());
        if let Some(code) = &expected.code {
            check("logged code", logged("code"), code.clone());
            let problem = "application/problem+json".to_owned();
            check("type", self.header("content-type"), problem);
            if let Some(body) = &self.body {
                check("code", text(&json(body), "code"), code.clone());
            }
        }
        if let Some(reason) = &expected.reason {
            check("reason", logged("reason"), reason.clone());
        }
        if let (Some(answer), Some(body)) = (&expected.answer, &self.body) {
            let is = String::from_utf8_lossy(body).into_owned();
            check("answer", is, answer.clone());
        }
        if expected.verdict == Verdict::Handshake {
            let nosniff = self.header("x-content-type-options");
            check("x-content-type-options", nosniff, "nosniff".to_owned());
        }
        found
    }

    fn header(&self, name: &str) -> String {
        let values = self.headers.iter().filter(|(header, _)| header == name);
        let values = values.map(|(_, value)| value.as_str());
        values.collect::<Vec<_>>().join(" and ")
    }
}

/// What the log calls it; what is accepted leaves no line.
const fn event(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "",
        Verdict::Ignored => "ignored",
        Verdict::Handshake => "handshake",
        Verdict::Refused | Verdict::Misconfigured => "refused",
    }
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_default()
}

fn text(object: &Value, name: &str) -> String {
    let member = object.get(name).and_then(Value::as_str);
    member.unwrap_or_default().to_owned()
}
