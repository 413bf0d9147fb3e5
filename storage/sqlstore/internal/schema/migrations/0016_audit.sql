-- Who commanded what.

-- A line is about a run, or about something that has no history of its own. The line of a run repeats an entry of the
-- run's history.
CREATE TABLE audit (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  run     INTEGER,                  -- NULL if it is not about a run
  subject TEXT NOT NULL DEFAULT '', -- what it is about if not a run
  seq     INTEGER NOT NULL,         -- number of the entry in the run's history; 0 means none
  line    BLOB NOT NULL             -- the entry
);
CREATE INDEX audit_run ON audit (run, n) WHERE run IS NOT NULL;

ALTER TABLE messages ADD COLUMN issuer TEXT NOT NULL DEFAULT ''; -- who gave the command; '' means that it is none
