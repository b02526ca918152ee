//! Writes a history into a database's tables, so that a reader can be held against it.

use std::fmt::{Display, Write as _};

use fencepost_history::{AttemptOutcome, DecisionKind, FindingStatus, History, Job, JobState};

use crate::story::{OTHER_CLASSIFIER, OTHER_SCHEMA, Story};

/// How a dialect spells bytes that are given as hexadecimal digits.
pub(crate) type Blob = fn(&str) -> String;

/// A history in which every column of ours has, somewhere, each thing that it can have.
pub(crate) fn eventful() -> History {
    let mut story = Story::default();
    let keys: Vec<String> = (1..=8).map(|number| story.accept(number)).collect();
    // Beyond 2^53 nothing may go through a floating-point number.
    story.history.reports[1].fence = i64::MAX - 9;
    for key in &keys[1..] {
        story.ask(key);
    }
    story.commit(&keys[1]);
    story.replay(&keys[1], OTHER_SCHEMA);
    story.ask(&keys[1]);
    story.commit(&keys[1]);
    story.commit_for_review(&keys[2]);
    story.decide(&keys[2], DecisionKind::Retry);
    story.give_back(&keys[3], AttemptOutcome::RateLimited);
    story.reject_for_review(&keys[4], AttemptOutcome::Refused);
    story.decide(&keys[4], DecisionKind::Correct);
    story.history.results.last_mut().unwrap().attempt = None;
    story.commit_for_review(&keys[6]);
    story.commit_list(&keys[7], &["a", "b"]);
    story.replay(&keys[7], OTHER_CLASSIFIER);
    story.ask(&keys[7]);
    story.commit_list(&keys[7], &["b", "c"]);
    story.history.findings.last_mut().unwrap().attempt = None;
    story.history.findings.last_mut().unwrap().collapsed = 1;
    story.history.results[0].candidate_attempt = Some(2);
    story.history.reports[0].is_current = Some(true);
    story.history.reports[1].is_current = Some(false);
    story.history.jobs[0].set_aside = Some("unreadable".to_owned());
    let mut history = story.history;
    history.acknowledgements.clear();
    history.model_calls.clear();
    history
        .attempts
        .sort_by_key(|row| (row.report.clone(), row.number));
    history
        .results
        .sort_by_key(|row| (row.report.clone(), row.schema_version.clone()));
    history
        .findings
        .sort_by_key(|row| (row.report.clone(), row.key.clone()));
    history
        .events
        .sort_by_key(|row| (row.report.clone(), row.sequence));
    history
}

fn number(number: Option<i64>) -> String {
    number.map_or("NULL".to_owned(), |number| number.to_string())
}

fn word(word: Option<impl Display>) -> String {
    word.map_or("NULL".to_owned(), |word| format!("'{word}'"))
}

/// The statements that store a history, what it doesn't have made up.
pub(crate) fn statements(history: &History, blob: Blob) -> String {
    let mut sql = String::new();
    let any = blob(&"07".repeat(32));
    for row in &history.reports {
        let (key, fence, at) = (blob(&row.key), row.fence, row.received_ms);
        let [tenant, namespace, id] = &row.thing;
        let current = number(row.is_current.map(i64::from));
        writeln!(
            sql,
            "INSERT INTO report (report_key, tenant, namespace, report_id, version, source,
                                 pipeline, mapping_digest, input, input_hash, links, fence,
                                 received_ms, is_current)
             VALUES ({key}, '{tenant}', '{namespace}', '{id}', '1', 's', 'p', {any}, {any}, {any},
                     '[]', {fence}, {at}, {current});"
        )
        .unwrap();
    }
    for row in &history.jobs {
        job(&mut sql, history, row, blob);
    }
    attempts(&mut sql, history, blob);
    results(&mut sql, history, blob);
    findings(&mut sql, history, blob);
    reviews(&mut sql, history, blob);
    for row in &history.reports {
        let (key, job) = (blob(&row.key), number(row.current_job));
        let result = row
            .current_result
            .as_deref()
            .map_or("NULL".to_owned(), blob);
        writeln!(
            sql,
            "UPDATE report SET current_job = {job}, current_result = {result}
              WHERE report_key = {key};"
        )
        .unwrap();
    }
    sql
}

fn job(sql: &mut String, history: &History, row: &Job, blob: Blob) {
    let (id, key) = (row.id, blob(&row.report));
    let mut attempts = history.attempts.iter();
    let bound = attempts.find(|attempt| attempt.job == id);
    let version = word(bound.map(|attempt| &attempt.classifier_version));
    let (state, ending, token) = (row.state, word(row.ending), number(row.token));
    let (grants, charged, given_back) = (row.grants, row.charged, row.given_back);
    let aside = word(row.set_aside.as_ref());
    let rounds = row.rounds;
    let (lease, nonce) = if row.state == JobState::Running {
        ("1".to_owned(), blob(&"01".repeat(16)))
    } else {
        ("NULL".to_owned(), "NULL".to_owned())
    };
    writeln!(
        sql,
        "INSERT INTO job (job_id, report_key, pipeline, kind, classifier_version, state, outcome,
                          due_ms, lease_until_ms, token, nonce, grants, charged, given_back, rounds,
                          elapsed_from_ms, set_aside, created_ms, updated_ms)
         VALUES ({id}, {key}, 'p', 'extract', {version}, '{state}', {ending}, 1, {lease}, {token},
                 {nonce}, {grants}, {charged}, {given_back}, {rounds}, 1, {aside}, 1, 1);"
    )
    .unwrap();
}

fn attempts(sql: &mut String, history: &History, blob: Blob) {
    for row in &history.attempts {
        let (key, n, job, token) = (blob(&row.report), row.number, row.job, row.token);
        let charged = i64::from(row.charged);
        let (classifier, schema) = (&row.classifier_version, &row.schema_version);
        let (started, ended) = (row.started_ms, number(row.ended_ms));
        let outcome = word(row.outcome);
        writeln!(
            sql,
            "INSERT INTO attempt (report_key, number, job_id, charged, worker, token,
                                  classifier_version, schema_version, started_ms, ended_ms,
                                  outcome)
             VALUES ({key}, {n}, {job}, {charged}, 'w', {token}, '{classifier}', '{schema}',
                     {started}, {ended}, {outcome});"
        )
        .unwrap();
    }
}

fn results(sql: &mut String, history: &History, blob: Blob) {
    for row in &history.results {
        let (result, key) = (blob(&row.key), blob(&row.report));
        let (schema, token, attempt) = (&row.schema_version, row.token, number(row.attempt));
        let candidate = number(row.candidate_attempt);
        let (status, at) = (row.status, row.updated_ms);
        let value = word(row.value.as_ref());
        let thing = if row.is_list { key.as_str() } else { "NULL" };
        writeln!(
            sql,
            "INSERT INTO result (result_key, report_key, schema_version, value, token,
                                 attempt_number, candidate_attempt, status, created_ms,
                                 updated_ms, thing_key)
             VALUES ({result}, {key}, '{schema}', {value}, {token}, {attempt}, {candidate},
                     '{status}', 1, {at}, {thing});"
        )
        .unwrap();
    }
    for (index, row) in history.events.iter().enumerate() {
        let event = blob(&format!("{index:064x}"));
        let (key, n, kind, at) = (blob(&row.report), row.sequence, row.kind, row.created_ms);
        let result = row.result.as_deref().map_or("NULL".to_owned(), blob);
        writeln!(
            sql,
            "INSERT INTO outbox (event_key, report_key, sequence, kind, result_key, payload,
                                 created_ms)
             VALUES ({event}, {key}, {n}, '{kind}', {result}, '1', {at});"
        )
        .unwrap();
    }
}

fn findings(sql: &mut String, history: &History, blob: Blob) {
    for row in &history.findings {
        let (key, result, report) = (blob(&row.key), blob(&row.result), blob(&row.report));
        let (position, value, collapsed) = (row.position, &row.value, row.collapsed);
        let (status, attempt) = (row.status, number(row.attempt));
        let withdrawn = match status {
            FindingStatus::Present => "NULL",
            FindingStatus::Withdrawn => "1",
        };
        writeln!(
            sql,
            "INSERT INTO finding (finding_key, result_key, report_key, lineage_key, position,
                                  value, collapsed, status, token, attempt_number,
                                  created_ms, updated_ms, withdrawn_ms)
             VALUES ({key}, {result}, {report}, {key}, {position}, '{value}', {collapsed},
                     '{status}', 1, {attempt}, 1, 1, {withdrawn});"
        )
        .unwrap();
    }
}

fn reviews(sql: &mut String, history: &History, blob: Blob) {
    for row in &history.reviews {
        let (key, revision, status) = (blob(&row.report), row.revision, row.status);
        let (opened, closed) = (row.opened_ms, number(row.closed_ms));
        writeln!(
            sql,
            "INSERT INTO review (report_key, revision, status, reason, opened_ms, closed_ms)
             VALUES ({key}, {revision}, '{status}', 'policy', {opened}, {closed});"
        )
        .unwrap();
    }
    for row in &history.decisions {
        let (key, n, seen) = (blob(&row.report), row.number, row.revision_seen);
        let (kind, at) = (row.kind, row.decided_ms);
        writeln!(
            sql,
            "INSERT INTO decision (report_key, number, revision_seen, who, why, kind, decided_ms)
             VALUES ({key}, {n}, {seen}, 'a', 'b', '{kind}', {at});"
        )
        .unwrap();
    }
}

/// Everything that a history can hold is in [`eventful`], else a column could be read wrongly.
#[test]
fn an_eventful_history_leaves_nothing_out() {
    let history = eventful();
    assert!(
        history
            .reports
            .iter()
            .any(|row| row.current_result.is_some())
    );
    assert!(
        history
            .reports
            .iter()
            .any(|row| row.current_result.is_none())
    );
    for is_current in [None, Some(false), Some(true)] {
        let mut reports = history.reports.iter();
        assert!(reports.any(|row| row.is_current == is_current));
    }
    assert!(history.jobs.iter().any(|row| row.rounds == 2));
    assert!(history.jobs.iter().any(|row| row.ending.is_some()));
    assert!(history.jobs.iter().any(|row| row.token.is_none()));
    assert!(history.jobs.iter().any(|row| row.given_back == 1));
    assert!(history.jobs.iter().any(|row| row.set_aside.is_some()));
    assert!(history.attempts.iter().any(|row| row.outcome.is_none()));
    assert!(history.attempts.iter().any(|row| !row.charged));
    assert!(history.results.iter().any(|row| row.attempt.is_none()));
    assert!(
        history
            .results
            .iter()
            .any(|row| row.candidate_attempt.is_some())
    );
    assert!(history.results.iter().any(|row| row.token > (1 << 53)));
    assert!(history.results.iter().any(|row| row.is_list));
    for status in [FindingStatus::Present, FindingStatus::Withdrawn] {
        assert!(history.findings.iter().any(|row| row.status == status));
    }
    assert!(history.findings.iter().any(|row| row.attempt.is_none()));
    assert!(history.findings.iter().any(|row| row.collapsed == 1));
    assert!(history.reviews.iter().any(|row| row.closed_ms.is_some()));
    assert!(history.reviews.iter().any(|row| row.closed_ms.is_none()));
    assert!(history.events.iter().any(|row| row.result.is_some()));
    assert_eq!(history.decisions.len(), 2);
}
