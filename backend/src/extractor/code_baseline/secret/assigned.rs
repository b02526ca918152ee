//! Values that are given to something called a password, a secret, a token.

use std::collections::BTreeMap;

use regex::Regex;

use super::super::{
    finding::{Hit, Rule, Severity},
    place::Language,
    spot::Spot,
};

const SUMMARY: &str = "A value that looks like a real secret is given to what is named like one.";

/// A name and a text in quotes.
const QUOTED: &str = concat!(
    r"(?i)\b([a-z0-9_.-]*(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key",
    r"|private[_-]?key|auth[_-]?key|credentials?)[a-z0-9_-]*)",
    r#"["'\]]*\s*(?::\s*&?(?:'static )?(?:str|string|String)\s*)?(?::=|=>|=|:)\s*"#,
    r#"(?:"([^"\s]{8,})"|'([^'\s]{8,})'|`([^`\s]{8,})`)"#,
);
/// A name and a value, as files of settings have them.
const PLAIN: &str = concat!(
    r"(?i)^\s*(?:export\s+|-\s+)?([a-z0-9_.-]*(?:password|passwd|pwd|secret|token|api[_-]?key",
    r"|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?)[a-z0-9_-]*)",
    r#"\s*[=:]\s*([^\s"'#,]{8,})\s*$"#,
);
/// A name that speaks about a secret and has none.
const ABOUT: &str = concat!(
    r"(?i)(?:hash|hashed|digest|sha\d*|checksum|public.*|name|id|ids|url|uri|path|file|dir|env",
    r"|var|variable|address|tooltip|type|kind|field|label|title|text|message|error|hint|header",
    r"|prefix|suffix|regex",
    r"|pattern|format|length|len|size|min|max|policy|ref|arn|endpoint|scope|placeholder|color)$",
);
/// A value that stands for another one, is found elsewhere, or is no secret by its own word.
const NO_SECRET: &[&str] = &[
    "example",
    "changeme",
    "change-me",
    "change_me",
    "changeit",
    "placeholder",
    "your",
    "xxxx",
    "****",
    "....",
    "dummy",
    "test",
    "sample",
    "fake",
    "todo",
    "insert",
    "replace",
    "redacted",
    "default",
    "${",
    "$(",
    "{{",
    "%(",
    "%s",
    "<",
    "env",
    "process.",
    "os.",
    "config",
    "secrets.",
    "vault:",
    "enc[",
    "arn:",
    "!ref",
    "://",
    "/",
    "::",
    "()",
    "null",
    "undefined",
];

/// What is longer is data.
const VALUE_BYTES_MAX: usize = 200;
/// Bits for each character: what people and machines choose at random has more, words have less.
const ENTROPY_MIN: f64 = 2.9;

#[derive(Debug)]
pub(super) struct Assigned {
    quoted: Regex,
    plain: Regex,
    about: Regex,
}

pub(super) fn patterns() -> Vec<&'static str> {
    let patterns = [QUOTED, PLAIN, ABOUT];
    patterns
        .into_iter()
        .chain(NO_SECRET.iter().copied())
        .collect()
}

impl Assigned {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            quoted: Regex::new(QUOTED)?,
            plain: Regex::new(PLAIN)?,
            about: Regex::new(ABOUT)?,
        })
    }

    pub(super) fn look(&self, spot: &Spot<'_>) -> Option<Hit> {
        if !spot.is_code() {
            return None;
        }
        let has_plain = matches!(spot.language, Language::Settings | Language::Shell);
        let plain = has_plain.then(|| self.plain.captures(spot.line)).flatten();
        let mut found = self.quoted.captures_iter(spot.line).chain(plain);
        let is_secret = found.any(|found| {
            let mut groups = found.iter().skip(1).flatten().map(|group| group.as_str());
            let (name, value) = (groups.next(), groups.next());
            let named = name.is_some_and(|name| !self.about.is_match(name));
            named && value.is_some_and(is_random)
        });
        is_secret.then_some(Hit {
            rule: Rule::Secret,
            severity: Severity::High,
            summary: SUMMARY,
        })
    }
}

/// Whether a value is neither a word, nor several, nor something that stands for another value.
fn is_random(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |wanted: fn(&char) -> bool| value.chars().any(|character| wanted(&character));
    let is_foreign = |it: char| it.is_alphabetic() && !it.is_ascii();
    value.len() <= VALUE_BYTES_MAX
        && !value.contains(is_foreign)
        && has(char::is_ascii_alphabetic)
        && has(char::is_ascii_digit)
        && !NO_SECRET.iter().any(|it| lower.contains(it))
        && !stands_for_another(value)
        && !value.split(['-', '_', '.', ':', ' ']).all(is_name)
        && entropy(value) >= ENTROPY_MIN
}

/// The name of a variable or of another value, as shells, templates and YAML write it.
fn stands_for_another(value: &str) -> bool {
    let name = value.strip_prefix(['$', '%', '@', '*', '&', '!']);
    let name = name.map(|name| name.strip_suffix(['%', '@']).unwrap_or(name));
    let is_in_names = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    name.is_some_and(|name| name.bytes().all(is_in_names))
}

/// A word, or several that are told apart by capital letters.
fn is_name(piece: &str) -> bool {
    let mut words = Vec::new();
    let mut begin = 0;
    let followed = piece.char_indices().zip(piece.chars().skip(1));
    for ((at, this), next) in followed {
        if !this.is_ascii_uppercase() && next.is_ascii_uppercase() {
            let end = at + this.len_utf8();
            words.extend(piece.get(begin..end));
            begin = end;
        }
    }
    words.extend(piece.get(begin..));
    // What is drawn at random changes between small and capital letters more often.
    is_word(piece) || words.iter().all(|word| word.len() >= 3 && is_word(word))
}

/// Letters alone, digits alone, or letters with a small number before or behind them.
fn is_word(piece: &str) -> bool {
    let digit = |it: char| it.is_ascii_digit();
    let letters = piece.trim_matches(digit);
    let digits = piece.len() - letters.len();
    letters.bytes().all(|byte| byte.is_ascii_alphabetic()) && (letters.is_empty() || digits <= 2)
}

/// Shannon's, of the characters.
fn entropy(value: &str) -> f64 {
    let mut counts: BTreeMap<char, u32> = BTreeMap::new();
    for character in value.chars() {
        *counts.entry(character).or_default() += 1;
    }
    let all: f64 = counts.values().map(|count| f64::from(*count)).sum();
    let share = |count: &u32| f64::from(*count) / all;
    counts.values().map(share).map(|it| -it * it.log2()).sum()
}
