-- How much a run has done and written, for the limits of its growth: steps of its language and attempts of its atoms; what
-- that was when it last waited; and bytes of history, payloads and grown atoms. Of what was done before, nothing is counted.
ALTER TABLE runs ADD COLUMN iterations BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN waited     BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN bytes      BIGINT NOT NULL DEFAULT 0;
