-- Under what name workers find the work that a token stands for; '' is under none.
ALTER TABLE tokens ADD COLUMN queue TEXT NOT NULL DEFAULT '';
CREATE INDEX tokens_queue ON tokens (queue, beat) WHERE state = 0 AND worker = '' AND queue <> '';
