-- A result that is a list is of a thing that has versions: its key, so that the list of the version
-- before is found. A result keeps its whole answer, be it a list or not.
ALTER TABLE result ADD COLUMN thing_key BLOB
  CHECK (length(thing_key) = 32);
CREATE INDEX result_list ON result (thing_key) WHERE thing_key IS NOT NULL;

-- What a list says, each under a key of its own that its prose is no part of. One that a newer
-- answer does not say any more is withdrawn; what a person wrote names no attempt.
CREATE TABLE finding (
  finding_key BLOB NOT NULL PRIMARY KEY CHECK (length(finding_key) = 32),
  result_key BLOB NOT NULL REFERENCES result (result_key),
  report_key BLOB NOT NULL REFERENCES report (report_key),
  lineage_key BLOB NOT NULL CHECK (length(lineage_key) = 32),
  position INTEGER NOT NULL CHECK (position > 0),
  value TEXT NOT NULL,
  collapsed INTEGER NOT NULL CHECK (collapsed >= 0),
  status TEXT NOT NULL CHECK (status IN ('present', 'withdrawn')),
  token INTEGER NOT NULL CHECK (token >= 0),
  attempt_number INTEGER,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  withdrawn_ms INTEGER,
  CHECK ((status = 'withdrawn') = (withdrawn_ms IS NOT NULL)),
  FOREIGN KEY (report_key, attempt_number) REFERENCES attempt (report_key, number)
) STRICT;
-- What is present comes first, in the order of the answer.
CREATE INDEX finding_shown ON finding (result_key, status, position);

-- Those who act on findings are told when some are withdrawn: another word in a list that can only
-- be changed by making the table anew.
CREATE TABLE outbox_5 (
  event_key BLOB NOT NULL PRIMARY KEY CHECK (length(event_key) = 32),
  report_key BLOB NOT NULL REFERENCES report (report_key),
  sequence INTEGER NOT NULL CHECK (sequence > 0),
  kind TEXT NOT NULL CHECK (
    kind IN ('report.accepted', 'review.opened', 'result.final', 'finding.withdrawn')
  ),
  result_key BLOB REFERENCES result (result_key),
  payload TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  delivered_ms INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  UNIQUE (report_key, sequence)
) STRICT;
INSERT INTO outbox_5 (rowid, event_key, report_key, sequence, kind, result_key, payload, created_ms,
                      delivered_ms, attempts)
SELECT rowid, event_key, report_key, sequence, kind, result_key, payload, created_ms, delivered_ms,
       attempts
  FROM outbox;
DROP TABLE outbox;
ALTER TABLE outbox_5 RENAME TO outbox;
CREATE UNIQUE INDEX outbox_final ON outbox (result_key) WHERE kind = 'result.final';
CREATE INDEX outbox_undelivered ON outbox (created_ms) WHERE delivered_ms IS NULL;
