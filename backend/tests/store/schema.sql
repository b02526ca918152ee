CREATE INDEX attempt_kept ON attempt (pipeline, ended_ms, report_key, number)
  WHERE raw IS NOT NULL AND raw_emptied_ms IS NULL AND verdict IS NOT NULL;

CREATE INDEX finding_shown ON finding (result_key, status, position);

CREATE INDEX job_claimable ON job (
  pipeline,
  (CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END),
  job_id
) WHERE state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL;

CREATE UNIQUE INDEX job_live ON job (report_key) WHERE state = 'running';

CREATE INDEX job_turn ON job (
  pipeline,
  tenant,
  (CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END),
  job_id
) WHERE state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL;

CREATE UNIQUE INDEX job_unbound ON job (report_key) WHERE classifier_version IS NULL;

CREATE UNIQUE INDEX outbox_final ON outbox (result_key) WHERE kind = 'result.final';

CREATE INDEX outbox_undelivered ON outbox (created_ms) WHERE delivered_ms IS NULL;

CREATE INDEX pause_ended ON pause (subject, ended_ms) WHERE ended_ms IS NOT NULL;

CREATE UNIQUE INDEX pause_open ON pause (subject) WHERE ended_ms IS NULL;

CREATE UNIQUE INDEX report_current ON report (namespace, tenant, report_id) WHERE is_current = 1;

CREATE INDEX report_newest ON report (received_ms, report_key);

CREATE UNIQUE INDEX result_current ON result (report_key) WHERE status = 'current';

CREATE INDEX result_list ON result (thing_key) WHERE thing_key IS NOT NULL;

CREATE INDEX review_open ON review (opened_ms) WHERE status = 'open';

CREATE TABLE attempt (
  report_key BLOB NOT NULL REFERENCES report (report_key),
  number INTEGER NOT NULL CHECK (number > 0),
  job_id INTEGER NOT NULL REFERENCES job (job_id),
  charged INTEGER NOT NULL CHECK (charged IN (0, 1)),
  worker TEXT NOT NULL,
  token INTEGER NOT NULL CHECK (token > 0),
  classifier_version TEXT NOT NULL,
  schema_version TEXT NOT NULL,
  provider TEXT,
  model TEXT,
  request_id TEXT,
  tokens_in INTEGER,
  tokens_out INTEGER,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  outcome TEXT CHECK (
    outcome IN (
      'committed', 'lease_lost', 'released', 'syntax_invalid', 'schema_invalid',
      'policy_invalid', 'refused', 'truncated', 'transport', 'rate_limited', 'overloaded',
      'timeout', 'auth', 'quota', 'invalid_request', 'context_too_long', 'database'
    )
  ),
  reason TEXT,
  raw BLOB,
  raw_call_key BLOB CHECK (length(raw_call_key) = 32),
  verdict TEXT CHECK (
    verdict IN (
      'committed', 'syntax_invalid', 'schema_invalid', 'policy_invalid', 'refused', 'truncated'
    )
  ), latency_ms INTEGER CHECK (latency_ms >= 0), pipeline TEXT NOT NULL
  DEFAULT '', raw_emptied_ms INTEGER
  CHECK (raw_emptied_ms IS NULL OR length(raw) = 0),
  PRIMARY KEY (report_key, number),
  CHECK ((outcome IS NULL) = (ended_ms IS NULL)),
  CHECK ((raw IS NULL) = (raw_call_key IS NULL))
) STRICT;

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;

CREATE TABLE content_conflict (
  report_key BLOB NOT NULL REFERENCES report (report_key),
  input_hash BLOB NOT NULL CHECK (length(input_hash) = 32),
  seen INTEGER NOT NULL CHECK (seen > 0),
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  PRIMARY KEY (report_key, input_hash)
) STRICT;

CREATE TABLE decision (
  report_key BLOB NOT NULL REFERENCES review (report_key),
  number INTEGER NOT NULL CHECK (number > 0),
  revision_seen INTEGER NOT NULL,
  who TEXT NOT NULL,
  why TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('accept', 'correct', 'dismiss', 'retry')),
  value TEXT,
  decided_ms INTEGER NOT NULL,
  PRIMARY KEY (report_key, number)
) STRICT;

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

CREATE TABLE job (
  job_id INTEGER PRIMARY KEY,
  report_key BLOB NOT NULL REFERENCES report (report_key),
  pipeline TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('extract')),
  classifier_version TEXT,
  claim_key BLOB CHECK (length(claim_key) = 32),
  state TEXT NOT NULL CHECK (
    state IN ('accepted', 'running', 'validation_rejected', 'ready_for_review', 'terminal')
  ),
  outcome TEXT CHECK (
    outcome IN ('committed', 'decided', 'dismissed', 'superseded', 'erased')
  ),
  due_ms INTEGER NOT NULL,
  lease_until_ms INTEGER,
  token INTEGER CHECK (token > 0),
  nonce BLOB CHECK (length(nonce) = 16),
  worker TEXT,
  grants INTEGER NOT NULL DEFAULT 0,
  charged INTEGER NOT NULL DEFAULT 0,
  given_back INTEGER NOT NULL DEFAULT 0 CHECK (given_back <= charged),
  calls_judged INTEGER NOT NULL DEFAULT 0,
  elapsed_from_ms INTEGER NOT NULL,
  set_aside TEXT,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL, rounds INTEGER NOT NULL DEFAULT 1 CHECK (rounds > 0), tenant
  TEXT NOT NULL DEFAULT '',
  UNIQUE (report_key, classifier_version),
  CHECK ((state = 'terminal') = (outcome IS NOT NULL)),
  CHECK ((state = 'running') = (lease_until_ms IS NOT NULL)),
  CHECK (state <> 'running' OR (token IS NOT NULL AND nonce IS NOT NULL))
) STRICT;

CREATE TABLE migration (
  version INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  applied_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE "outbox" (
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

CREATE TABLE report (
  report_key BLOB NOT NULL PRIMARY KEY CHECK (length(report_key) = 32),
  tenant TEXT NOT NULL,
  namespace TEXT NOT NULL,
  report_id TEXT NOT NULL,
  version TEXT NOT NULL,
  source TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  mapping_digest BLOB NOT NULL CHECK (length(mapping_digest) = 32),
  input BLOB NOT NULL,
  input_hash BLOB NOT NULL CHECK (length(input_hash) = 32),
  links TEXT NOT NULL,
  order_value TEXT,
  fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  current_job INTEGER REFERENCES job (job_id),
  current_result BLOB REFERENCES result (result_key),
  next_attempt INTEGER NOT NULL DEFAULT 1,
  next_sequence INTEGER NOT NULL DEFAULT 1,
  received_ms INTEGER NOT NULL
, is_current INTEGER CHECK (is_current IN (0, 1)), input_from TEXT NOT NULL
  DEFAULT 'forwarded' CHECK (input_from IN ('forwarded', 'reference', 'fetched'))) STRICT;

CREATE TABLE "result" (
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
  updated_ms INTEGER NOT NULL, thing_key BLOB
  CHECK (length(thing_key) = 32),
  UNIQUE (report_key, schema_version),
  FOREIGN KEY (report_key, attempt_number) REFERENCES attempt (report_key, number)
) STRICT;

CREATE TABLE review (
  report_key BLOB NOT NULL PRIMARY KEY REFERENCES report (report_key),
  revision INTEGER NOT NULL CHECK (revision > 0),
  status TEXT NOT NULL CHECK (status IN ('open', 'closed')),
  reason TEXT NOT NULL CHECK (
    reason IN (
      'policy', 'attempts_spent', 'elapsed', 'refused', 'truncated', 'invalid_request',
      'context_too_long'
    )
  ),
  note TEXT,
  opened_ms INTEGER NOT NULL,
  closed_ms INTEGER,
  CHECK ((status = 'closed') = (closed_ms IS NOT NULL))
) STRICT;

CREATE TABLE source_binding (
  source TEXT NOT NULL PRIMARY KEY,
  mapping_digest BLOB NOT NULL CHECK (length(mapping_digest) = 32),
  bound_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE strike (
  subject TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL CHECK (reason IN ('invalid_request', 'context_too_long')),
  count INTEGER NOT NULL CHECK (count > 0),
  last_report BLOB NOT NULL
) STRICT;

CREATE TABLE version_binding (
  kind TEXT NOT NULL CHECK (kind IN ('classifier', 'schema')),
  pipeline TEXT NOT NULL,
  version TEXT NOT NULL,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  bound_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, pipeline, version)
) STRICT;
