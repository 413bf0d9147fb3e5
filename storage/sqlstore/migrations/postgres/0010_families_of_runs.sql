-- Whose descendant a run is, for the limits on those, see storage.Run: root is '' for a run that no other began. families has how
-- many runs were created with a root, as long as one of them, or the root, is left. Of what was created before, nothing is counted.
ALTER TABLE origins ADD COLUMN root  TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE origins ADD COLUMN depth BIGINT NOT NULL DEFAULT 0;
CREATE INDEX origins_root ON origins (root) WHERE root <> '';

CREATE TABLE families (
  born BIGINT NOT NULL,
  root TEXT COLLATE "C" PRIMARY KEY
);
