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
