-- Nothing to change: PostgreSQL keeps large values apart from the rows. The file of this number for SQLite says what it
-- is about there.
SELECT 1;
