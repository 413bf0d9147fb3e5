-- Work is taken for a lease, and by number: how often it was taken tells who has it. What is told of it is kept
-- with it while the atom's record does not have it.
ALTER TABLE tokens ADD COLUMN take INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN lease INTEGER;
ALTER TABLE tokens ADD COLUMN work BLOB;
DROP INDEX tokens_queue;
CREATE INDEX tokens_queue ON tokens (queue, coalesce(lease, beat, 0), id)
WHERE queue <> '' AND state = 0 AND (worker = '' OR lease IS NOT NULL);

-- The W3C traceparent of whoever posted the job; '' is none.
ALTER TABLE jobs ADD COLUMN trace TEXT NOT NULL DEFAULT '';
