-- One committed report, as the program of schema 1 left it.
INSERT INTO report (report_key, tenant, namespace, report_id, version, source, pipeline,
                    mapping_digest, input, input_hash, links, fence, next_attempt, next_sequence,
                    received_ms)
VALUES (zeroblob(32), 'acme', 'issues', '1', 'event', 'comments', 'moderation', zeroblob(32),
        x'7b7d', zeroblob(32), '[]', 1, 2, 3, 1);
INSERT INTO job (job_id, report_key, pipeline, kind, classifier_version, state, outcome, due_ms,
                 token, nonce, grants, charged, elapsed_from_ms, created_ms, updated_ms)
VALUES (1, zeroblob(32), 'moderation', 'extract', 'moderation-7', 'terminal', 'committed', 1, 1,
        zeroblob(16), 1, 1, 1, 1, 1);
INSERT INTO attempt (report_key, number, job_id, charged, worker, token, classifier_version,
                     schema_version, started_ms, ended_ms, outcome, verdict, raw, raw_call_key)
VALUES (zeroblob(32), 1, 1, 1, 'w', 1, 'moderation-7', 'moderation-v3', 1, 2, 'committed',
        'committed', x'7b7d', zeroblob(32));
INSERT INTO result (result_key, report_key, schema_version, value, token, attempt_number, status,
                    created_ms, updated_ms)
VALUES (zeroblob(32), zeroblob(32), 'moderation-v3', '{"category":"spam"}', 1, 1, 'current', 2, 2);
INSERT INTO outbox (event_key, report_key, sequence, kind, result_key, payload, created_ms)
VALUES (zeroblob(32), zeroblob(32), 1, 'result.final', zeroblob(32), '{}', 2);
UPDATE report SET current_job = 1, current_result = zeroblob(32);
