-- How long the call took, whatever came of it; absent where none was made.
ALTER TABLE attempt ADD COLUMN latency_ms BIGINT CHECK (latency_ms >= 0);

-- The pipeline that the attempt was made for, so that an index finds the answers which it has kept
-- long enough.
ALTER TABLE attempt ADD COLUMN pipeline TEXT NOT NULL
  DEFAULT '';
UPDATE attempt
   SET pipeline = coalesce((SELECT pipeline FROM job WHERE job.job_id = attempt.job_id), '');

-- When an answer was emptied that had been kept long enough. Nothing else of its attempt changes.
ALTER TABLE attempt ADD COLUMN raw_emptied_ms BIGINT
  CHECK (raw_emptied_ms IS NULL OR length(raw) = 0);
CREATE INDEX attempt_kept ON attempt (pipeline, ended_ms, report_key, number)
  WHERE raw IS NOT NULL AND raw_emptied_ms IS NULL AND verdict IS NOT NULL;
