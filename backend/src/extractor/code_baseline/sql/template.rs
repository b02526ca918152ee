//! Texts in quotes with what is put into them, as each language writes it.

use regex::{Captures, Regex};

use super::super::place::Language;

/// Stands in a template where something is put in.
pub(super) const HOLE: &str = "\u{1}";

/// A text, and what is written where its holes are; nothing where that stands elsewhere.
#[derive(Debug, Default)]
pub(super) struct Template {
    pub(super) text: String,
    pub(super) holes: Vec<String>,
}

const LITERAL: &str = concat!(
    r#"([A-Za-z$@]*)#*(?:"((?:[^"\\]|\\.)*)""#,
    r"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)#*",
);
const IN_BRACES: &str = r"\{([^{}]*)\}";
const IN_DOLLAR_BRACES: &str = r"\$\{([^{}]*)\}";
const IN_HASH_BRACES: &str = r"#\{([^{}]*)\}";
const AFTER_A_DOLLAR: &str = r"\{?\$\{?([A-Za-z_][\w\->\[\]'.]*)\}?\}?";
const DIRECTIVE: &str = r"%[-+0-9.]*[sdvqifu]";
/// The call that takes the text which follows.
const FORMATS_NEXT: &str =
    r"(?:\bformat!|\bformat_args!|\bSprintf|\bString\.format|\bsprintf)\(\s*$";
/// What makes a template of the text before it: `%` with values, or a method.
const FORMATS_BEFORE: &str = r"^\s*(?:%\s*[\w(\[{]|\.format\(|\.formatted\()";
const ADDED: &str = r"^\s*\+\s*";
const ADDED_IN_PHP: &str = r"^\s*\.\s*";
const OPERAND: &str = r"^\(?[A-Za-z_$@][\w$.>:\->]*";

#[derive(Debug)]
pub(super) struct Templates {
    literal: Regex,
    in_braces: Regex,
    in_dollar_braces: Regex,
    in_hash_braces: Regex,
    after_a_dollar: Regex,
    directive: Regex,
    formats_next: Regex,
    formats_before: Regex,
    added: Regex,
    added_in_php: Regex,
    operand: Regex,
}

pub(super) fn patterns() -> Vec<&'static str> {
    vec![
        LITERAL,
        IN_BRACES,
        IN_DOLLAR_BRACES,
        IN_HASH_BRACES,
        AFTER_A_DOLLAR,
        DIRECTIVE,
        FORMATS_NEXT,
        FORMATS_BEFORE,
        ADDED,
        ADDED_IN_PHP,
        OPERAND,
    ]
}

impl Templates {
    pub(super) fn new() -> Result<Self, regex::Error> {
        Ok(Self {
            literal: Regex::new(LITERAL)?,
            in_braces: Regex::new(IN_BRACES)?,
            in_dollar_braces: Regex::new(IN_DOLLAR_BRACES)?,
            in_hash_braces: Regex::new(IN_HASH_BRACES)?,
            after_a_dollar: Regex::new(AFTER_A_DOLLAR)?,
            directive: Regex::new(DIRECTIVE)?,
            formats_next: Regex::new(FORMATS_NEXT)?,
            formats_before: Regex::new(FORMATS_BEFORE)?,
            added: Regex::new(ADDED)?,
            added_in_php: Regex::new(ADDED_IN_PHP)?,
            operand: Regex::new(OPERAND)?,
        })
    }

    /// The templates of a line.
    pub(super) fn of(&self, language: Language, line: &str) -> Vec<Template> {
        let line = line.replace(HOLE, " ").replace("\"\"\"", "\"");
        let mut templates = Vec::new();
        let mut rest = line.as_str();
        while let Some(literal) = self.literal.captures(rest) {
            let Some(whole) = literal.get(0) else { break };
            let before = rest.get(..whole.start()).unwrap_or_default();
            let mut template = Template::default();
            let after = rest.get(whole.end()..).unwrap_or_default();
            self.put(&mut template, language, before, &literal, after);
            rest = self.go_on(&mut template, language, after);
            templates.push(template);
        }
        templates
    }

    /// Takes what is added to a text: names, and further texts. What follows is left.
    fn go_on<'l>(&self, template: &mut Template, language: Language, after: &'l str) -> &'l str {
        let added = match language == Language::Php {
            true => &self.added_in_php,
            false => &self.added,
        };
        let mut rest = after;
        while let Some(sign) = added.find(rest) {
            let operand = rest.get(sign.end()..).unwrap_or_default();
            if let Some(literal) = self.literal.captures(operand)
                && let Some(whole) = literal.get(0)
                && whole.start() == 0
            {
                rest = operand.get(whole.end()..).unwrap_or_default();
                self.put(template, language, "", &literal, rest);
            } else if let Some(name) = self.operand.find(operand) {
                template.text.push_str(HOLE);
                template.holes.push(name.as_str().to_owned());
                rest = past_call(operand.get(name.end()..).unwrap_or_default());
            } else {
                break;
            }
        }
        rest
    }

    fn put(
        &self,
        template: &mut Template,
        language: Language,
        before: &str,
        literal: &Captures<'_>,
        after: &str,
    ) {
        let prefix = literal.get(1).map_or("", |it| it.as_str());
        let text = (2..=4).find_map(|group| literal.get(group));
        let text = text.map_or("", |it| it.as_str());
        let backtick = literal.get(4).is_some();
        let single = literal.get(3).is_some();
        let next = self.formats_next.is_match(before);
        let before = self.formats_before.is_match(after);
        let hole = match language {
            Language::Python if prefix.contains(['f', 'F']) => Some(&self.in_braces),
            Language::Python if text.contains('%') => before.then_some(&self.directive),
            Language::Python => before.then_some(&self.in_braces),
            Language::JavaScript => backtick.then_some(&self.in_dollar_braces),
            Language::CSharp => prefix.contains('$').then_some(&self.in_braces),
            Language::Ruby => (!single).then_some(&self.in_hash_braces),
            Language::Rust => next.then_some(&self.in_braces),
            Language::Go => next.then_some(&self.directive),
            Language::Java | Language::Php => match next || before {
                true => Some(&self.directive),
                false => (!single).then_some(&self.after_a_dollar),
            },
            Language::Shell | Language::Settings | Language::Other => None,
        };
        let Some(hole) = hole else {
            template.text.push_str(text);
            return;
        };
        let holes = hole.captures_iter(text);
        let written = holes.map(|it| it.get(1).map_or("", |it| it.as_str()).to_owned());
        template.holes.extend(written);
        template.text.push_str(&hole.replace_all(text, HOLE));
    }
}

/// What follows the arguments of a call, if they end on this line.
fn past_call(rest: &str) -> &str {
    let mut depth = 0_u32;
    for (at, character) in rest.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            _ if depth == 0 => return rest.get(at..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}
