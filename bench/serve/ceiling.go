package main

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// ceilingTime is how long a ceiling is measured at most.
const ceilingTime = 3 * time.Second

// refusals returns how many requests a second the server verifies, decodes and refuses without its database.
func (s *server) refusals(ctx context.Context, service string) (float64, error) {
	if rate := s.refused[service]; rate > 0 {
		return rate, nil
	}
	operation, body := "DescribeExecution", `{"executionArn": "arn:x"}`
	if service == workflows {
		operation, body = "DescribeDomain", `{"name": ""}`
	}
	short := *s
	short.bench = &bench{time: min(s.time, ceilingTime)}
	m, err := short.load(ctx, s.clients, func(ctx context.Context, _, _ int) error {
		err := s.call(ctx, service, operation, body, nil)
		if _, ok := errors.AsType[*refusal](err); !ok {
			return errors.Join(errors.New("the server did not refuse"), err)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if s.refused == nil {
		s.refused = map[string]float64{}
	}
	s.refused[service] = m.rate()
	return m.rate(), nil
}

// bare returns how many commits a second one connection makes of so many rows of so many bytes, on the same disk. Half
// of the rows are new. On PostgreSQL, the rows of a commit take one statement, and so one round trip.
func (s *server) bare(ctx context.Context, rows, size float64) (rate float64, err error) {
	db, err := s.connect("bare.db", "_pragma=journal_mode(wal)", "_pragma=synchronous(full)")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	kind := "BLOB"
	if s.schema != "" {
		kind = "BYTEA"
	}
	for _, text := range []string{
		"DROP TABLE IF EXISTS bare", "CREATE TABLE bare (n BIGINT PRIMARY KEY, body " + kind + " NOT NULL)",
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return 0, err
		}
	}
	w := &bareWriter{db: db, body: make([]byte, max(int(size), 1)), server: s.schema != ""}
	began, due := time.Now(), 0.0
	commits := 0
	for limit := min(s.time, ceilingTime); time.Since(began) < limit; commits++ {
		due += rows
		n := max(int(due), 1)
		due -= float64(n)
		if err := w.commit(ctx, n); err != nil {
			return 0, err
		}
	}
	return float64(commits) / time.Since(began).Seconds(), nil
}

type bareWriter struct {
	db     *sql.DB
	body   []byte
	server bool
	next   int64
}

const (
	bareRow  = `INSERT INTO bare (n, body) VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET body = excluded.body`
	bareRows = `INSERT INTO bare (n, body) SELECT n, $1 FROM unnest(CAST($2 AS BIGINT[])) AS n
ON CONFLICT (n) DO UPDATE SET body = excluded.body`
)

// commit writes rows in one transaction. Every other one was written before.
func (w *bareWriter) commit(ctx context.Context, rows int) error {
	numbers := make([]int64, rows)
	const ago = 64
	for i := range numbers {
		w.next++
		numbers[i] = w.next
		if i%2 == 1 {
			numbers[i] = max(w.next-ago-int64(rows), 0)
		}
	}
	if w.server {
		_, err := w.db.ExecContext(ctx, bareRows, w.body, distinct(numbers))
		return err
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if _, err := tx.ExecContext(ctx, bareRow, n, w.body); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// distinct returns numbers without those that occur before. One statement may not write a row twice.
func distinct(numbers []int64) []int64 {
	seen := map[int64]bool{}
	var all []int64
	for _, n := range numbers {
		if !seen[n] {
			seen[n] = true
			all = append(all, n)
		}
	}
	return all
}
