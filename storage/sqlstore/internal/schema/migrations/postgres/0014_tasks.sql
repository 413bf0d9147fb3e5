-- The order in which workers take work, and what they report. The file of this number for SQLite describes the columns.
ALTER TABLE tokens ADD COLUMN priority INTEGER          NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN place    BIGINT           NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN progress DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN give_up  SMALLINT         NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN details  BYTEA;
DROP INDEX tokens_queue;
CREATE INDEX tokens_queue ON tokens (queue, priority DESC, coalesce(lease, beat, 0), place, id)
WHERE queue <> '' AND state = 0 AND (worker = '' OR lease IS NOT NULL);
