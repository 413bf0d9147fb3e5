-- What filters of runs select by: codes of failures, how much was undone, and definitions. The indexes contain only the
-- runs that have such a value, so a run that succeeds costs nothing more.

-- The code of the failure; NULL if there is none. A failure begins with the path of its atom, under the tag 3, if it has
-- one. The code follows, under the tag 5. Both have their length before them, as a varint.
ALTER TABLE runs ADD COLUMN code BLOB;
WITH failed (n, f, h) AS (SELECT n, failure, hex(substr(failure, 1, 4)) FROM runs WHERE failure IS NOT NULL),
  bytes (n, f, a, b, c, d) AS (SELECT n, f,
    instr('0123456789ABCDEF', substr(h, 1, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 2, 1)) - 17,
    instr('0123456789ABCDEF', substr(h, 3, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 4, 1)) - 17,
    instr('0123456789ABCDEF', substr(h, 5, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 6, 1)) - 17,
    instr('0123456789ABCDEF', substr(h, 7, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 8, 1)) - 17 FROM failed),
  placed (n, f, at) AS (SELECT n, f, CASE WHEN a <> 3 THEN 1 WHEN b < 128 THEN 3 + b WHEN c < 128 THEN 4 + b - 128 + c * 128
    ELSE 5 + b - 128 + (c - 128) * 128 + d * 16384 END FROM bytes),
  coded (n, f, at, h) AS (SELECT n, f, at, hex(substr(f, at, 3)) FROM placed),
  sized (n, f, at, a, b, c) AS (SELECT n, f, at,
    instr('0123456789ABCDEF', substr(h, 1, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 2, 1)) - 17,
    instr('0123456789ABCDEF', substr(h, 3, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 4, 1)) - 17,
    instr('0123456789ABCDEF', substr(h, 5, 1)) * 16 + instr('0123456789ABCDEF', substr(h, 6, 1)) - 17 FROM coded)
UPDATE runs SET code = CASE WHEN b < 128 THEN substr(f, at + 2, b) ELSE substr(f, at + 3, b - 128 + c * 128) END
FROM sized WHERE sized.n = runs.n AND a = 5;

CREATE INDEX runs_code_created   ON runs (code, class, created)   WHERE code IS NOT NULL;
CREATE INDEX runs_code_ended     ON runs (code, class, ended)     WHERE code IS NOT NULL AND ended IS NOT NULL;
CREATE INDEX runs_undone_created ON runs (undone, class, created) WHERE undone > 0;
CREATE INDEX runs_undone_ended   ON runs (undone, class, ended)   WHERE undone > 0 AND ended IS NOT NULL;

CREATE INDEX origins_definition_created ON origins (definition, created) WHERE definition <> '';
