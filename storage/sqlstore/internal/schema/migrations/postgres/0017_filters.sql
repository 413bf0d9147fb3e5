-- What filters of runs select by. The file of this number for SQLite describes the column and the indexes.
ALTER TABLE runs ADD COLUMN code BYTEA;
UPDATE runs SET code = CASE WHEN get_byte(f, at) < 128 THEN substr(f, at + 2, get_byte(f, at))
  ELSE substr(f, at + 3, get_byte(f, at) - 128 + get_byte(f, at + 1) * 128) END
FROM (SELECT n, failure AS f, CASE WHEN get_byte(failure, 0) <> 3 THEN 1
  WHEN get_byte(failure, 1) < 128 THEN 3 + get_byte(failure, 1)
  WHEN get_byte(failure, 2) < 128 THEN 4 + get_byte(failure, 1) - 128 + get_byte(failure, 2) * 128
  ELSE 5 + get_byte(failure, 1) - 128 + (get_byte(failure, 2) - 128) * 128 + get_byte(failure, 3) * 16384 END AS at
  FROM runs WHERE length(failure) > 2) AS placed
WHERE placed.n = runs.n AND CASE WHEN at + 1 < length(f) THEN get_byte(f, at - 1) = 5 END;

CREATE INDEX runs_code_created   ON runs (code, class, created, n)   WHERE code IS NOT NULL;
CREATE INDEX runs_code_ended     ON runs (code, class, ended, n)     WHERE code IS NOT NULL AND ended IS NOT NULL;
CREATE INDEX runs_undone_created ON runs (undone, class, created, n) WHERE undone > 0;
CREATE INDEX runs_undone_ended   ON runs (undone, class, ended, n)   WHERE undone > 0 AND ended IS NOT NULL;

CREATE INDEX origins_definition_created ON origins (definition, created, n) WHERE definition <> '';
