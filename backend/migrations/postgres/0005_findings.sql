-- A result that is a list is of a thing that has versions: its key, so that the list of the version
-- before is found. A result keeps its whole answer, be it a list or not.
ALTER TABLE result ADD COLUMN thing_key BYTEA
  CHECK (length(thing_key) = 32);
CREATE INDEX result_list ON result (thing_key) WHERE thing_key IS NOT NULL;

-- What a list says, each under a key of its own that its prose is no part of. One that a newer
-- answer does not say any more is withdrawn; what a person wrote names no attempt.
CREATE TABLE finding (
  finding_key BYTEA NOT NULL PRIMARY KEY CHECK (length(finding_key) = 32),
  result_key BYTEA NOT NULL REFERENCES result (result_key),
  report_key BYTEA NOT NULL REFERENCES report (report_key),
  lineage_key BYTEA NOT NULL CHECK (length(lineage_key) = 32),
  position BIGINT NOT NULL CHECK (position > 0),
  value TEXT NOT NULL,
  collapsed BIGINT NOT NULL CHECK (collapsed >= 0),
  status TEXT NOT NULL CHECK (status IN ('present', 'withdrawn')),
  token BIGINT NOT NULL CHECK (token >= 0),
  attempt_number BIGINT,
  created_ms BIGINT NOT NULL,
  updated_ms BIGINT NOT NULL,
  withdrawn_ms BIGINT,
  CHECK ((status = 'withdrawn') = (withdrawn_ms IS NOT NULL)),
  FOREIGN KEY (report_key, attempt_number) REFERENCES attempt (report_key, number)
);
-- What is present comes first, in the order of the answer.
CREATE INDEX finding_shown ON finding (result_key, status, position);

-- Those who act on findings are told when some are withdrawn.
ALTER TABLE outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check CHECK (
    kind IN ('report.accepted', 'review.opened', 'result.final', 'finding.withdrawn')
  );
