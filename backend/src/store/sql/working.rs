//! The claim fence: who may ask a model, and until when others may not.

/// The job that is due first among those that a worker may take, or will be. It takes jobs whose
/// lease ran out like those that wait. No fence: the grant below compares again.
pub(in crate::store) const CANDIDATE: &str = r#"
SELECT job_id AS "job.job_id", tenant AS "job.tenant",
       CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END AS "job.due_ms"
  FROM job
 WHERE pipeline = $1
   AND state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL
   AND (classifier_version IS NULL OR classifier_version = $2)
 ORDER BY CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END NULLS FIRST, job_id
 LIMIT 1"#;

/// The job that is due first among those of the first tenant after $3 that has any which a worker
/// may take, or will be. No fence: the grant below compares again.
pub(in crate::store) const CANDIDATE_OF_NEXT_TENANT: &str = r#"
SELECT job_id AS "job.job_id", tenant AS "job.tenant",
       CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END AS "job.due_ms"
  FROM job
 WHERE pipeline = $1 AND tenant > $3
   AND state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL
   AND (classifier_version IS NULL OR classifier_version = $2)
 ORDER BY tenant,
          CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END NULLS FIRST, job_id
 LIMIT 1"#;

/// When a job is due that a worker may take. No fence: the grant below compares again.
pub(in crate::store) const STILL_CLAIMABLE: &str = r#"
SELECT CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END AS "job.due_ms"
  FROM job
 WHERE job_id = $1
   AND state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL
   AND (classifier_version IS NULL OR classifier_version = $2)"#;

/// Marks a place in a transaction.
pub(in crate::store) const MARK: &str = "SAVEPOINT mark";

/// Undoes what was done since the mark.
pub(in crate::store) const BACK_TO_MARK: &str = "ROLLBACK TO SAVEPOINT mark";

/// Keeps what was done since the mark.
pub(in crate::store) const DROP_MARK: &str = "RELEASE SAVEPOINT mark";

/// A job and its report, and how many other jobs of the report have the version $2 already. No
/// fence: a look.
pub(in crate::store) const LOAD_JOB: &str = r#"
SELECT j.report_key AS "job.report_key", j.pipeline AS "job.pipeline", j.state AS "job.state",
       j.outcome AS "job.outcome", j.lease_until_ms AS "job.lease_until_ms",
       j.charged AS "job.charged", j.given_back AS "job.given_back",
       j.rounds AS "job.rounds", j.calls_judged AS "job.calls_judged",
       j.elapsed_from_ms AS "job.elapsed_from_ms",
       r.tenant AS "report.tenant", r.namespace AS "report.namespace",
       r.report_id AS "report.report_id", r.version AS "report.version",
       r.source AS "report.source", r.input AS "report.input",
       r.input_from AS "report.input_from", r.links AS "report.links", r.fence AS "report.fence",
       r.next_attempt AS "report.next_attempt", r.is_current AS "report.is_current",
       (SELECT count(*) FROM job o
         WHERE o.report_key = j.report_key AND o.classifier_version = $2 AND o.job_id <> j.job_id)
         AS "job.classifier_version"
  FROM job j LEFT JOIN report r ON r.report_key = j.report_key
 WHERE j.job_id = $1"#;

/// A job's attempts, the last one first. No fence: a look.
pub(in crate::store) const PAST_ATTEMPTS: &str = r#"
SELECT outcome AS "attempt.outcome", verdict AS "attempt.verdict"
  FROM attempt WHERE report_key = $1 AND job_id = $2 ORDER BY number DESC LIMIT 200"#;

/// The answer to a question that nobody judged yet. No fence: a look.
pub(in crate::store) const UNJUDGED_ANSWER: &str = r#"
SELECT number AS "attempt.number", raw AS "attempt.raw", provider AS "attempt.provider",
       model AS "attempt.model", request_id AS "attempt.request_id",
       tokens_in AS "attempt.tokens_in", tokens_out AS "attempt.tokens_out",
       latency_ms AS "attempt.latency_ms"
  FROM attempt
 WHERE report_key = $1 AND raw_call_key = $2 AND raw IS NOT NULL AND verdict IS NULL
 ORDER BY number DESC LIMIT 1"#;

/// Raises the report's token: whoever held any of its jobs matches no row from here on. Claim
/// fence: the token that was read.
pub(in crate::store) const RAISE_FENCE: &str = "
UPDATE report SET fence = fence + 1 WHERE report_key = $1 AND fence = $2";

/// Takes the next number of an attempt. Claim fence: the token that was just raised.
pub(in crate::store) const NUMBER_ATTEMPT: &str = "
UPDATE report SET next_attempt = next_attempt + 1 WHERE report_key = $1 AND fence = $2";

/// Closes the attempt that a raised token cut off. Claim fence: the token that was just raised;
/// at most one attempt of a report is open.
pub(in crate::store) const LOSE_ATTEMPT: &str = "
UPDATE attempt SET outcome = 'lease_lost', ended_ms = $2
 WHERE report_key = $1 AND outcome IS NULL";

/// Grants a job, and charges the attempt. Claim fence: the state that was read, and the index
/// `job_live`.
pub(in crate::store) const GRANT_JOB: &str = "
UPDATE job SET state = 'running', token = $3, nonce = $4, worker = $5, lease_until_ms = $6,
               classifier_version = $7, claim_key = $8, grants = grants + 1,
               charged = charged + 1, updated_ms = $9
 WHERE job_id = $1 AND state = $2";

/// Opens the attempt of a grant. Claim fence: the primary key (report, number).
pub(in crate::store) const INSERT_ATTEMPT: &str = "
INSERT INTO attempt (report_key, number, job_id, charged, worker, token, pipeline,
                     classifier_version, schema_version, started_ms)
VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9)";

/// Ends a job instead of granting it: its attempts or its time are spent, or a newer version took
/// the report's place. Claim fence: the state that was read, under the token that was just raised,
/// which becomes the job's.
pub(in crate::store) const END_JOB: &str = "
UPDATE job SET state = $5, outcome = $6, token = $3, nonce = NULL, lease_until_ms = NULL,
               updated_ms = $4
 WHERE job_id = $1 AND state = $2";

/// Sets a job aside that can't be understood, so that the others go on. No fence: it only takes
/// the job out of what is claimed.
pub(in crate::store) const SET_ASIDE: &str = "
UPDATE job SET set_aside = $2 WHERE job_id = $1";

/// Where a lease stands: job $1 under token $2 and nonce $3.
macro_rules! held {
    () => {
        " WHERE job_id = $1 AND token = $2 AND nonce = $3 AND state = 'running'
            AND EXISTS (SELECT 1 FROM report
                         WHERE report.report_key = job.report_key AND report.fence = $2)"
    };
}
pub(super) use held;

/// What counts while a lease stands. Claim fence: token and nonce.
pub(in crate::store) const HELD_JOB: &str = concat!(
    r#"SELECT lease_until_ms AS "job.lease_until_ms", charged AS "job.charged",
              given_back AS "job.given_back", rounds AS "job.rounds" FROM job"#,
    held!()
);

/// Prolongs a lease. Claim fence: token and nonce; its end does not matter, only a takeover does.
pub(in crate::store) const HEARTBEAT: &str = concat!("UPDATE job SET lease_until_ms = $4", held!());

/// Keeps the input that was fetched for the report $4. Claim fence: token and nonce; and that none
/// is there yet, as an input is never replaced.
pub(in crate::store) const KEEP_INPUT: &str = concat!(
    "UPDATE report SET input = $5, input_hash = $6, input_from = 'fetched'
      WHERE report_key = $4 AND input_from = 'reference'
        AND report_key IN (SELECT report_key FROM job",
    held!(),
    ")"
);

/// Keeps an answer. Claim fence: token and nonce.
pub(in crate::store) const STORE_RAW: &str = concat!(
    "UPDATE attempt SET raw = $6, raw_call_key = $7, provider = $8, model = $9, request_id = $10,
                        tokens_in = $11, tokens_out = $12, latency_ms = $13
      WHERE report_key = $4 AND number = $5 AND outcome IS NULL
        AND job_id IN (SELECT job_id FROM job",
    held!(),
    ")"
);

/// What became of a job whose lease matched no row. No fence: a look.
pub(in crate::store) const DIAGNOSE: &str = r#"
SELECT j.state AS "job.state", j.outcome AS "job.outcome", j.token AS "job.token",
       j.nonce AS "job.nonce", r.fence AS "report.fence"
  FROM job j JOIN report r ON r.report_key = j.report_key
 WHERE j.job_id = $1 AND j.report_key = $2"#;

/// The statements above.
#[cfg(test)]
pub(super) const WORKING: &[&str] = &[
    CANDIDATE,
    CANDIDATE_OF_NEXT_TENANT,
    STILL_CLAIMABLE,
    MARK,
    BACK_TO_MARK,
    DROP_MARK,
    LOAD_JOB,
    PAST_ATTEMPTS,
    UNJUDGED_ANSWER,
    RAISE_FENCE,
    NUMBER_ATTEMPT,
    LOSE_ATTEMPT,
    GRANT_JOB,
    INSERT_ATTEMPT,
    END_JOB,
    SET_ASIDE,
    HELD_JOB,
    HEARTBEAT,
    KEEP_INPUT,
    STORE_RAW,
    DIAGNOSE,
];
