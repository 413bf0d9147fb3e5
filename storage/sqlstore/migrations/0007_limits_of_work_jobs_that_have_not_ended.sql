-- How long work may wait to be taken, and how long whoever took it may take, from when it was put into its queue, or
-- last taken. 0 is any time; nanoseconds, as the heartbeat.
ALTER TABLE tokens ADD COLUMN since INTEGER;
ALTER TABLE tokens ADD COLUMN schedule_to_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN start_to_close INTEGER NOT NULL DEFAULT 0;

-- Jobs that have not ended, for who counts or lists them. It does not begin with the state, or a server that has counted
-- nothing yet would look there for those that have a lease. Nobody looks for a job by its run; whose claims a process
-- has, and left, is looked for among those that have a lease.
CREATE INDEX jobs_open ON jobs (priority DESC, n) WHERE state <> 2;
DROP INDEX jobs_run;
DROP INDEX jobs_owner;
