-- Times are UTC Unix microseconds, NULL is never. Values are blobs: a codec byte, then the text.
-- Records (atoms, history, failures) are rows of tagged fields; package storage reads and writes them.
-- Everything of a run is keyed by its number first, so that a purge is one range in each table.

-- The hot row of a run: guard, fence, bell and counters. A step rewrites it, so nothing that a step changes is indexed.
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
  owner      TEXT    NOT NULL DEFAULT '', -- of owners; '' is nobody
  bell       INTEGER NOT NULL DEFAULT 0,
  due        INTEGER,                     -- only while nobody owns it
  state      INTEGER NOT NULL,
  outcome    INTEGER NOT NULL DEFAULT 0,
  undone     INTEGER NOT NULL DEFAULT 0,
  hold       INTEGER NOT NULL DEFAULT 0,
  started    INTEGER,
  ended      INTEGER,
  output_ref INTEGER NOT NULL DEFAULT 0,  -- of payloads; 0 is inline
  output     BLOB,
  failure    BLOB,
  memory     BLOB
);
CREATE INDEX runs_due   ON runs (due)   WHERE due IS NOT NULL;
CREATE INDEX runs_owner ON runs (owner) WHERE owner <> '';
CREATE INDEX runs_ended ON runs (ended) WHERE ended IS NOT NULL;

-- What is known of a run when it is created, and never changes.
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
  attrs      BLOB
);
CREATE INDEX origins_flow   ON origins (flow, n);
CREATE INDEX origins_parent ON origins (parent) WHERE parent <> '';

CREATE TABLE labels (
  run   INTEGER NOT NULL,
  key   TEXT    NOT NULL,
  value TEXT    NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE INDEX labels_value ON labels (key, value, run);

-- The atoms that are needed to go on with a run, so that taking it up reads one range and nothing else.
CREATE TABLE atoms (
  run    INTEGER NOT NULL,
  path   TEXT    NOT NULL,
  record BLOB    NOT NULL,
  PRIMARY KEY (run, path)
) WITHOUT ROWID;

-- The atoms that are kept to be shown and undone. A path is in one of the two.
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

-- One row for each commit that has history: its entries from number first on.
CREATE TABLE history (
  run     INTEGER NOT NULL,
  first   INTEGER NOT NULL,
  event   INTEGER,          -- number of the first event of the language in the row; NULL when there is none
  entries BLOB    NOT NULL,
  PRIMARY KEY (run, first)
) WITHOUT ROWID;

CREATE TABLE payloads (
  run  INTEGER NOT NULL,
  ref  INTEGER NOT NULL,
  data BLOB    NOT NULL,
  PRIMARY KEY (run, ref)
) WITHOUT ROWID;

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
  result      BLOB,
  failure     BLOB,
  PRIMARY KEY (run, id)
) WITHOUT ROWID;
CREATE INDEX tokens_open ON tokens (run) WHERE state = 0;

CREATE TABLE letters (
  run         INTEGER NOT NULL,
  n           INTEGER NOT NULL, -- the bell as it rang for it
  kind        TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  incarnation INTEGER NOT NULL,
  name        TEXT    NOT NULL,
  key         TEXT    NOT NULL,
  body        BLOB,
  failure     BLOB,
  sent        INTEGER NOT NULL,
  PRIMARY KEY (run, n)
) WITHOUT ROWID;

-- The keys of all letters that ever came, so that a repeated one is known.
CREATE TABLE letter_keys (
  run INTEGER NOT NULL,
  key TEXT    NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;

-- What leaves the database. It outlives its run: it has to be sent.
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
CREATE INDEX outbox_lane ON outbox (run, target, n);

CREATE TABLE jobs (
  n         INTEGER PRIMARY KEY,
  id        TEXT    NOT NULL UNIQUE,
  run       TEXT    NOT NULL, -- id of the run, which may not be made yet
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
  failure   BLOB
);
CREATE INDEX jobs_claimable ON jobs (priority DESC, n) WHERE state IN (0, 1, 3); -- unclaimed, claimed, scheduled
CREATE INDEX jobs_owner     ON jobs (owner) WHERE owner <> '';

-- The processes that may own runs. Each holds the lock of a file beside the database for its life.
CREATE TABLE owners (
  id      TEXT    PRIMARY KEY,
  host    TEXT    NOT NULL,
  pid     INTEGER NOT NULL,
  started INTEGER NOT NULL,
  seen    INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE definitions (
  hash     TEXT    PRIMARY KEY,
  name     TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  language TEXT    NOT NULL,
  text     BLOB    NOT NULL,
  created  INTEGER NOT NULL,
  UNIQUE (name, version)
) WITHOUT ROWID;
