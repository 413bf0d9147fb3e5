-- What is known about runs that may have killed the processes that drove them, see storage.Suspicion; lost is how many
-- died. died_by names the last of them, as JSON.
ALTER TABLE runs ADD COLUMN proof INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN trial INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN died INTEGER;
ALTER TABLE runs ADD COLUMN died_by BLOB;

-- Nobody has looked for the cause of what was counted until now.
UPDATE runs SET lost = 0 WHERE lost > 0;
CREATE INDEX runs_suspect ON runs (lost) WHERE lost > 1;
