-- What lists of runs select by, in the order of their time. A list reads one stretch of an index for each class.

-- The class of a run: what lists select most, and what few steps change. In steps of 16 it is the state of a run that
-- has ended (2, 3 and 4), and 0 of any other; in steps of 2 the outcome; 1 more if another run started the run.
-- flow and created are copies of those in origins.
ALTER TABLE runs ADD COLUMN flow    TEXT    NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN child   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN class   INTEGER GENERATED ALWAYS AS
  (CASE WHEN state IN (2, 3, 4) THEN state * 16 ELSE 0 END + outcome * 2 + child) VIRTUAL;
UPDATE runs SET (flow, created, child) = (SELECT flow, created, parent <> '' FROM origins o WHERE o.n = runs.n)
WHERE n IN (SELECT n FROM origins);

DROP INDEX runs_ended;
DROP INDEX IF EXISTS runs_open;
DROP INDEX origins_flow;
-- runs_created has the state, so that runs that have not ended are counted by it.
CREATE INDEX runs_created      ON runs (class, created, n, state);
CREATE INDEX runs_ended        ON runs (class, ended)       WHERE ended IS NOT NULL;
CREATE INDEX runs_flow_created ON runs (flow, class, created);
CREATE INDEX runs_flow_ended   ON runs (flow, class, ended) WHERE ended IS NOT NULL;

-- class, created and ended are copies of those in runs. The key '' has the id of the run that started the run, so lists
-- find children as they find runs with a label.
ALTER TABLE labels ADD COLUMN class   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE labels ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
ALTER TABLE labels ADD COLUMN ended   INTEGER;
DROP INDEX labels_value;
DROP INDEX origins_parent;
INSERT INTO labels (run, key, value) SELECT n, '', parent FROM origins WHERE parent <> '';
UPDATE labels SET (class, created, ended) = (SELECT class, created, ended FROM runs WHERE n = labels.run)
WHERE run IN (SELECT n FROM runs);
CREATE INDEX labels_created ON labels (key, value, class, created, run);
CREATE INDEX labels_ended   ON labels (key, value, class, ended, run) WHERE ended IS NOT NULL;

-- The number of the first event of the language in the row; NULL if it has none. Of rows that an earlier schema wrote
-- it is 0: they may have events. So events are found by their numbers, and rows without events are not read.
ALTER TABLE history ADD COLUMN event INTEGER;
UPDATE history SET event = 0;
CREATE INDEX history_event ON history (run, event, first) WHERE event IS NOT NULL;
