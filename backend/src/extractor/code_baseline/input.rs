//! Rust that ends with a panic when what it reads is not as expected.

use regex::Regex;

use super::{
    finding::{Hit, Rule, Severity},
    place::Language,
    spot::Spot,
};

const SUMMARY: &str = "Text or bytes are read with `unwrap` or `expect`: input that does not fit \
                       ends the program.";

/// A call that reads text or bytes, right before the panic.
const READ_AND_PANIC: &str = concat!(
    r"(?:\.parse(?:::<[^()]*>)?\(\)",
    r"|\b(?:from_str|from_slice|from_reader|from_utf8|from_str_radix|read_to_string|read_to_end",
    r"|read_line)(?:::<[^()]*>)?\((?:[^()]|\([^()]*\))*\)",
    r"|\.json(?:::<[^()]*>)?\(\))",
    r"(?:\s*\.await)?\s*\.(?:unwrap\(\)|expect\()",
);
/// What is read stands in the code itself.
const OF_A_CONSTANT: &str = concat!(
    r#"["']\s*\.parse(?:::<[^()]*>)?\(\)\s*\."#,
    r#"|\b(?:from_\w+)(?:::<[^()]*>)?\(\s*(?:&?b?r?#*"|include_|&?[A-Z][A-Z0-9_:]*[,)])"#,
    r"|\b[A-Z][A-Z0-9_]*\.parse",
    r#"|\benv!\([^)]*\)\.parse"#,
);

#[derive(Debug)]
pub(super) struct Inputs {
    read_and_panic: Regex,
    of_a_constant: Regex,
}

pub(super) fn patterns() -> Vec<&'static str> {
    vec![READ_AND_PANIC, OF_A_CONSTANT]
}

impl Inputs {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            read_and_panic: Regex::new(READ_AND_PANIC)?,
            of_a_constant: Regex::new(OF_A_CONSTANT)?,
        })
    }

    pub(super) fn look(&self, spot: &Spot<'_>) -> Option<Hit> {
        if !spot.is_code() || spot.language != Language::Rust {
            return None;
        }
        let (chain, begins) = spot.chain();
        let mut found = self.read_and_panic.find_iter(&chain);
        // What ended above this line is that line's.
        let here = found.any(|found| found.end() > begins);
        (here && !self.of_a_constant.is_match(&chain)).then_some(Hit {
            rule: Rule::Input,
            severity: Severity::Medium,
            summary: SUMMARY,
        })
    }
}
