-- A job has a budget of attempts, and another one each time a reviewer asks for another attempt.
ALTER TABLE job ADD COLUMN rounds INTEGER NOT NULL DEFAULT 1 CHECK (rounds > 0);

-- Of the versions of one thing, the current one has 1 and the others 0; without an order there is
-- nothing. What was stored before this has no order. Rule 14's fence is the index.
ALTER TABLE report ADD COLUMN is_current INTEGER CHECK (is_current IN (0, 1));
CREATE UNIQUE INDEX report_current ON report (namespace, tenant, report_id) WHERE is_current = 1;

-- A result that a person corrected may stand without an attempt. What a machine finds once a
-- person has decided is a candidate, and replaces nothing.
CREATE TABLE result_2 (
  result_key BLOB NOT NULL PRIMARY KEY CHECK (length(result_key) = 32),
  report_key BLOB NOT NULL REFERENCES report (report_key),
  schema_version TEXT NOT NULL,
  value TEXT,
  token INTEGER NOT NULL CHECK (token >= 0),
  attempt_number INTEGER,
  status TEXT NOT NULL CHECK (status IN ('current', 'candidate', 'history')),
  candidate TEXT,
  candidate_attempt INTEGER,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (report_key, schema_version),
  FOREIGN KEY (report_key, attempt_number) REFERENCES attempt (report_key, number)
) STRICT;
INSERT INTO result_2 (result_key, report_key, schema_version, value, token, attempt_number, status,
                      created_ms, updated_ms)
SELECT result_key, report_key, schema_version, value, token, attempt_number, status, created_ms,
       updated_ms
  FROM result;
DROP TABLE result;
ALTER TABLE result_2 RENAME TO result;
CREATE UNIQUE INDEX result_current ON result (report_key) WHERE status = 'current';

-- What is paused, a credential or a pipeline, and what was: the time of a job stands still in
-- between. Nothing was ever written to the table that this replaces.
DROP TABLE pause;
CREATE TABLE pause (
  pause_id INTEGER PRIMARY KEY,
  subject TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (
    reason IN ('auth', 'quota', 'invalid_request', 'context_too_long', 'operator')
  ),
  since_ms INTEGER NOT NULL,
  probe_ms INTEGER,
  probes INTEGER NOT NULL DEFAULT 0,
  ended_ms INTEGER,
  ended_by TEXT,
  CHECK ((ended_ms IS NULL) = (ended_by IS NULL))
) STRICT;
-- At most one pause of a subject is open.
CREATE UNIQUE INDEX pause_open ON pause (subject) WHERE ended_ms IS NULL;
CREATE INDEX pause_ended ON pause (subject, ended_ms) WHERE ended_ms IS NOT NULL;

-- How many reports in a row ended with the same lasting error.
CREATE TABLE strike (
  subject TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL CHECK (reason IN ('invalid_request', 'context_too_long')),
  count INTEGER NOT NULL CHECK (count > 0),
  last_report BLOB NOT NULL
) STRICT;
