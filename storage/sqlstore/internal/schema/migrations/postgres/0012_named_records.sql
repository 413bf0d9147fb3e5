-- Records of programs that keep data of their own beside their runs. The file of this number for SQLite describes the
-- tables.
CREATE TABLE records (
  revision BIGINT NOT NULL,
  created  BIGINT NOT NULL,
  updated  BIGINT NOT NULL,
  kind     TEXT COLLATE "C" NOT NULL,
  key      TEXT COLLATE "C" NOT NULL,
  body     BYTEA,
  PRIMARY KEY (kind, key)
);
CREATE INDEX records_created ON records (kind, created, key);

-- A transaction that writes records locks this table, and so does one that starts runs on the condition that records have
-- not changed. The table records would not do: VACUUM locks it for longer, and both would wait for VACUUM.
CREATE TABLE record_revisions (
  last BIGINT NOT NULL
);
INSERT INTO record_revisions (last) VALUES (0);
