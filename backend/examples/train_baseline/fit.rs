//! From counted mails to weights, and from weights to a calibration.

use std::collections::{BTreeMap, HashSet};

use fencepost::extractor::baseline::{
    bayes::{Calibration, Weights},
    tokens::tokens,
};

use crate::Sample;

/// How many tokens are kept: those that tell most.
const TOKENS_MAX: usize = 10_000;
/// A token of fewer mails is a name or a slip.
const MAILS_MIN: u32 = 3;
/// The training half is cut into this many folds to calibrate on mails that weights have not seen.
pub(crate) const FOLDS: u8 = 5;
/// Newton's method is done after a handful of steps; the rest cost nothing.
const NEWTON_STEPS: usize = 50;

#[derive(Clone, Copy, Default)]
struct Mails {
    spam: u32,
    ham: u32,
}

impl Mails {
    fn add(&mut self, spam: u32, ham: u32) {
        self.spam += spam;
        self.ham += ham;
    }

    fn all(self) -> u32 {
        self.spam + self.ham
    }
}

/// Multinomial naive Bayes with Laplace smoothing; each mail counts a token once.
pub(crate) fn weights<'a>(samples: impl Iterator<Item = &'a Sample>) -> BTreeMap<String, i32> {
    let mut mails = Mails::default();
    let mut by_token: BTreeMap<String, Mails> = BTreeMap::new();
    for sample in samples {
        let (spam, ham) = if sample.spam { (1, 0) } else { (0, 1) };
        mails.add(spam, ham);
        for token in tokens(&sample.text).into_iter().collect::<HashSet<_>>() {
            by_token.entry(token).or_default().add(spam, ham);
        }
    }
    let mut kept: Vec<_> = by_token
        .into_iter()
        .filter(|(_, counted)| counted.all() >= MAILS_MIN)
        .collect();
    // A stable sort of a sorted list: ties fall to the alphabet.
    kept.sort_by(|(_, a), (_, b)| information(mails, *b).total_cmp(&information(mails, *a)));
    kept.truncate(TOKENS_MAX);
    log_odds(&kept)
}

fn log_odds(kept: &[(String, Mails)]) -> BTreeMap<String, i32> {
    let mut sum = Mails::default();
    for (_, counted) in kept {
        sum.add(counted.spam, counted.ham);
    }
    let smoothed =
        |count: u32, sum: u32| (f64::from(count) + 1.0) / (f64::from(sum) + kept.len() as f64);
    let weight = |counted: Mails| {
        let odds = smoothed(counted.spam, sum.spam) / smoothed(counted.ham, sum.ham);
        milli(odds.ln())
    };
    kept.iter()
        .map(|(token, counted)| (token.clone(), weight(*counted)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "log-odds of counted mails are below 20"
)]
fn milli(value: f64) -> i32 {
    (value * 1000.0).round() as i32
}

/// How much knowing whether a mail has the token tells of whether it is spam, in nats.
fn information(mails: Mails, with: Mails) -> f64 {
    let without = Mails {
        spam: mails.spam - with.spam,
        ham: mails.ham - with.ham,
    };
    let all = f64::from(mails.all());
    [(with, with.spam, mails.spam), (with, with.ham, mails.ham)]
        .into_iter()
        .chain([
            (without, without.spam, mails.spam),
            (without, without.ham, mails.ham),
        ])
        .filter(|(_, both, _)| *both > 0)
        .map(|(group, both, class)| {
            let both = f64::from(both);
            let expected = f64::from(group.all()) * f64::from(class) / all;
            both / all * (both / expected).ln()
        })
        .sum()
}

/// Fits the calibration on each fold's mails with weights from the other folds, at every length
/// that is measured: a report is rarely as long as a mail.
pub(crate) fn calibration(training: &[Sample], lengths: &[Option<usize>]) -> Calibration {
    let mut points = Vec::new();
    for fold in 0..FOLDS {
        let others = training.iter().filter(|sample| sample.fold != fold);
        let weights: Weights = weights(others).into_iter().collect();
        for sample in training.iter().filter(|sample| sample.fold == fold) {
            for length in lengths {
                let score = weights.evidence(&sample.opening(*length)).score();
                points.push((score, if sample.spam { 1.0 } else { 0.0 }));
            }
        }
    }
    logistic(&points)
}

/// The slope and intercept of highest likelihood, by Newton's method.
fn logistic(points: &[(f64, f64)]) -> Calibration {
    let mut fit = Calibration {
        slope: 0.0,
        intercept: 0.0,
    };
    for _ in 0..NEWTON_STEPS {
        let (mut g_slope, mut g_intercept) = (0.0, 0.0);
        let (mut h_ss, mut h_si, mut h_ii) = (0.0, 0.0, 0.0);
        for (score, label) in points {
            let p = fit.probability(*score);
            let spread = p * (1.0 - p);
            g_slope += (label - p) * score;
            g_intercept += label - p;
            h_ss += spread * score * score;
            h_si += spread * score;
            h_ii += spread;
        }
        let determinant = h_ss * h_ii - h_si * h_si;
        fit.slope += (h_ii * g_slope - h_si * g_intercept) / determinant;
        fit.intercept += (h_ss * g_intercept - h_si * g_slope) / determinant;
    }
    fit
}
