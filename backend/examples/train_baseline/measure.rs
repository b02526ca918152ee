//! Counts on mails that training never saw, as the rows of the tables in docs/extractors.md.

use fencepost::extractor::baseline::{Baseline, Category, Classification};

use crate::Sample;

/// The confidences of the second table: from this to the next.
const BANDS: [(f64, f64); 6] = [
    (0.0, 0.3),
    (0.3, 0.5),
    (0.5, 0.7),
    (0.7, 0.9),
    (0.9, 0.98),
    (0.98, 1.0),
];

/// One judged text and whether it really is spam.
struct Judged {
    spam: bool,
    classification: Classification,
}

/// What happens to a text.
#[derive(PartialEq)]
enum Outcome {
    Spam,
    Other,
    Asked,
}

impl Judged {
    fn outcome(&self) -> Outcome {
        match (
            self.classification.needs_human_review,
            self.classification.category,
        ) {
            (true, _) => Outcome::Asked,
            (false, Category::Spam) => Outcome::Spam,
            (false, Category::Other | Category::Abuse | Category::SelfHarm) => Outcome::Other,
        }
    }

    fn by_rule(&self) -> bool {
        matches!(
            self.classification.category,
            Category::Abuse | Category::SelfHarm
        )
    }

    fn right(&self) -> bool {
        (self.classification.category == Category::Spam) == self.spam
    }
}

/// The tables as lines of Markdown.
pub(crate) fn tables(
    baseline: &Baseline,
    held_out: &[Sample],
    lengths: &[Option<usize>],
) -> Vec<String> {
    let mut lines = vec![
        "| text | accuracy | precision | recall | spam: found / asked / missed | \
         other: passed / asked / accused | asked | accuracy of the rest |"
            .to_owned(),
        "| --- | --- | --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    let mut all = Vec::new();
    for length in lengths {
        let judged = judge(baseline, held_out, *length);
        let name = length.map_or("whole".to_owned(), |words| format!("first {words} words"));
        lines.push(row(&name, &judged));
        all.extend(judged);
    }
    lines.push("| confidence | texts | category was right |".to_owned());
    lines.push("| --- | --- | --- |".to_owned());
    lines.extend(BANDS.into_iter().map(|band| band_row(band, &all)));
    lines
}

fn judge(baseline: &Baseline, held_out: &[Sample], length: Option<usize>) -> Vec<Judged> {
    let judge = |sample: &Sample| Judged {
        spam: sample.spam,
        classification: baseline.classify(&sample.opening(length)),
    };
    held_out.iter().map(judge).collect()
}

fn row(name: &str, judged: &[Judged]) -> String {
    let count = |spam: bool, outcome: Outcome| {
        judged
            .iter()
            .filter(|j| j.spam == spam && j.outcome() == outcome)
            .count()
    };
    let all = judged.len();
    let right = judged.iter().filter(|j| j.right()).count();
    let spam = judged.iter().filter(|j| j.spam).count();
    let (found, asked, missed) = (
        count(true, Outcome::Spam),
        count(true, Outcome::Asked),
        count(true, Outcome::Other),
    );
    let (wronged, unsure, passed) = (
        count(false, Outcome::Spam),
        count(false, Outcome::Asked),
        count(false, Outcome::Other),
    );
    format!(
        "| {name} | {} | {} | {} | {found} / {asked} / {missed} | {passed} / {unsure} / {wronged} \
         | {} | {} |",
        percent(right, all),
        percent(found, found + wronged),
        percent(found, spam),
        percent(asked + unsure, all),
        percent(found + passed, all - asked - unsure),
    )
}

fn band_row((from, to): (f64, f64), judged: &[Judged]) -> String {
    let within: Vec<_> = judged
        .iter()
        .filter(|j| !j.by_rule() && (from..to).contains(&j.classification.confidence))
        .collect();
    let right = within.iter().filter(|j| j.right()).count();
    format!(
        "| {from} to {to} | {} | {} |",
        within.len(),
        percent(right, within.len())
    )
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    format!("{:.1} %", 100.0 * part as f64 / whole as f64)
}
