-- The schema of Ebb 0.1. It replaces the steps 1 to 19 of earlier checkouts, which were never released.
--
-- Times are UTC Unix microseconds. NULL means never. Values are blobs: a codec byte, then the text.
-- Records (atoms, history, failures) are rows of tagged fields. Package storage encodes and decodes them.
-- Tables whose rows may be large have row ids. A search in a table WITHOUT ROWID reads each row that it compares, and all
-- of it if it fills more than a quarter of a page: to find one of 4,000 payloads of 64 KB, SQLite read about 600 KB.
-- Columns that may be large come last, because SQLite reads past them to find what comes after.
-- Every table of a run's data is keyed by the run's number first, so that a purge deletes one range in each table.

-- The row of a run that each step rewrites: guard, fence, wakeup counter and counters. So no index holds a column that a
-- step changes.
CREATE TABLE runs (
  n          INTEGER PRIMARY KEY,
  seq        INTEGER NOT NULL DEFAULT 0,
  entries    INTEGER NOT NULL DEFAULT 0,
  events     INTEGER NOT NULL DEFAULT 0,
  refs       INTEGER NOT NULL DEFAULT 0,
  undos      INTEGER NOT NULL DEFAULT 0,
  updated    INTEGER NOT NULL,
  fence      INTEGER NOT NULL DEFAULT 0,
  claim      TEXT    NOT NULL DEFAULT '',
  owner      TEXT    NOT NULL DEFAULT '', -- id in owners; '' means no owner
  wakeups    INTEGER NOT NULL DEFAULT 0,  -- the wakeup counter: how many messages have come
  due        INTEGER,                     -- only while no process owns the run
  bucket     INTEGER,                     -- in buckets; NULL means that no limit counts the run
  state      INTEGER NOT NULL,
  outcome    INTEGER NOT NULL DEFAULT 0,
  undone     INTEGER NOT NULL DEFAULT 0,
  hold       INTEGER NOT NULL DEFAULT 0,
  started    INTEGER,
  ended      INTEGER,
  output_ref INTEGER NOT NULL DEFAULT 0,  -- of payloads; 0 is inline
  output     BLOB,
  failure    BLOB,
  memory     BLOB,
  -- The newest records of the run, as one value that package sqlstore encodes. A step that ends one atom and begins the
  -- next rewrites this row and no other. These records take precedence over the tables atoms and settled, and come after
  -- the table history. When the value is full, its records move into those tables.
  recent     BLOB,
  -- What the limits on growth compare: steps and attempts; their number when the run last waited; bytes written.
  iterations INTEGER NOT NULL DEFAULT 0,
  waited     INTEGER NOT NULL DEFAULT 0,
  bytes      INTEGER NOT NULL DEFAULT 0,
  -- How many processes died that drove the run, and what that proves; see storage.Suspicion. died_by names the last of
  -- them, as JSON.
  lost       INTEGER NOT NULL DEFAULT 0,
  proof      INTEGER NOT NULL DEFAULT 0,
  trial      INTEGER NOT NULL DEFAULT 0,
  died       INTEGER,
  died_by    BLOB,
  -- What lists of runs select by. flow and created are copies of those in origins. child is 1 if another run started the
  -- run.
  flow       TEXT    NOT NULL DEFAULT '',
  created    INTEGER NOT NULL DEFAULT 0,
  child      INTEGER NOT NULL DEFAULT 0,
  code       BLOB,                        -- of the failure; NULL if there is none
  -- The class of a run: what lists select most, and what few steps change. In steps of 16 it is the state of a run that
  -- has ended (2, 3 and 4), and 0 of any other; in steps of 2 the outcome; 1 more for a child. It has no IN: for each
  -- evaluation of IN, SQLite makes a table in memory, and every checkpoint of a run computes the class.
  class      INTEGER GENERATED ALWAYS AS
    (CASE WHEN state BETWEEN 2 AND 4 THEN state * 16 ELSE 0 END + outcome * 2 + child) VIRTUAL
);
-- One index finds due runs outside of buckets, another finds them bucket by bucket.
CREATE INDEX runs_due          ON runs (due)         WHERE due IS NOT NULL AND bucket IS NULL;
CREATE INDEX runs_bucket_due   ON runs (bucket, due) WHERE due IS NOT NULL AND bucket IS NOT NULL;
CREATE INDEX runs_bucket_owned ON runs (bucket)      WHERE bucket IS NOT NULL AND owner <> '';
CREATE INDEX runs_owner        ON runs (owner)       WHERE owner <> '';
CREATE INDEX runs_suspect      ON runs (lost)        WHERE lost > 1;
-- This one finds runs that need a person: 3 is "undo failed", 6 is SUSPENDED.
CREATE INDEX runs_person       ON runs (n)           WHERE undone = 3 OR state = 6 AND failure IS NOT NULL;
-- Lists read one stretch of an index for each class, in the order of its time. runs_created has the state, so that runs
-- that have not ended are counted by it. The indexes by code and by undo contain only the runs that have such a value, so
-- a run that succeeds costs nothing more.
CREATE INDEX runs_created        ON runs (class, created, n, state);
CREATE INDEX runs_ended          ON runs (class, ended)           WHERE ended IS NOT NULL;
CREATE INDEX runs_flow_created   ON runs (flow, class, created);
CREATE INDEX runs_flow_ended     ON runs (flow, class, ended)     WHERE ended IS NOT NULL;
CREATE INDEX runs_code_created   ON runs (code, class, created)   WHERE code IS NOT NULL;
CREATE INDEX runs_code_ended     ON runs (code, class, ended)     WHERE code IS NOT NULL AND ended IS NOT NULL;
CREATE INDEX runs_undone_created ON runs (undone, class, created) WHERE undone > 0;
CREATE INDEX runs_undone_ended   ON runs (undone, class, ended)   WHERE undone > 0 AND ended IS NOT NULL;

-- How many runs of a flow are driven at once, and how many jobs of it are claimed within a period. flow '' means every
-- flow. With a label, runs with the same value of that label are counted together.
CREATE TABLE limits (
  flow  TEXT    NOT NULL,
  label TEXT    NOT NULL,           -- '' means none
  runs  INTEGER NOT NULL,           -- 0 means no limit on runs
  rate  INTEGER NOT NULL DEFAULT 0, -- jobs; 0 means no limit on jobs
  per   INTEGER NOT NULL DEFAULT 0, -- the period of rate, in microseconds
  PRIMARY KEY (flow, label)
) WITHOUT ROWID;

-- A bucket is a set of runs that the same limits count together.
CREATE TABLE buckets (
  n      INTEGER PRIMARY KEY,
  flow   TEXT    NOT NULL,
  labels TEXT    NOT NULL, -- the labels that limits name: a JSON object, its members in order
  UNIQUE (flow, labels)
);

-- The jobs that count toward a rate, as long as they do.
CREATE TABLE rated (
  flow  TEXT    NOT NULL,
  label TEXT    NOT NULL,
  value TEXT    NOT NULL, -- of the label
  at    INTEGER NOT NULL,
  jobs  INTEGER NOT NULL,
  PRIMARY KEY (flow, label, value, at)
) WITHOUT ROWID;

-- What is known of a run when it is created.
CREATE TABLE origins (
  n          INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  flow       TEXT    NOT NULL,
  definition TEXT    NOT NULL,
  structure  TEXT    NOT NULL,
  parent     TEXT    NOT NULL,
  trace      TEXT    NOT NULL,
  created    INTEGER NOT NULL,
  input_ref  INTEGER NOT NULL,
  input      BLOB,
  attrs      BLOB,
  secrets    BLOB,                        -- what no view of the run may show; NULL means nothing
  job        TEXT    NOT NULL DEFAULT '', -- the job that asked for the run; '' means none
  root       TEXT    NOT NULL DEFAULT '', -- the run whose descendant it is; '' means that no run began it
  depth      INTEGER NOT NULL DEFAULT 0,  -- how many runs are between it and the root, itself included
  key        TEXT    NOT NULL DEFAULT '', -- the key that the run holds while it is open; '' means none
  continues  TEXT    NOT NULL DEFAULT ''  -- id of the run whose work it continues; '' means none
);
CREATE INDEX origins_root               ON origins (root)                WHERE root <> '';
CREATE INDEX origins_definition_created ON origins (definition, created) WHERE definition <> '';

-- The keys that runs hold. A run has a row here from its first commit to its last, so a key has one run.
CREATE TABLE open_keys (
  key TEXT    PRIMARY KEY,
  run INTEGER NOT NULL UNIQUE
) WITHOUT ROWID;

-- How many runs were created with a root, kept as long as one of them, or the root, is left.
CREATE TABLE families (
  root TEXT    PRIMARY KEY,
  born INTEGER NOT NULL
) WITHOUT ROWID;

-- class, created and ended are copies of those in runs. The key '' has the id of the run that started the run, so lists
-- find children as they find runs with a label.
CREATE TABLE labels (
  run     INTEGER NOT NULL,
  key     TEXT    NOT NULL,
  value   TEXT    NOT NULL,
  class   INTEGER NOT NULL DEFAULT 0,
  created INTEGER NOT NULL DEFAULT 0,
  ended   INTEGER,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE INDEX labels_created ON labels (key, value, class, created, run);
CREATE INDEX labels_ended   ON labels (key, value, class, ended, run) WHERE ended IS NOT NULL;

-- The atoms that a resume needs, so that it reads one range and nothing else.
CREATE TABLE atoms (
  run    INTEGER NOT NULL,
  path   TEXT    NOT NULL,
  record BLOB    NOT NULL,
  PRIMARY KEY (run, path)
) WITHOUT ROWID;

-- The atoms that are kept for views and for undo. A path is in one of the two tables.
CREATE TABLE settled (
  run    INTEGER NOT NULL,
  path   TEXT    NOT NULL,
  record BLOB    NOT NULL,
  PRIMARY KEY (run, path)
) WITHOUT ROWID;

CREATE TABLE undo (
  run  INTEGER NOT NULL,
  n    INTEGER NOT NULL,
  path TEXT    NOT NULL,
  PRIMARY KEY (run, n)
) WITHOUT ROWID;

-- One row for each commit that has history: its entries from number first on. Rows are only added.
CREATE TABLE history (
  run     INTEGER NOT NULL,
  first   INTEGER NOT NULL,
  entries BLOB    NOT NULL,
  event   INTEGER,          -- number of the first event of the language in the row; NULL if it has none
  PRIMARY KEY (run, first)
) WITHOUT ROWID;
-- Events are found by their numbers, and rows without events are not read.
CREATE INDEX history_event ON history (run, event, first) WHERE event IS NOT NULL;

CREATE TABLE payloads (
  run  INTEGER NOT NULL,
  ref  INTEGER NOT NULL,
  data BLOB    NOT NULL,
  UNIQUE (run, ref)
);

CREATE TABLE timers (
  run         INTEGER NOT NULL,
  path        TEXT    NOT NULL,
  kind        INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  due         INTEGER NOT NULL,
  PRIMARY KEY (run, path, kind)
) WITHOUT ROWID;
CREATE INDEX timers_due ON timers (due);

CREATE TABLE tokens (
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
  give_up  INTEGER NOT NULL DEFAULT 0, -- the worker is told to give the work up
  details  BLOB,
  failure  BLOB,
  work     BLOB,
  result   BLOB
);
CREATE INDEX tokens_run ON tokens (run, state);
-- The order in which workers take the work of a queue: by priority, then by time, then by the place in the checkpoint
-- that queued it.
CREATE INDEX tokens_queue ON tokens (queue, priority DESC, coalesce(lease, beat, 0), place, id)
WHERE queue <> '' AND state = 0 AND (worker = '' OR lease IS NOT NULL);

-- Messages are numbered over all runs in the order in which they came. So an owner of many runs finds those with new
-- messages without looking at each run. AUTOINCREMENT never gives a number twice.
CREATE TABLE messages (
  arrival     INTEGER PRIMARY KEY AUTOINCREMENT,
  run         INTEGER NOT NULL,
  n           INTEGER NOT NULL, -- the run's wakeup counter after this message
  kind        TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  incarnation INTEGER NOT NULL,
  name        TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  body        BLOB,
  failure     BLOB,
  sent        INTEGER NOT NULL,
  sender      TEXT    NOT NULL DEFAULT '', -- id of the run that sent it; '' means none
  receipt     TEXT    NOT NULL DEFAULT '', -- '' means none
  note        BLOB,
  issuer      TEXT    NOT NULL DEFAULT '', -- who gave the command; '' means that it is none
  UNIQUE (run, n)
);

-- The keys of all messages that ever came, so that the store drops a repeated one.
CREATE TABLE message_keys (
  run INTEGER NOT NULL,
  key TEXT    NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;

-- The results of users' own SQL for a run, committed with it.
CREATE TABLE transactions (
  run    INTEGER NOT NULL,
  key    TEXT    NOT NULL,
  result BLOB,
  UNIQUE (run, key)
);

-- Messages to other systems. A row outlives its run, until it was sent.
CREATE TABLE outbox (
  n         INTEGER PRIMARY KEY AUTOINCREMENT,
  id        TEXT    NOT NULL,
  run       TEXT    NOT NULL, -- id of the run
  target    TEXT    NOT NULL,
  body      BLOB,
  attempts  INTEGER NOT NULL,
  not_until INTEGER,
  parked    INTEGER NOT NULL,
  error     TEXT    NOT NULL
);
CREATE INDEX outbox_target ON outbox (run, target, n);
CREATE INDEX outbox_parked ON outbox (n) WHERE parked;

CREATE TABLE jobs (
  n         INTEGER PRIMARY KEY,
  id        TEXT    NOT NULL UNIQUE,
  run       TEXT    NOT NULL, -- id of the run, which may not exist yet
  flow      TEXT    NOT NULL,
  version   INTEGER NOT NULL,
  input     BLOB,
  labels    BLOB,             -- JSON object
  priority  INTEGER NOT NULL,
  state     INTEGER NOT NULL,
  not_until INTEGER,
  created   INTEGER NOT NULL,
  epoch     INTEGER NOT NULL DEFAULT 0,
  claim     TEXT    NOT NULL DEFAULT '',
  owner     TEXT    NOT NULL DEFAULT '',
  lease     INTEGER,
  attempts  INTEGER NOT NULL DEFAULT 0,
  failure   BLOB,
  run_labels BLOB,                    -- labels of the run, beside what the job needs
  trace     TEXT    NOT NULL DEFAULT '', -- W3C traceparent; '' means none
  ended     INTEGER,
  sole      TEXT    NOT NULL DEFAULT ''  -- at most one job that has not ended has this text; '' means none
);
CREATE UNIQUE INDEX jobs_sole ON jobs (sole) WHERE sole <> '' AND state <> 2;
-- A job that is due, or whose claim has run out, becomes unclaimed first. So a claim costs what it takes, however many
-- jobs there are. jobs_open does not begin with the state: a server without statistics would use it for leases.
CREATE INDEX jobs_unclaimed ON jobs (priority DESC, n) WHERE state = 0;
CREATE INDEX jobs_scheduled ON jobs (not_until)        WHERE state = 3;
CREATE INDEX jobs_leased    ON jobs (lease)            WHERE state = 1 AND lease IS NOT NULL;
CREATE INDEX jobs_open      ON jobs (priority DESC, n) WHERE state <> 2;
CREATE INDEX jobs_ended     ON jobs (ended)            WHERE ended IS NOT NULL;

-- When jobs are posted by themselves. Package jobs reads the spec.
CREATE TABLE schedules (
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
CREATE INDEX schedules_next ON schedules (next) WHERE next IS NOT NULL;

-- The processes that may own runs. Each holds a lock on a file beside the database for its whole life.
CREATE TABLE owners (
  id      TEXT    PRIMARY KEY,
  host    TEXT    NOT NULL,
  pid     INTEGER NOT NULL,
  started INTEGER NOT NULL,
  seen    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE definitions (
  hash     TEXT    NOT NULL UNIQUE,
  name     TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  language TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  text     BLOB    NOT NULL,
  UNIQUE (name, version)
);

-- Records of programs that keep data of their own beside their runs.
CREATE TABLE records (
  kind     TEXT    NOT NULL,
  key      TEXT    NOT NULL,
  revision INTEGER NOT NULL, -- rises with each write of any record
  created  INTEGER NOT NULL, -- when the record came to exist
  updated  INTEGER NOT NULL,
  body     BLOB,
  UNIQUE (kind, key)
);
CREATE INDEX records_created ON records (kind, created, key);

-- The largest revision so far, in the only row. It stays when the record with that revision is deleted.
CREATE TABLE record_revisions (
  last INTEGER NOT NULL
);
INSERT INTO record_revisions (last) VALUES (0);

-- Who commanded what. A line is about a run, or about something that has no history of its own. The line of a run repeats an entry of the
-- run's history.
CREATE TABLE audit (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  run     INTEGER,                  -- NULL if it is not about a run
  subject TEXT NOT NULL DEFAULT '', -- what it is about if not a run
  seq     INTEGER NOT NULL,         -- number of the entry in the run's history; 0 means none
  line    BLOB NOT NULL             -- the entry
);
CREATE INDEX audit_run ON audit (run, n) WHERE run IS NOT NULL;
