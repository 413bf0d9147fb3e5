-- The class of a run without IN: for each evaluation of IN, SQLite makes a table in memory. Every checkpoint of a run
-- computes the class, and its end computes it for each index.
DROP INDEX runs_created;
DROP INDEX runs_ended;
DROP INDEX runs_flow_created;
DROP INDEX runs_flow_ended;
DROP INDEX runs_code_created;
DROP INDEX runs_code_ended;
DROP INDEX runs_undone_created;
DROP INDEX runs_undone_ended;
ALTER TABLE runs DROP COLUMN class;
ALTER TABLE runs ADD COLUMN class INTEGER GENERATED ALWAYS AS
  (CASE WHEN state BETWEEN 2 AND 4 THEN state * 16 ELSE 0 END + outcome * 2 + child) VIRTUAL;
CREATE INDEX runs_created        ON runs (class, created, n, state);
CREATE INDEX runs_ended          ON runs (class, ended)           WHERE ended IS NOT NULL;
CREATE INDEX runs_flow_created   ON runs (flow, class, created);
CREATE INDEX runs_flow_ended     ON runs (flow, class, ended)     WHERE ended IS NOT NULL;
CREATE INDEX runs_code_created   ON runs (code, class, created)   WHERE code IS NOT NULL;
CREATE INDEX runs_code_ended     ON runs (code, class, ended)     WHERE code IS NOT NULL AND ended IS NOT NULL;
CREATE INDEX runs_undone_created ON runs (undone, class, created) WHERE undone > 0;
CREATE INDEX runs_undone_ended   ON runs (undone, class, ended)   WHERE undone > 0 AND ended IS NOT NULL;
