-- The newest records of a run lie in its own row, as one value that package sqlstore reads and writes: a step that
-- ends one atom and begins the next rewrites this row and no other. What is in it goes before what is in the tables
-- atoms and settled, and comes after what is in history. When it is full, it is emptied into them.
ALTER TABLE runs ADD COLUMN recent BLOB;

-- It was written and never read.
ALTER TABLE history DROP COLUMN event;

-- The job whose wish a run is; '' is none. From the run's first row on the job is the run's: no claim of it runs out.
ALTER TABLE origins ADD COLUMN job TEXT NOT NULL DEFAULT '';

-- How often the owner of a run has died since the run made progress.
ALTER TABLE runs ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;

-- What may be claimed is unclaimed: what is due, or whose claim has run out, is made that first. So a claim costs
-- what it takes, however much is on the board.
DROP INDEX jobs_claimable;
CREATE INDEX jobs_unclaimed ON jobs (priority DESC, n) WHERE state = 0;
CREATE INDEX jobs_scheduled ON jobs (not_until)        WHERE state = 3;
CREATE INDEX jobs_leased    ON jobs (lease)            WHERE state = 1 AND lease IS NOT NULL;
CREATE INDEX jobs_run       ON jobs (run);

-- How many runs of a flow ('' is every flow) are driven at once; with a label, of those that have the same value of it.
CREATE TABLE limits (
  flow  TEXT    NOT NULL,
  label TEXT    NOT NULL, -- '' is none
  runs  INTEGER NOT NULL,
  PRIMARY KEY (flow, label)
) WITHOUT ROWID;

-- Runs that the same limits count together.
CREATE TABLE lanes (
  n      INTEGER PRIMARY KEY,
  flow   TEXT    NOT NULL,
  labels TEXT    NOT NULL, -- those that limits look at: a JSON object, its members in order
  UNIQUE (flow, labels)
);

-- What is due is found by one index outside of lanes, and by another lane by lane. NULL is a run that no limit counts.
ALTER TABLE runs ADD COLUMN lane INTEGER;
DROP INDEX runs_due;
CREATE INDEX runs_due        ON runs (due)       WHERE due IS NOT NULL AND lane IS NULL;
CREATE INDEX runs_lane_due   ON runs (lane, due) WHERE due IS NOT NULL AND lane IS NOT NULL;
CREATE INDEX runs_lane_owned ON runs (lane)      WHERE lane IS NOT NULL AND owner <> '';
