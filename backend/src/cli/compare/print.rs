//! A comparison for people.

use super::{Comparison, agreement::Agreement, tally::Tally};
use crate::cli::output::{self, printable};

pub(super) fn print(comparison: &Comparison) {
    output::line(&format!(
        "{} stored reports of the pipeline `{}`; nothing was stored",
        comparison.reports, comparison.pipeline
    ));
    let header = [
        "extractor",
        "asked",
        "valid",
        "failed",
        "too long",
        "review",
        "tokens in",
        "out",
        "uncounted",
        "median",
        "max",
        "cost",
    ];
    let rows: Vec<_> = comparison.extractors.iter().map(row).collect();
    output::table(&header, &rows);
    for tally in &comparison.extractors {
        for (outcome, count) in &tally.failed {
            output::line(&format!("{}: {count} {outcome}", tally.extractor));
        }
    }
    comparison.pairs.iter().for_each(pair);
}

fn row(tally: &Tally) -> Vec<String> {
    let failed: u64 = tally.failed.values().sum();
    let cost = tally.cost.as_ref();
    let cost = cost.map(|cost| format!("{} {}", cost.amount, cost.currency));
    vec![
        tally.extractor.clone(),
        tally.asked.to_string(),
        tally.valid.to_string(),
        failed.to_string(),
        tally.too_long.to_string(),
        tally.reviewed.to_string(),
        tally.tokens_in.to_string(),
        tally.tokens_out.to_string(),
        tally.uncounted.to_string(),
        format!("{} ms", tally.latency_ms.median),
        format!("{} ms", tally.latency_ms.max),
        cost.unwrap_or_else(|| "no price".to_owned()),
    ]
}

fn pair(agreement: &Agreement) {
    let [first, second] = &agreement.extractors;
    output::line(&format!(
        "{first} and {second}: {} of {} valid answers of both are equal",
        agreement.equal, agreement.both_valid
    ));
    let rows: Vec<_> = agreement
        .members
        .iter()
        .map(|(name, member)| {
            let (equal, different) = (member.equal.to_string(), member.different.to_string());
            vec![printable(name), equal, different]
        })
        .collect();
    if !rows.is_empty() {
        output::table(&["member", "equal", "different"], &rows);
    }
    if let Some(findings) = agreement.findings {
        output::line(&format!(
            "findings: {} of both, {} of {first} alone, {} of {second} alone",
            findings.both, findings.only_first, findings.only_second
        ));
    }
    for different in &agreement.different {
        let what = match (different.findings, different.members.as_slice()) {
            (Some(found), _) => format!(
                "{} findings of both, {} and {} of one alone",
                found.both, found.only_first, found.only_second
            ),
            (None, []) => "the value".to_owned(),
            (None, members) => printable(&members.join(", ")),
        };
        output::line(&format!("different: {}  {what}", different.report));
    }
}
