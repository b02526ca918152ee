//! The extractor that needs no model: phrase rules, and naive Bayes for spam.
//!
//! It exists so that everything around a model can be tried and tested without one. It understands
//! nothing; docs/extractors.md says how good it is, as measured, and when not to use it.

pub mod bayes;
mod rules;
pub mod tokens;

use std::fmt::Write as _;

use async_trait::async_trait;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::{
    bayes::{Bayes, CoefficientsError, Evidence},
    rules::Rules,
};
use super::{Call, Draft, ExtractError, Extractor, Failure, Question, Usage};

/// The provider that the records of this extractor name.
pub const PROVIDER: &str = "baseline";
/// The model that the records of this extractor name. Changed with the rules or coefficients.
pub const MODEL: &str = "baseline-1 (phrase rules + naive Bayes, no language model)";

/// From this probability on, spam is called spam. High, because to accuse an ordinary text is worse
/// than to ask a person. Set by hand; docs/extractors.md shows what it gives.
pub const SPAM_FROM: f64 = 0.9;
/// From this probability on, a text without spam is believed to be so without a person.
pub const OTHER_FROM: f64 = 0.8;
/// With fewer distinct known tokens there is nothing to judge by.
pub const KNOWN_MIN: u32 = 3;
/// Nor is there when a smaller share of the distinct tokens is known: the text is probably in
/// another language, and some of its words only look like English ones.
pub const KNOWN_SHARE_MIN: f64 = 0.6;

/// A matched phrase's confidence is an assumption, not a measurement: nobody has counted how often
/// the phrases are meant as they read.
const RULE_CONFIDENCE: f64 = 0.6;
/// What is claimed of a text with nothing to judge by.
const NO_EVIDENCE_CONFIDENCE: f64 = 0.5;
/// No text is claimed to be surer than this, however far its score is from all training texts.
const CONFIDENCE_MAX: f64 = 0.99;

const COEFFICIENTS: &str = include_str!("baseline/coefficients.txt");

/// What a text was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Threats, incitement or insults.
    Abuse,
    /// Unasked advertising.
    Spam,
    /// The writer speaks of harming themselves.
    SelfHarm,
    /// None of these, or nothing to tell by.
    Other,
}

impl Category {
    /// The name that a result uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Abuse => "abuse",
            Self::Spam => "spam",
            Self::SelfHarm => "self_harm",
            Self::Other => "other",
        }
    }
}

/// The judgement of one text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classification {
    /// What it was taken for.
    pub category: Category,
    /// How probable the category is; between 0 and 1, in steps of 0.001.
    pub confidence: f64,
    /// Whether a person has to look: always after a phrase rule, and whenever unsure.
    pub needs_human_review: bool,
}

impl Classification {
    /// The result as a model would answer it.
    pub fn to_json(&self) -> String {
        json!({
            "category": self.category.as_str(),
            "confidence": self.confidence,
            "needsHumanReview": self.needs_human_review,
        })
        .to_string()
    }

    fn of_rule(category: Category) -> Self {
        Self {
            category,
            confidence: RULE_CONFIDENCE,
            needs_human_review: true,
        }
    }

    fn of_spam_probability(probability: f64) -> Self {
        // Rounded, so that the last bits of a platform's `exp` never show in a stored result.
        let spam = (probability.clamp(1.0 - CONFIDENCE_MAX, CONFIDENCE_MAX) * 1000.0).round();
        let (category, confidence, sure_from) = if spam >= SPAM_FROM * 1000.0 {
            (Category::Spam, spam / 1000.0, SPAM_FROM)
        } else {
            (Category::Other, (1000.0 - spam) / 1000.0, OTHER_FROM)
        };
        Self {
            category,
            confidence,
            needs_human_review: confidence < sure_from,
        }
    }

    fn without_evidence() -> Self {
        Self {
            category: Category::Other,
            confidence: NO_EVIDENCE_CONFIDENCE,
            needs_human_review: true,
        }
    }
}

/// The classifier. The same text always gives the same result; nothing is read or sent.
#[derive(Debug)]
pub struct Baseline {
    rules: Rules,
    bayes: Bayes,
}

impl Baseline {
    /// The classifier with the coefficients that were built in.
    ///
    /// # Errors
    /// When the built-in coefficients are damaged.
    pub fn new() -> Result<Self, CoefficientsError> {
        Bayes::parse(COEFFICIENTS).map(Self::with)
    }

    /// The classifier with other coefficients, as training needs it to measure them.
    pub fn with(bayes: Bayes) -> Self {
        Self {
            rules: Rules::new(),
            bayes,
        }
    }

    /// Judges a text. Time and memory grow in proportion to its length.
    pub fn classify(&self, text: &str) -> Classification {
        match self.rules.category(text) {
            Some(category) => Classification::of_rule(category),
            None => self.classify_spam(self.bayes.weights.evidence(text)),
        }
    }

    fn classify_spam(&self, evidence: Evidence) -> Classification {
        if evidence.known < KNOWN_MIN || evidence.known_share() < KNOWN_SHARE_MIN {
            return Classification::without_evidence();
        }
        let probability = self.bayes.calibration.probability(evidence.score());
        Classification::of_spam_probability(probability)
    }
}

#[async_trait]
impl Extractor for Baseline {
    /// The digest covers what a change of would change answers: weights and phrases. The comments
    /// in the coefficients are left out, so that a new date there stops no pipeline.
    fn fingerprint(&self) -> Value {
        let weights = COEFFICIENTS.lines().filter(|line| !line.starts_with('#'));
        let mut digest = Sha256::new();
        for line in weights.chain(rules::phrases()) {
            digest.update(line);
            digest.update("\n");
        }
        json!({ "provider": PROVIDER, "model": MODEL, "sha256": hex(&digest.finalize()) })
    }

    fn addressee(&self) -> Call {
        Call {
            provider: PROVIDER.to_owned(),
            model: MODEL.to_owned(),
            request_id: None,
            usage: Usage::default(),
        }
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let call = self.addressee();
        match serde_json::from_slice(question.input) {
            Ok(input) => {
                let text = self.classify(&text_of(&input)).to_json();
                Ok(Draft { text, call })
            }
            // The cause is dropped: it could quote the report.
            Err(_) => Err(ExtractError {
                failure: Failure::InvalidRequest,
                call,
            }),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The text of an extraction input: every string value anywhere in it, one per line, members in
/// the order of their names. Numbers and names of members are no text.
pub fn text_of(input: &Value) -> String {
    let mut texts = Vec::new();
    // A stack instead of recursion: the depth of the input is not this function's to limit.
    let mut open = vec![input];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(name, _)| *name);
                open.extend(members.into_iter().rev().map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts.join("\n")
}

#[cfg(test)]
mod tests;
