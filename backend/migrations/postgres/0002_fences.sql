-- A job has a budget of attempts, and another one each time a reviewer asks for another attempt.
ALTER TABLE job ADD COLUMN rounds BIGINT NOT NULL DEFAULT 1 CHECK (rounds > 0);

-- Of the versions of one thing, the current one has 1 and the others 0; without an order there is
-- nothing. What was stored before this has no order. Rule 14's fence is the index.
ALTER TABLE report ADD COLUMN is_current BIGINT CHECK (is_current IN (0, 1));
CREATE UNIQUE INDEX report_current ON report (namespace, tenant, report_id) WHERE is_current = 1;

-- A result that a person corrected may stand without an attempt. What a machine finds once a
-- person has decided is a candidate, and replaces nothing.
ALTER TABLE result
  ALTER COLUMN attempt_number DROP NOT NULL,
  DROP CONSTRAINT result_token_check,
  ADD CONSTRAINT result_token_check CHECK (token >= 0),
  ADD COLUMN candidate TEXT,
  ADD COLUMN candidate_attempt BIGINT;

-- What is paused, a credential or a pipeline, and what was: the time of a job stands still in
-- between. Nothing was ever written to the table that this replaces.
DROP TABLE pause;
CREATE TABLE pause (
  pause_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (
    reason IN ('auth', 'quota', 'invalid_request', 'context_too_long', 'operator')
  ),
  since_ms BIGINT NOT NULL,
  probe_ms BIGINT,
  probes BIGINT NOT NULL DEFAULT 0,
  ended_ms BIGINT,
  ended_by TEXT,
  CHECK ((ended_ms IS NULL) = (ended_by IS NULL))
);
-- At most one pause of a subject is open.
CREATE UNIQUE INDEX pause_open ON pause (subject) WHERE ended_ms IS NULL;
CREATE INDEX pause_ended ON pause (subject, ended_ms) WHERE ended_ms IS NOT NULL;

-- How many reports in a row ended with the same lasting error.
CREATE TABLE strike (
  subject TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL CHECK (reason IN ('invalid_request', 'context_too_long')),
  count BIGINT NOT NULL CHECK (count > 0),
  last_report BYTEA NOT NULL
);
