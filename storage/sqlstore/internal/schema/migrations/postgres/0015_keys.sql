-- Keys of open runs, runs that continue others, and messages with a receipt. The file of this number for SQLite
-- describes them.
ALTER TABLE origins ADD COLUMN key       TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE origins ADD COLUMN continues TEXT COLLATE "C" NOT NULL DEFAULT '';

CREATE TABLE open_keys (
  key TEXT COLLATE "C" PRIMARY KEY,
  run BIGINT NOT NULL UNIQUE
);

ALTER TABLE messages ADD COLUMN sender  TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN receipt TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN note    BYTEA;
