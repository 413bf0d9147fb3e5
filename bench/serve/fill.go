package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// connect returns one plain connection to a file with these settings, or to the schema on PostgreSQL.
func (s *server) connect(file string, settings ...string) (*sql.DB, error) {
	driver, at := "sqlite", "file:"+filepath.Join(s.folder, file)+"?"+strings.Join(settings, "&")
	if s.schema != "" {
		u, err := url.Parse(s.at)
		if err != nil {
			return nil, err
		}
		q := u.Query()
		q.Del("schema")
		q.Set("search_path", s.schema)
		u.RawQuery = q.Encode()
		driver, at = "pgx", u.String()
	}
	db, err := sql.Open(driver, at)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// copied are the tables with rows of runs, and the columns that differ from copy to copy. All else of a copy is as the
// server wrote it, so it costs lists and counts what a run does. $n is the number of the newest run.
var copied = []struct {
	table string
	of    string // column that names the run
	set   map[string]string
}{
	{"runs", "n", map[string]string{
		"n": "$n + i", "created": "t.created + i", "started": "t.started + i", "ended": "t.ended + i",
	}},
	{"origins", "n", map[string]string{
		"n": "$n + i", "created": "t.created + i",
		"id":  "substr(t.id, 1, length(t.id) - 8) || substr(CAST(100000000 + $n + i AS TEXT), 2)",
		"key": "CASE t.key WHEN '' THEN '' ELSE t.key || '-' || i END",
	}},
	{"labels", "run", map[string]string{"run": "$n + i", "created": "t.created + i", "ended": "t.ended + i"}},
	{"timers", "run", map[string]string{"run": "$n + i"}},
	{"open_keys", "run", map[string]string{"run": "$n + i", "key": "t.key || '-' || i"}},
}

// fill makes n copies of the newest runs, in turns of that many. The server must be stopped.
func (s *server) fill(ctx context.Context, n, newest int) (err error) {
	db, err := s.connect("ebb.db", "_pragma=synchronous(off)", "_pragma=cache_size(-200000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var last int64
	if err := db.QueryRowContext(ctx, "SELECT max(n) FROM runs").Scan(&last); err != nil {
		return err
	}
	const part = 50_000 // rows of a transaction, so that SQLite's log stays small
	for from := 0; from < n; from += part {
		for _, c := range copied {
			names, values, err := s.columns(ctx, db, c.table, c.set)
			if err != nil {
				return err
			}
			text := fmt.Sprintf( //nolint:gosec // of constants and numbers
				`WITH RECURSIVE numbers (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM numbers WHERE i < %d)
INSERT INTO %s (%s) SELECT %s FROM numbers JOIN %[3]s AS t ON t.%[6]s = %[7]d - i %% %[8]d`,
				from+1, min(from+part, n), c.table, names, strings.ReplaceAll(values, "$n", strconv.FormatInt(last, 10)),
				c.of, last, newest)
			if _, err := db.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("copying %s: %w", c.table, err)
			}
		}
	}
	return s.settle(ctx, db)
}

// settle does after many writes what the database would do by itself in time.
func (s *server) settle(ctx context.Context, db *sql.DB) error {
	texts := []string{"PRAGMA wal_checkpoint(TRUNCATE)"}
	if s.schema != "" {
		texts = []string{
			"SELECT setval(pg_get_serial_sequence('origins', 'n'), (SELECT max(n) FROM origins))", "VACUUM ANALYZE runs",
			"VACUUM ANALYZE origins", "VACUUM ANALYZE labels", "VACUUM ANALYZE timers", "CHECKPOINT",
		}
	}
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// columns returns the columns of a table that can be written, and what a copy has in them.
func (s *server) columns(ctx context.Context, db *sql.DB, table string, set map[string]string) (names, values string,
	err error,
) {
	query := "SELECT name FROM pragma_table_xinfo('" + //nolint:gosec // of constants
		table + "') WHERE hidden = 0"
	if s.schema != "" {
		query = "SELECT column_name FROM information_schema.columns WHERE table_schema = '" + s.schema +
			"' AND table_name = '" + table + "' AND is_generated = 'NEVER'"
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all, copies []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", "", err
		}
		all = append(all, name)
		value, ok := set[name]
		if !ok {
			value = "t." + name
		}
		copies = append(copies, value)
	}
	return strings.Join(all, ", "), strings.Join(copies, ", "), rows.Err()
}
