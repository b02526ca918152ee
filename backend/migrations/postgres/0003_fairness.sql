-- Whose a job is, so that a claim can go round among tenants. An erased report's job has none. They
-- are compared byte by byte, whatever language the server has been set up for.
ALTER TABLE job ADD COLUMN tenant TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE job SET tenant = report.tenant FROM report WHERE report.report_key = job.report_key;
-- The same jobs as in `job_claimable`, each tenant's in the order in which they fall due.
CREATE INDEX job_turn ON job (
  pipeline,
  tenant,
  (CASE state WHEN 'running' THEN lease_until_ms ELSE due_ms END) NULLS FIRST,
  job_id
) WHERE state IN ('accepted', 'running', 'validation_rejected') AND set_aside IS NULL;
