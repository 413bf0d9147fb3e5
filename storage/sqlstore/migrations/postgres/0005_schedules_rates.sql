-- What the step of this number says on SQLite, where the tables are told about.
CREATE TABLE schedules (
  version  BIGINT  NOT NULL,
  priority BIGINT  NOT NULL,
  catch_up BIGINT  NOT NULL,
  created  BIGINT  NOT NULL,
  next     BIGINT,
  last     BIGINT,
  paused   BOOLEAN NOT NULL,
  id       TEXT COLLATE "C" PRIMARY KEY,
  spec     TEXT COLLATE "C" NOT NULL,
  flow     TEXT COLLATE "C" NOT NULL,
  mark     TEXT COLLATE "C" NOT NULL,
  input    BYTEA,
  needs    BYTEA,
  labels   BYTEA
);
CREATE INDEX schedules_next ON schedules (next) WHERE next IS NOT NULL;

ALTER TABLE limits ADD COLUMN rate BIGINT NOT NULL DEFAULT 0;
ALTER TABLE limits ADD COLUMN per  BIGINT NOT NULL DEFAULT 0;

CREATE TABLE rated (
  at    BIGINT NOT NULL,
  jobs  BIGINT NOT NULL,
  flow  TEXT COLLATE "C" NOT NULL,
  label TEXT COLLATE "C" NOT NULL,
  value TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (flow, label, value, at)
);

ALTER TABLE jobs ADD COLUMN run_labels BYTEA;
ALTER TABLE jobs ADD COLUMN ended BIGINT;
UPDATE jobs SET ended = created WHERE state = 2;
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
