//! Tokens that are told by their form, wherever they stand.

use std::collections::BTreeSet;

use regex::Regex;

use super::super::{
    finding::{Hit, Rule, Severity},
    place::Purpose,
    spot::Spot,
};

/// A form that one issuer gives to its tokens and nobody else to anything.
struct Form {
    pattern: &'static str,
    in_product: Severity,
    /// In tests and documentation; absent where such tokens stand there all the time.
    beside: Option<Severity>,
    summary: &'static str,
}

const fn form(pattern: &'static str, summary: &'static str) -> Form {
    Form {
        pattern,
        in_product: Severity::Critical,
        beside: Some(Severity::Medium),
        summary,
    }
}

/// The most severe first.
const FORMS: &[Form] = &[
    form(
        r"\bgh[pousr]_[A-Za-z0-9]{36}\b",
        "A token of GitHub stands here.",
    ),
    form(
        r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
        "A token of GitHub stands here.",
    ),
    form(
        r"\bglpat-[A-Za-z0-9_-]{20}\b",
        "A token of GitLab stands here.",
    ),
    form(
        r"\bxox[bp]-[0-9]{10,13}-[0-9]{10,13}(?:-[0-9]{10,13})?-[A-Za-z0-9]{24,32}\b",
        "A token of Slack stands here.",
    ),
    form(
        r"\bxapp-[0-9]-A[A-Z0-9]{8,12}-[0-9]{10,13}-[a-f0-9]{64}\b",
        "A token of Slack stands here.",
    ),
    form(
        r"hooks\.slack\.com/services/T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{24}\b",
        "The address of a webhook of Slack stands here; whoever knows it can write there.",
    ),
    form(
        r"\b[sr]k_live_[A-Za-z0-9]{24,247}\b",
        "A live key of Stripe stands here.",
    ),
    form(
        r"\bAIza[0-9A-Za-z_-]{35}(?:[^0-9A-Za-z_-]|$)",
        "An API key of Google stands here.",
    ),
    form(
        r"\bsk-ant-[a-z]+[0-9]{2}-[A-Za-z0-9_-]{80,}",
        "An API key of Anthropic stands here.",
    ),
    form(
        r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,100}T3BlbkFJ[A-Za-z0-9_-]{20,100}",
        "An API key of OpenAI stands here.",
    ),
    form(r"\bnpm_[A-Za-z0-9]{36}\b", "A token of npm stands here."),
    form(
        r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?:[^0-9A-Za-z_-]|$)",
        "An API key of SendGrid stands here.",
    ),
    Form {
        pattern: r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
        in_product: Severity::High,
        beside: Some(Severity::Low),
        summary: "The id of an access key of AWS stands here; its secret is often near.",
    },
    Form {
        pattern: r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{40,}",
        in_product: Severity::Medium,
        beside: None,
        summary: "A signed JSON Web Token stands here; until it runs out, it lets somebody in.",
    },
];

const PRIVATE_KEY: &str =
    r"-----BEGIN (?:RSA |EC |DSA |OPENSSH |PGP )?PRIVATE KEY(?: BLOCK)?-----(.*)";
/// As much of a key as no word has.
const KEY_MATERIAL: &str = r"[A-Za-z0-9+/=]{40,}";
const PRIVATE_KEY_SUMMARY: &str = "A private key stands here.";
/// How far below the first line of a private key the key itself begins.
const KEY_LINES_MAX: usize = 4;

/// A token of fewer different characters is none.
const DIFFERENT_MIN: usize = 8;
/// What is written where a token would stand.
const NO_TOKEN: &[&str] = &[
    "example", "xxxx", "0000", "1234567", "abcdef", "your", "fake", "dummy", "redacted", "....",
];

#[derive(Debug)]
pub(super) struct Tokens {
    forms: Vec<Regex>,
    private_key: Regex,
    key_material: Regex,
}

pub(super) fn patterns() -> Vec<&'static str> {
    let forms = FORMS.iter().map(|form| form.pattern);
    let rest = [PRIVATE_KEY, KEY_MATERIAL];
    forms.chain(rest).chain(NO_TOKEN.iter().copied()).collect()
}

impl Tokens {
    pub(super) fn new() -> Result<Self, regex::Error> {
        let forms = FORMS.iter().map(|form| Regex::new(form.pattern));
        Ok(Self {
            forms: forms.collect::<Result<_, _>>()?,
            private_key: Regex::new(PRIVATE_KEY)?,
            key_material: Regex::new(KEY_MATERIAL)?,
        })
    }

    pub(super) fn look(&self, spot: &Spot<'_>) -> Option<Hit> {
        let key = self.holds_private_key(spot);
        let key = key.then(|| form(PRIVATE_KEY, PRIVATE_KEY_SUMMARY));
        let key = key.and_then(|form| hit(&form, spot));
        key.or_else(|| {
            let forms = FORMS.iter().zip(&self.forms);
            let found = |pattern: &Regex| {
                let mut tokens = pattern.find_iter(spot.line);
                tokens.any(|token| is_token(token.as_str()))
            };
            let mut found = forms.filter(|(_, pattern)| found(pattern));
            found.find_map(|(form, _)| hit(form, spot))
        })
    }

    /// A first line alone is what programs look for that read keys.
    fn holds_private_key(&self, spot: &Spot<'_>) -> bool {
        let Some(rest) = self
            .private_key
            .captures(spot.line)
            .and_then(|it| it.get(1))
        else {
            return false;
        };
        let below = spot.following().take(KEY_LINES_MAX);
        let below = below.take_while(|line| !line.contains("-----"));
        std::iter::once(rest.as_str())
            .chain(below)
            .filter_map(|line| self.key_material.find(line))
            .any(|material| is_token(material.as_str()))
    }
}

fn hit(form: &Form, spot: &Spot<'_>) -> Option<Hit> {
    let severity = match spot.purpose {
        Purpose::Product => Some(form.in_product),
        Purpose::Beside => form.beside,
    };
    severity.map(|severity| Hit {
        rule: Rule::Secret,
        severity,
        summary: form.summary,
    })
}

fn is_token(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let different: BTreeSet<u8> = text.bytes().collect();
    different.len() >= DIFFERENT_MIN && !NO_TOKEN.iter().any(|it| lower.contains(it))
}
