-- Keys of open runs, runs that continue others, and messages with a receipt.

ALTER TABLE origins ADD COLUMN key       TEXT NOT NULL DEFAULT ''; -- '' means none
ALTER TABLE origins ADD COLUMN continues TEXT NOT NULL DEFAULT ''; -- id of the run whose work it continues; '' means none

-- The keys that runs hold. A run has a row here from its first commit to its last, so a key has one run.
CREATE TABLE open_keys (
  key TEXT    PRIMARY KEY,
  run INTEGER NOT NULL UNIQUE
) WITHOUT ROWID;

ALTER TABLE messages ADD COLUMN sender  TEXT NOT NULL DEFAULT ''; -- id of the run that sent it; '' means none
ALTER TABLE messages ADD COLUMN receipt TEXT NOT NULL DEFAULT ''; -- '' means none
ALTER TABLE messages ADD COLUMN note    BLOB;
