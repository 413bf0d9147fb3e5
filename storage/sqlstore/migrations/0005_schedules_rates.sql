-- When jobs are posted by themselves. What a schedule says of its times is package jobs' to read.
CREATE TABLE schedules (
  id       TEXT    PRIMARY KEY,
  spec     TEXT    NOT NULL,
  flow     TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  catch_up INTEGER NOT NULL, -- how many ticks that were missed are made up for
  paused   INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  next     INTEGER,          -- the tick that is to be posted; NULL is never again
  last     INTEGER,          -- the one that was posted last
  mark     TEXT    NOT NULL, -- another with each change: whoever posts a tick changes what he has seen, and nothing else
  input    BLOB,
  needs    BLOB,
  labels   BLOB
) WITHOUT ROWID;
CREATE INDEX schedules_next ON schedules (next) WHERE next IS NOT NULL;

-- How many jobs are claimed within a time; 0 is no limit. Limits of runs have 0 runs when they limit no runs.
ALTER TABLE limits ADD COLUMN rate INTEGER NOT NULL DEFAULT 0;
ALTER TABLE limits ADD COLUMN per  INTEGER NOT NULL DEFAULT 0; -- microseconds

-- What was claimed of what a rate counts together, as long as it counts.
CREATE TABLE rated (
  flow  TEXT    NOT NULL,
  label TEXT    NOT NULL,
  value TEXT    NOT NULL, -- of the label
  at    INTEGER NOT NULL,
  jobs  INTEGER NOT NULL,
  PRIMARY KEY (flow, label, value, at)
) WITHOUT ROWID;

-- What the run of a job is labelled beside what it needs.
ALTER TABLE jobs ADD COLUMN run_labels BLOB;

-- When a job ended. Of those that have ended before there was this, it is not known.
ALTER TABLE jobs ADD COLUMN ended INTEGER;
UPDATE jobs SET ended = created WHERE state = 2;
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
