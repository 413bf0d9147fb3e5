-- The order in which workers take the work of a queue: by priority, then by time, then by the place in the checkpoint
-- that queued it.
ALTER TABLE tokens ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN place    INTEGER NOT NULL DEFAULT 0;
DROP INDEX tokens_queue;
CREATE INDEX tokens_queue ON tokens (queue, priority DESC, coalesce(lease, beat, 0), place, id)
WHERE queue <> '' AND state = 0 AND (worker = '' OR lease IS NOT NULL);

-- What a worker reported with its heartbeats, and whether it is told to give the work up.
ALTER TABLE tokens ADD COLUMN progress REAL    NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN details  BLOB;
ALTER TABLE tokens ADD COLUMN give_up  INTEGER NOT NULL DEFAULT 0;
