//! SQL whose text is put together with values.
//!
//! The texts in quotes of a line, what is put into them and what is added to them are read as one
//! template. It is found where it reads as a statement and something else than a constant is in it.

mod template;

use regex::Regex;

use self::template::{HOLE, Template, Templates};
use super::{
    finding::{Hit, Rule, Severity},
    spot::Spot,
};

const VALUE_SUMMARY: &str = "A value becomes part of an SQL statement's text: whoever chooses the \
                             value can change the statement. Pass it as a parameter.";
const NAME_SUMMARY: &str = "An SQL statement's text is put together: whoever chooses what is put \
                            in can change the statement.";

/// What a statement begins with. In capital letters, or else with enough around it to be no prose.
const STATEMENT: &str = concat!(
    r"^\s*\(?(?:SELECT\s.*\sFROM\s|INSERT\s+(?:IGNORE\s+)?INTO\s|REPLACE\s+INTO\s",
    r"|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s",
    r"|select\s+(?:\*|[\w.\x01]+(?:\s*,\s*[\w.\x01]+)*)\s+from\s+\S+\s",
    r"+(?:where|join|order|limit)\s",
    r"|insert\s+into\s+\S+\s*(?:\(|values)|update\s+\S+\s+set\s+\S+\s*=",
    r"|delete\s+from\s+\S+\s+where\s)",
);
/// What stands before a value, up to where it is put in.
const BEFORE_A_VALUE: &str = concat!(
    r#"(?i)(?:[=<>]|\b(?:like|in|between|limit|offset|and|or)\b)[\s'"%(]*$"#,
    r"|\bvalues\s*\([^)]*$",
);

#[derive(Debug)]
pub(super) struct Sql {
    templates: Templates,
    statement: Regex,
    before_a_value: Regex,
}

pub(super) fn patterns() -> Vec<&'static str> {
    let mut patterns = template::patterns();
    patterns.extend([STATEMENT, BEFORE_A_VALUE]);
    patterns
}

impl Sql {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            templates: Templates::new()?,
            statement: Regex::new(STATEMENT)?,
            before_a_value: Regex::new(BEFORE_A_VALUE)?,
        })
    }

    pub(super) fn look(&self, spot: &Spot<'_>) -> Option<Hit> {
        if !spot.is_code() {
            return None;
        }
        let templates = self.templates.of(spot.language, spot.line);
        let severity = templates.iter().filter_map(|it| self.severity(it)).max()?;
        Some(Hit {
            rule: Rule::Sql,
            severity,
            summary: match severity >= Severity::High {
                true => VALUE_SUMMARY,
                false => NAME_SUMMARY,
            },
        })
    }

    /// A value is worse than the name of a table, for which there are no parameters.
    fn severity(&self, template: &Template) -> Option<Severity> {
        self.statement.is_match(&template.text).then_some(())?;
        let holes = template.text.match_indices(HOLE).zip(&template.holes);
        let open = holes.filter(|(_, hole)| !is_constant(hole) && !is_list_of_marks(hole));
        let severities = open.map(|((at, _), _)| {
            let before = template.text.get(..at).unwrap_or_default();
            match self.before_a_value.is_match(before) {
                true => Severity::High,
                false => Severity::Medium,
            }
        });
        severities.max()
    }
}

/// A name in capital letters, as constants have in most languages.
fn is_constant(hole: &str) -> bool {
    let name = hole.rsplit(['.', ':']).next().unwrap_or_default().trim();
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(capital)
}

/// As many question marks as there are parameters: one in quotes, since others ask whether there is
/// a value at all.
fn is_list_of_marks(hole: &str) -> bool {
    let lower = hole.to_ascii_lowercase();
    lower.contains("'?") || lower.contains("\"?") || lower.contains("placeholder")
}
