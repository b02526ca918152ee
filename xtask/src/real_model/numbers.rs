//! What came out, for people. None of it is judged.

use std::collections::BTreeMap;

use serde_json::Value;

use super::verdict::Story;
use crate::model::Call;

/// One line for each report.
pub(super) fn table(stories: &[Story], calls: &[Call]) -> String {
    let times = by_key(calls);
    let mut lines = vec![line(["report", "attempts", "came to", "person", "ms"])];
    for story in stories {
        let attempts = story.attempts.iter();
        let keys = attempts.filter_map(|it| it.call_key.as_deref());
        let times: Vec<String> = keys
            .filter_map(|key| times.get(key))
            .map(u64::to_string)
            .collect();
        let person = match &story.report.review {
            // Whatever was said of it: there is a newer version.
            _ if story.is_superseded() => "superseded",
            Some(review) => &review.reason,
            None => "",
        };
        lines.push(line([
            &story.label,
            &story.attempts.len().to_string(),
            &answer(story),
            person,
            &times.join(" "),
        ]));
    }
    lines.extend(stories.iter().flat_map(reasons));
    lines.join("\n")
}

/// Why answers were not taken.
fn reasons(story: &Story) -> impl Iterator<Item = String> {
    let attempts = story.attempts.iter().zip(1..);
    attempts.filter_map(|(attempt, number)| {
        let reason = attempt.reason.as_ref()?;
        Some(format!("{}, attempt {number}: {reason}", story.label))
    })
}

/// What was committed, and what became of the other attempts.
fn answer(story: &Story) -> String {
    let outcomes = story.attempts.iter().filter_map(|it| it.outcome.as_deref());
    let value = story.report.result.as_ref().map(|result| {
        let member = |name| result.value.get(name).unwrap_or(&Value::Null);
        let category = member("category").as_str().unwrap_or_default();
        format!("{category} {}", member("confidence"))
    });
    let others = outcomes.filter(|outcome| *outcome != "committed");
    others
        .map(str::to_owned)
        .chain(value)
        .collect::<Vec<_>>()
        .join(", ")
}

fn line([label, attempts, answer, person, times]: [&str; 5]) -> String {
    let line = format!("{label:16} {attempts:>8}  {answer:44} {person:14} {times}");
    line.trim_end().to_owned()
}

/// How many calls there were, and how long they took.
pub(super) fn summary(stories: &[Story], calls: &[Call]) -> String {
    let mut times: Vec<u64> = by_key(calls).into_values().collect();
    times.sort_unstable();
    let at = |part: usize| {
        let index = times.len().saturating_sub(1) * part / 100;
        times.get(index).copied().unwrap_or(0)
    };
    let records = stories.iter().filter(|it| it.report.result.is_some());
    let questions = stories.iter().filter(|it| it.report.review.is_some());
    [
        format!(
            "{} reports: {} valid records, and {} questions to a person.",
            stories.len(),
            records.count(),
            questions.count()
        ),
        format!(
            "{} calls, each for a charged grant: {} ms in the median, {} ms at most.",
            calls.len(),
            at(50),
            at(100)
        ),
        "No duplicate made a call. What was written to the model changed no other report."
            .to_owned(),
    ]
    .join("\n")
}

fn by_key(calls: &[Call]) -> BTreeMap<&str, u64> {
    calls
        .iter()
        .filter_map(|call| Some((call.key.as_deref()?, call.milliseconds?)))
        .collect()
}
