-- Tables whose rows may be large get row ids. A search in a table WITHOUT ROWID reads each row that it compares, and all
-- of it if it fills more than a quarter of a page: to find one of 4,000 payloads of 64 KB, SQLite read about 600 KB.
-- Columns that may be large come last, because SQLite reads past them to find what comes after.

CREATE TABLE rows_payloads (
  run  INTEGER NOT NULL,
  ref  INTEGER NOT NULL,
  data BLOB    NOT NULL,
  UNIQUE (run, ref)
);
INSERT INTO rows_payloads (run, ref, data) SELECT run, ref, data FROM payloads;
DROP TABLE payloads;
ALTER TABLE rows_payloads RENAME TO payloads;

CREATE TABLE rows_definitions (
  hash     TEXT    NOT NULL UNIQUE,
  name     TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  language TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  text     BLOB    NOT NULL,
  UNIQUE (name, version)
);
INSERT INTO rows_definitions (hash, name, version, language, created, text)
SELECT hash, name, version, language, created, text FROM definitions;
DROP TABLE definitions;
ALTER TABLE rows_definitions RENAME TO definitions;

CREATE TABLE rows_transactions (
  run    INTEGER NOT NULL,
  key    TEXT    NOT NULL,
  result BLOB,
  UNIQUE (run, key)
);
INSERT INTO rows_transactions (run, key, result) SELECT run, key, result FROM transactions;
DROP TABLE transactions;
ALTER TABLE rows_transactions RENAME TO transactions;

CREATE TABLE rows_tokens (
  run         INTEGER NOT NULL,
  id          TEXT    NOT NULL UNIQUE,
  path        TEXT    NOT NULL,
  incarnation INTEGER NOT NULL,
  attempt     INTEGER NOT NULL,
  state       INTEGER NOT NULL,
  deadline    INTEGER,
  heartbeat   INTEGER NOT NULL, -- nanoseconds
  beat        INTEGER,
  worker      TEXT    NOT NULL,
  -- Work for workers. The take counts how often a worker took it, so its number says which worker has it. The limits are
  -- nanoseconds since the work was queued or last taken; 0 means no limit.
  queue             TEXT    NOT NULL DEFAULT '', -- '' means no work for workers
  take              INTEGER NOT NULL DEFAULT 0,
  lease             INTEGER,
  since             INTEGER,
  schedule_to_start INTEGER NOT NULL DEFAULT 0,
  start_to_close    INTEGER NOT NULL DEFAULT 0,
  priority          INTEGER NOT NULL DEFAULT 0,
  place             INTEGER NOT NULL DEFAULT 0,
  -- What the worker reported, if it is not in the atom's record yet.
  progress REAL    NOT NULL DEFAULT 0,
  give_up  INTEGER NOT NULL DEFAULT 0,
  details  BLOB,
  failure  BLOB,
  work     BLOB,
  result   BLOB
);
INSERT INTO rows_tokens (run, id, path, incarnation, attempt, state, deadline, heartbeat, beat, worker, queue, take, lease,
  since, schedule_to_start, start_to_close, priority, place, progress, give_up, details, failure, work, result)
SELECT run, id, path, incarnation, attempt, state, deadline, heartbeat, beat, worker, queue, take, lease, since,
  schedule_to_start, start_to_close, priority, place, progress, give_up, details, failure, work, result FROM tokens;
DROP TABLE tokens;
ALTER TABLE rows_tokens RENAME TO tokens;
CREATE INDEX tokens_run   ON tokens (run, state);
CREATE INDEX tokens_queue ON tokens (queue, priority DESC, coalesce(lease, beat, 0), place, id)
WHERE queue <> '' AND state = 0 AND (worker = '' OR lease IS NOT NULL);

CREATE TABLE rows_schedules (
  id       TEXT    NOT NULL UNIQUE,
  spec     TEXT    NOT NULL,
  flow     TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  catch_up INTEGER NOT NULL, -- how many missed ticks are made up for
  paused   INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  next     INTEGER,          -- the next tick; NULL means never again
  last     INTEGER,          -- the last tick
  mark     TEXT    NOT NULL, -- changes with each change, so that a process which posts a tick changes what it has read
  needs    BLOB,
  labels   BLOB,
  input    BLOB
);
INSERT INTO rows_schedules (id, spec, flow, version, priority, catch_up, paused, created, next, last, mark, needs, labels,
  input)
SELECT id, spec, flow, version, priority, catch_up, paused, created, next, last, mark, needs, labels, input FROM schedules;
DROP TABLE schedules;
ALTER TABLE rows_schedules RENAME TO schedules;
CREATE INDEX schedules_next ON schedules (next) WHERE next IS NOT NULL;
