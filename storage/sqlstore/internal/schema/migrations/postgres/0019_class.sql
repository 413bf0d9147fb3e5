-- Nothing to change: PostgreSQL evaluates IN without a table, and stores the class. The file of this number for SQLite
-- says what it is about there.
SELECT 1;
