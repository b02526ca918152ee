-- Keys are 32 bytes, times are milliseconds since 1970 in UTC by the database's clock, and every
-- word that a column may hold is listed with it.

-- A source's mapping, bound on first use.
CREATE TABLE source_binding (
  source TEXT NOT NULL PRIMARY KEY,
  mapping_digest BYTEA NOT NULL CHECK (length(mapping_digest) = 32),
  bound_ms BIGINT NOT NULL
);

-- What a pipeline's versions stand for, bound on first use.
CREATE TABLE version_binding (
  kind TEXT NOT NULL CHECK (kind IN ('classifier', 'schema')),
  pipeline TEXT NOT NULL,
  version TEXT NOT NULL,
  digest BYTEA NOT NULL CHECK (length(digest) = 32),
  bound_ms BIGINT NOT NULL,
  PRIMARY KEY (kind, pipeline, version)
);

-- The ingress fence is this table's primary key. `fence` is the token of the last grant of any of
-- the report's jobs: it only ever rises.
CREATE TABLE report (
  report_key BYTEA NOT NULL PRIMARY KEY CHECK (length(report_key) = 32),
  tenant TEXT NOT NULL,
  namespace TEXT NOT NULL,
  report_id TEXT NOT NULL,
  version TEXT NOT NULL,
  source TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  mapping_digest BYTEA NOT NULL CHECK (length(mapping_digest) = 32),
  input BYTEA NOT NULL,
  input_hash BYTEA NOT NULL CHECK (length(input_hash) = 32),
  links TEXT NOT NULL,
  order_value TEXT,
  fence BIGINT NOT NULL DEFAULT 0 CHECK (fence >= 0),
  current_job BIGINT,
  current_result BYTEA,
  next_attempt BIGINT NOT NULL DEFAULT 1,
  next_sequence BIGINT NOT NULL DEFAULT 1,
  received_ms BIGINT NOT NULL
);
CREATE INDEX report_newest ON report (received_ms, report_key);

-- The claim fence is UNIQUE (report_key, classifier_version). `token` and `nonce` are those of the
-- job's last grant, and stay when it is settled, so that its holder can be told what became of it.
CREATE TABLE job (
  job_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  report_key BYTEA NOT NULL REFERENCES report (report_key),
  pipeline TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('extract')),
  classifier_version TEXT,
  claim_key BYTEA CHECK (length(claim_key) = 32),
  state TEXT NOT NULL CHECK (
    state IN ('accepted', 'running', 'validation_rejected', 'ready_for_review', 'terminal')
  ),
  outcome TEXT CHECK (
    outcome IN ('committed', 'decided', 'dismissed', 'superseded', 'erased')
  ),
  due_ms BIGINT NOT NULL,
  lease_until_ms BIGINT,
  token BIGINT CHECK (token > 0),
  nonce BYTEA CHECK (length(nonce) = 16),
  worker TEXT,
  grants BIGINT NOT NULL DEFAULT 0,
  charged BIGINT NOT NULL DEFAULT 0,
  given_back BIGINT NOT NULL DEFAULT 0 CHECK (given_back <= charged),
  calls_judged BIGINT NOT NULL DEFAULT 0,
  elapsed_from_ms BIGINT NOT NULL,
  set_aside TEXT,
  created_ms BIGINT NOT NULL,
  updated_ms BIGINT NOT NULL,
  UNIQUE (report_key, classifier_version),
  CHECK ((state = 'terminal') = (outcome IS NOT NULL)),
  CHECK ((state = 'running') = (lease_until_ms IS NOT NULL)),
  CHECK (state <> 'running' OR (token IS NOT NULL AND nonce IS NOT NULL))
) WITH (fillfactor = 70);
-- At most one job of a report waits for its first grant, and at most one is live.
CREATE UNIQUE INDEX job_unbound ON job (report_key) WHERE classifier_version IS NULL;
CREATE UNIQUE INDEX job_live ON job (report_key) WHERE state = 'running';
-- What a worker may take, in the order in which it falls due: a lease that runs out is due too.
CREATE INDEX job_claimable ON job (
  pipeline,
  (CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END) NULLS FIRST,
  job_id
) WHERE state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL;

CREATE TABLE attempt (
  report_key BYTEA NOT NULL REFERENCES report (report_key),
  number BIGINT NOT NULL CHECK (number > 0),
  job_id BIGINT NOT NULL REFERENCES job (job_id),
  charged BIGINT NOT NULL CHECK (charged IN (0, 1)),
  worker TEXT NOT NULL,
  token BIGINT NOT NULL CHECK (token > 0),
  classifier_version TEXT NOT NULL,
  schema_version TEXT NOT NULL,
  provider TEXT,
  model TEXT,
  request_id TEXT,
  tokens_in BIGINT,
  tokens_out BIGINT,
  started_ms BIGINT NOT NULL,
  ended_ms BIGINT,
  outcome TEXT CHECK (
    outcome IN (
      'committed', 'lease_lost', 'released', 'syntax_invalid', 'schema_invalid',
      'policy_invalid', 'refused', 'truncated', 'transport', 'rate_limited', 'overloaded',
      'timeout', 'auth', 'quota', 'invalid_request', 'context_too_long', 'database'
    )
  ),
  reason TEXT,
  raw BYTEA,
  raw_call_key BYTEA CHECK (length(raw_call_key) = 32),
  verdict TEXT CHECK (
    verdict IN (
      'committed', 'syntax_invalid', 'schema_invalid', 'policy_invalid', 'refused', 'truncated'
    )
  ),
  PRIMARY KEY (report_key, number),
  CHECK ((outcome IS NULL) = (ended_ms IS NULL)),
  CHECK ((raw IS NULL) = (raw_call_key IS NULL))
);

-- The commit fence is UNIQUE (report_key, schema_version). A pipeline of findings has no value
-- here: its findings point to the row.
CREATE TABLE result (
  result_key BYTEA NOT NULL PRIMARY KEY CHECK (length(result_key) = 32),
  report_key BYTEA NOT NULL REFERENCES report (report_key),
  schema_version TEXT NOT NULL,
  value TEXT,
  token BIGINT NOT NULL CHECK (token > 0),
  attempt_number BIGINT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('current', 'candidate', 'history')),
  created_ms BIGINT NOT NULL,
  updated_ms BIGINT NOT NULL,
  UNIQUE (report_key, schema_version),
  FOREIGN KEY (report_key, attempt_number) REFERENCES attempt (report_key, number)
);
CREATE UNIQUE INDEX result_current ON result (report_key) WHERE status = 'current';

-- One review item per report, because it is its primary key.
CREATE TABLE review (
  report_key BYTEA NOT NULL PRIMARY KEY REFERENCES report (report_key),
  revision BIGINT NOT NULL CHECK (revision > 0),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')),
  reason TEXT NOT NULL CHECK (
    reason IN (
      'policy', 'attempts_spent', 'elapsed', 'refused', 'truncated', 'invalid_request',
      'context_too_long'
    )
  ),
  note TEXT,
  opened_ms BIGINT NOT NULL,
  closed_ms BIGINT,
  CHECK ((status = 'closed') = (closed_ms IS NOT NULL))
);
CREATE INDEX review_open ON review (opened_ms) WHERE status = 'open';

CREATE TABLE decision (
  report_key BYTEA NOT NULL REFERENCES review (report_key),
  number BIGINT NOT NULL CHECK (number > 0),
  revision_seen BIGINT NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('accept', 'correct', 'dismiss', 'retry')),
  value TEXT,
  decided_ms BIGINT NOT NULL,
  PRIMARY KEY (report_key, number)
);

-- Another content under a known identity, once per content.
CREATE TABLE content_conflict (
  report_key BYTEA NOT NULL REFERENCES report (report_key),
  input_hash BYTEA NOT NULL CHECK (length(input_hash) = 32),
  seen BIGINT NOT NULL CHECK (seen > 0),
  first_ms BIGINT NOT NULL,
  last_ms BIGINT NOT NULL,
  PRIMARY KEY (report_key, input_hash)
);

CREATE TABLE outbox (
  event_key BYTEA NOT NULL PRIMARY KEY CHECK (length(event_key) = 32),
  report_key BYTEA NOT NULL REFERENCES report (report_key),
  sequence BIGINT NOT NULL CHECK (sequence > 0),
  kind TEXT NOT NULL CHECK (kind IN ('report.accepted', 'review.opened', 'result.final')),
  result_key BYTEA REFERENCES result (result_key),
  payload TEXT NOT NULL,
  created_ms BIGINT NOT NULL,
  delivered_ms BIGINT,
  attempts BIGINT NOT NULL DEFAULT 0,
  UNIQUE (report_key, sequence)
);
-- Once per result.
CREATE UNIQUE INDEX outbox_final ON outbox (result_key) WHERE kind = 'result.final';
CREATE INDEX outbox_undelivered ON outbox (created_ms) WHERE delivered_ms IS NULL;

CREATE TABLE pause (
  credential TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  since_ms BIGINT NOT NULL,
  probe_ms BIGINT NOT NULL
);

CREATE TABLE audit (
  audit_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at_ms BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL
);

-- The two that point at tables which come after theirs.
ALTER TABLE report
  ADD FOREIGN KEY (current_job) REFERENCES job (job_id),
  ADD FOREIGN KEY (current_result) REFERENCES result (result_key);
