//! Naive Bayes over tokens: is this text like the advertising mails it was trained on?

use std::collections::{HashMap, HashSet};

use super::tokens::tokens;

/// What each known token says, in thousandths of a natural logarithm: above 0 for spam, below 0
/// against it. Whole numbers, so that a sum does not depend on its order.
#[derive(Debug, Default)]
pub struct Weights(HashMap<String, i32>);

impl FromIterator<(String, i32)> for Weights {
    fn from_iter<I: IntoIterator<Item = (String, i32)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Weights {
    /// What the tokens of `text` say together. Each counts once however often it is repeated:
    /// repetition is no further evidence, and a pasted log would drown everything else.
    pub fn evidence(&self, text: &str) -> Evidence {
        let distinct: HashSet<String> = tokens(text).into_iter().collect();
        let mut evidence = Evidence::default();
        for token in &distinct {
            match self.0.get(token) {
                Some(weight) => {
                    evidence.known += 1;
                    evidence.log_odds_milli += i64::from(*weight);
                }
                None => evidence.unknown += 1,
            }
        }
        evidence
    }

    /// How many tokens have a weight.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no token has a weight.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a text says for spam (above 0) or against it (below 0), before calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// How many distinct tokens of the text have a weight.
    pub known: u32,
    /// How many have none.
    pub unknown: u32,
    /// The sum of the weights.
    pub log_odds_milli: i64,
}

impl Evidence {
    /// How many of the distinct tokens have a weight, of 1; nothing of nothing is 0.
    pub fn known_share(self) -> f64 {
        let all = f64::from(self.known) + f64::from(self.unknown);
        f64::from(self.known) / all.max(1.0)
    }

    /// The log-odds per square root of the number of known tokens. Words of one text repeat each
    /// other's evidence, so their plain sum is surer the longer a text is, and too sure soon.
    pub fn score(self) -> f64 {
        self.log_odds_milli as f64 / 1000.0 / f64::from(self.known.max(1)).sqrt()
    }
}

/// Turns a score into a probability: the logistic function of `slope * score + intercept`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// How fast the probability moves with the score.
    pub slope: f64,
    /// Where it stands at score 0: the share of spam in the training mails, in the main.
    pub intercept: f64,
}

impl Calibration {
    /// The probability of spam at `score`.
    pub fn probability(self, score: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * score + self.intercept)).exp())
    }
}

/// A trained classifier.
#[derive(Debug)]
pub struct Bayes {
    /// What each token says.
    pub weights: Weights,
    /// How the sum becomes a probability.
    pub calibration: Calibration,
}

/// Why a text is not a file of coefficients.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CoefficientsError {
    /// A line that is none of the allowed forms; lines count from 1.
    #[error("line {0} is neither a comment nor a setting nor a token with its weight")]
    Line(usize),
    /// A token with two weights.
    #[error("line {0} gives a token a second weight")]
    Repeated(usize),
    /// A missing calibration value.
    #[error("the setting `{0}` is missing")]
    Missing(&'static str),
}

impl Bayes {
    /// Reads coefficients: lines that start with `#` are comments, `= NAME VALUE` sets `slope` or
    /// `intercept`, and `TOKEN WEIGHT` gives a weight in thousandths.
    ///
    /// # Errors
    /// The first line that does not fit, or the setting that is missing.
    pub fn parse(text: &str) -> Result<Self, CoefficientsError> {
        let mut slope = None;
        let mut intercept = None;
        let mut weights = HashMap::new();
        for (line, number) in text.lines().zip(1..) {
            if line.starts_with('#') {
                continue;
            }
            let mut parts = line.split(' ');
            match (parts.next(), parts.next(), parts.next(), parts.next()) {
                (Some("="), Some("slope"), Some(value), None) => slope = finite(value),
                (Some("="), Some("intercept"), Some(value), None) => intercept = finite(value),
                (Some(token), Some(weight), None, None) if !token.is_empty() => {
                    let weight = weight
                        .parse()
                        .map_err(|_| CoefficientsError::Line(number))?;
                    if weights.insert(token.to_owned(), weight).is_some() {
                        return Err(CoefficientsError::Repeated(number));
                    }
                }
                _ => return Err(CoefficientsError::Line(number)),
            }
        }
        let slope = slope.ok_or(CoefficientsError::Missing("slope"))?;
        let intercept = intercept.ok_or(CoefficientsError::Missing("intercept"))?;
        Ok(Self {
            weights: Weights(weights),
            calibration: Calibration { slope, intercept },
        })
    }
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "# made up\n= slope 0.5\n= intercept -1\nfree 2000\nthe -500\n";

    #[test]
    fn a_token_counts_once_and_unknown_ones_not_at_all() {
        let bayes = Bayes::parse(SMALL).unwrap();
        let evidence = bayes.weights.evidence("Free FREE free the unknown");
        assert_eq!(
            evidence,
            Evidence {
                known: 2,
                unknown: 1,
                log_odds_milli: 1500
            }
        );
        assert!((evidence.score() - 1.5 / 2f64.sqrt()).abs() < 1e-12);
        let evidence = bayes.weights.evidence("nothing here");
        assert_eq!(
            evidence,
            Evidence {
                known: 0,
                unknown: 2,
                log_odds_milli: 0
            }
        );
        assert_eq!(evidence.known_share(), 0.0);
        assert_eq!(Evidence::default().known_share(), 0.0);
        assert_eq!(bayes.weights.evidence("free what").known_share(), 0.5);
    }

    #[test]
    fn the_probability_follows_the_score_and_stays_within_bounds() {
        let calibration = Calibration {
            slope: 0.5,
            intercept: -1.0,
        };
        assert!((calibration.probability(2.0) - 0.5).abs() < 1e-12);
        assert!(calibration.probability(-1.0) < calibration.probability(1.0));
        assert_eq!(calibration.probability(1e300), 1.0);
        assert_eq!(calibration.probability(-1e300), 0.0);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_line() {
        for (text, error) in [
            ("", CoefficientsError::Missing("slope")),
            ("= slope 1\n", CoefficientsError::Missing("intercept")),
            (
                "= slope NaN\n= intercept 1\n",
                CoefficientsError::Missing("slope"),
            ),
            ("# x\nfree\n", CoefficientsError::Line(2)),
            ("free 1.5\n", CoefficientsError::Line(1)),
            ("free 1 2\n", CoefficientsError::Line(1)),
            ("= bias 1\n", CoefficientsError::Line(1)),
            ("\n", CoefficientsError::Line(1)),
            ("free 1\nfree 2\n", CoefficientsError::Repeated(2)),
        ] {
            assert_eq!(Bayes::parse(text).unwrap_err(), error, "{text:?}");
        }
    }
}
