-- What no view of the run may show; NULL is nothing. Input and structure of a run may change from now on.
ALTER TABLE origins ADD COLUMN secrets BLOB;

-- Letters are numbered over all runs as they come, so that an owner of many runs finds those that were rung
-- since it looked last without looking at each. AUTOINCREMENT, as a number that was taken must not come again.
CREATE TABLE rung_letters (
  ring        INTEGER PRIMARY KEY AUTOINCREMENT,
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
  UNIQUE (run, n)
);
INSERT INTO rung_letters (run, n, kind, path, incarnation, name, key, body, failure, sent)
SELECT run, n, kind, path, incarnation, name, key, body, failure, sent FROM letters ORDER BY sent, run, n;
DROP TABLE letters;
ALTER TABLE rung_letters RENAME TO letters;

-- What users' own SQL did for a run, committed with it.
CREATE TABLE transactions (
  run    INTEGER NOT NULL,
  key    TEXT    NOT NULL,
  result BLOB,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
