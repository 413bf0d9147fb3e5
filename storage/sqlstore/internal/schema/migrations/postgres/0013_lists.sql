-- Indexes for lists of runs, and for events by their numbers. The file of this number for SQLite describes them.
ALTER TABLE runs ADD COLUMN created BIGINT   NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN child   SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN flow    TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE runs SET flow = o.flow, created = o.created, child = CASE WHEN o.parent <> '' THEN 1 ELSE 0 END
FROM origins o WHERE o.n = runs.n;
ALTER TABLE runs ADD COLUMN class   SMALLINT NOT NULL GENERATED ALWAYS AS
  (CASE WHEN state IN (2, 3, 4) THEN state * 16 ELSE 0 END + outcome * 2 + child) STORED;

DROP INDEX runs_ended;
DROP INDEX IF EXISTS runs_open;
DROP INDEX origins_flow;
CREATE INDEX runs_created      ON runs (class, created, n, state);
CREATE INDEX runs_ended        ON runs (class, ended, n)       WHERE ended IS NOT NULL;
CREATE INDEX runs_flow_created ON runs (flow, class, created, n);
CREATE INDEX runs_flow_ended   ON runs (flow, class, ended, n) WHERE ended IS NOT NULL;

ALTER TABLE labels ADD COLUMN class   SMALLINT NOT NULL DEFAULT 0;
ALTER TABLE labels ADD COLUMN created BIGINT   NOT NULL DEFAULT 0;
ALTER TABLE labels ADD COLUMN ended   BIGINT;
DROP INDEX labels_value;
DROP INDEX origins_parent;
INSERT INTO labels (run, key, value) SELECT n, '', parent FROM origins WHERE parent <> '';
UPDATE labels SET class = r.class, created = r.created, ended = r.ended FROM runs r WHERE r.n = labels.run;
CREATE INDEX labels_created ON labels (key, value, class, created, run);
CREATE INDEX labels_ended   ON labels (key, value, class, ended, run) WHERE ended IS NOT NULL;

ALTER TABLE history ADD COLUMN event BIGINT;
UPDATE history SET event = 0;
CREATE INDEX history_event ON history (run, event, first) WHERE event IS NOT NULL;
