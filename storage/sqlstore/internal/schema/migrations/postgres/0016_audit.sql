-- Who commanded what. The file of this number for SQLite describes the table.
CREATE TABLE audit (
  n       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run     BIGINT,
  subject TEXT COLLATE "C" NOT NULL DEFAULT '',
  seq     BIGINT NOT NULL,
  line    BYTEA NOT NULL
);
CREATE INDEX audit_run ON audit (run, n) WHERE run IS NOT NULL;

ALTER TABLE messages ADD COLUMN issuer TEXT COLLATE "C" NOT NULL DEFAULT '';
