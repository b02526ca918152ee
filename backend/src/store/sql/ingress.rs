//! The ingress fence, and what is bound on first use.

/// Reads a source's mapping. No fence: a look.
pub(in crate::store) const SOURCE_BINDING: &str = r#"
SELECT mapping_digest AS "source_binding.mapping_digest" FROM source_binding WHERE source = $1"#;

/// Binds a source on its first use. Fence: the primary key `source`.
pub(in crate::store) const BIND_SOURCE: &str = "
INSERT INTO source_binding (source, mapping_digest, bound_ms) VALUES ($1, $2, $3)
    ON CONFLICT (source) DO NOTHING";

/// Binds a source anew, because a person meant it. Fence: the mapping that was read.
pub(in crate::store) const REBIND_SOURCE: &str = "
UPDATE source_binding SET mapping_digest = $2, bound_ms = $3
 WHERE source = $1 AND mapping_digest = $4";

/// Finds a report by its key. No fence: a look; the first insert wins below.
pub(in crate::store) const KNOWN_REPORT: &str = r#"
SELECT r.input_hash AS "report.input_hash", r.input_from AS "report.input_from",
       j.state AS "job.state", j.outcome AS "job.outcome"
  FROM report r LEFT JOIN job j ON j.job_id = r.current_job
 WHERE r.report_key = $1"#;

/// Stores a report. Ingress fence: the primary key `report_key`.
pub(in crate::store) const INSERT_REPORT: &str = "
INSERT INTO report (report_key, tenant, namespace, report_id, version, source, pipeline,
                    mapping_digest, input, input_hash, links, order_value, received_ms,
                    input_from)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT (report_key) DO NOTHING";

/// Makes the report's first job. Ingress fence, by the transaction that inserts the report; the
/// index `job_unbound` holds it to one.
pub(in crate::store) const INSERT_JOB: &str = r#"
INSERT INTO job (report_key, pipeline, tenant, kind, state, due_ms, elapsed_from_ms, created_ms,
                 updated_ms)
VALUES ($1, $2, $3, 'extract', $4, $5, $5, $5, $5) RETURNING job_id AS "job.job_id""#;

/// Names the job whose state is the report's. Ingress fence, by the transaction.
pub(in crate::store) const SET_CURRENT_JOB: &str = "
UPDATE report SET current_job = $2 WHERE report_key = $1";

/// Records another content, once per content. Fence: the primary key (report, content).
pub(in crate::store) const RECORD_CONFLICT: &str = r#"
INSERT INTO content_conflict (report_key, input_hash, seen, first_ms, last_ms)
VALUES ($1, $2, 1, $3, $3)
    ON CONFLICT (report_key, input_hash)
    DO UPDATE SET seen = content_conflict.seen + 1, last_ms = excluded.last_ms
RETURNING seen AS "content_conflict.seen""#;

/// Reads what a version stands for. No fence: a look.
pub(in crate::store) const VERSION_BINDING: &str = r#"
SELECT digest AS "version_binding.digest" FROM version_binding
 WHERE kind = $1 AND pipeline = $2 AND version = $3"#;

/// Binds a version on its first use. Fence: the primary key (kind, pipeline, version).
pub(in crate::store) const BIND_VERSION: &str = "
INSERT INTO version_binding (kind, pipeline, version, digest, bound_ms)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (kind, pipeline, version) DO NOTHING";

/// Records what a person did. No fence: rows are only ever added.
pub(in crate::store) const AUDIT: &str = "
INSERT INTO audit (at_ms, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)";

/// The statements above.
#[cfg(test)]
pub(super) const INGRESS: &[&str] = &[
    SOURCE_BINDING,
    BIND_SOURCE,
    REBIND_SOURCE,
    KNOWN_REPORT,
    INSERT_REPORT,
    INSERT_JOB,
    SET_CURRENT_JOB,
    RECORD_CONFLICT,
    VERSION_BINDING,
    BIND_VERSION,
    AUDIT,
];
