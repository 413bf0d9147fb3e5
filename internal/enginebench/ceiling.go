package enginebench

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"
)

// ceilingTime is how long the ceiling is measured at most.
const ceilingTime = 3 * time.Second

const (
	makeTable = `CREATE TABLE ceiling (run INTEGER NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL,
		PRIMARY KEY (run, n)) WITHOUT ROWID`
	insertRow = `INSERT INTO ceiling (run, n, body) VALUES (?, ?, ?)`
	updateRow = `UPDATE ceiling SET body = ? WHERE run = ? AND n = 0`
)

// ceiling writes what the workload wrote, straight to its database: as many rows,
// each of as many bytes as those had on average, in transactions of as many
// steps, spread over as many runs. As many of them are new as the database grew
// by; the others are rewritten in place.
func (b *bench) ceiling(ctx context.Context, r *Result) (err error) {
	if !r.StepsPerTx.Known() || !r.RowsPerStep.Known() {
		return nil
	}
	rows, size := float64(r.RowsPerStep), float64(b.meter.rowSize())
	inserts := min(max(float64(r.BytesPerStep)/size, 0), rows)
	if b.target.schema != "" {
		return b.serverCeiling(ctx, r, rows, inserts, size)
	}
	w := &straight{
		conn: b.target.raw, runs: int64(len(b.meter.lanes)),
		inserts: portion{each: inserts}, updates: portion{each: rows - inserts},
		steps: max(int(math.Round(float64(r.StepsPerTx))), 1),
		body:  make([]byte, max(int(size)-keySize, 1)),
		next:  map[int64]int64{},
	}
	if err := w.prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	// The log is copied as the store does it: beside the writer, and not by it.
	copying, stop := context.WithCancel(ctx)
	copied := make(chan error, 1)
	go func() { copied <- copyLog(copying, b.target.db) }()
	cpu := cpuTime()
	steps, took, err := w.write(ctx, r.Steps, b.span(ceilingTime))
	cpu = cpuTime() - cpu
	stop()
	if err = errors.Join(err, <-copied); err != nil {
		return err
	}
	r.CeilingPerS = Figure(float64(steps) / took.Seconds())
	r.Ratio = r.StepsPerS / r.CeilingPerS
	r.CeilingCPU = Figure(cpu.Microseconds()) / Figure(steps)
	return nil
}

// keySize is about what a row takes beside its body.
const keySize = 10

// copyLog copies the log into the database now and then, on a connection of its
// own.
func copyLog(ctx context.Context, db *sql.DB) error {
	every := time.NewTicker(200 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			if _, err := db.ExecContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
				return err
			}
		}
	}
}

// A straight writer writes rows with nothing in between.
type straight struct {
	conn                          *sql.Conn
	begin, commit, insert, update *sql.Stmt

	inserts, updates portion // of a step
	steps            int     // of a transaction
	runs, run        int64   // how many there are, and whose turn it is
	next             map[int64]int64
	body             []byte
}

// A portion is how many of something there are each time, on average.
type portion struct{ each, due float64 }

// take returns how many there are this time.
func (p *portion) take() int {
	p.due += p.each
	n := int(p.due)
	p.due -= float64(n)
	return n
}

func (w *straight) prepare(ctx context.Context) error {
	if _, err := w.conn.ExecContext(ctx, makeTable); err != nil {
		return err
	}
	for stmt, query := range map[**sql.Stmt]string{
		&w.begin: "BEGIN IMMEDIATE", &w.commit: "COMMIT", &w.insert: insertRow, &w.update: updateRow,
	} {
		var err error
		if *stmt, err = w.conn.PrepareContext(ctx, query); err != nil { //nolint:sqlclosecheck // close does it
			return err
		}
	}
	_, err := w.conn.ExecContext(ctx, `WITH RECURSIVE r (run) AS (VALUES (0) UNION ALL SELECT run + 1 FROM r WHERE run < ?)
INSERT INTO ceiling SELECT run, 0, ? FROM r`, w.runs-1, w.body)
	return err
}

func (w *straight) close() error {
	return errors.Join(w.begin.Close(), w.commit.Close(), w.insert.Close(), w.update.Close())
}

// write writes so many steps, or as many as there is time for.
func (w *straight) write(ctx context.Context, want int64, limit time.Duration) (steps int64, took time.Duration,
	err error,
) {
	ctx = context.WithoutCancel(ctx) // the driver would watch for the end of each statement
	begun := time.Now()
	for steps < want && time.Since(begun) < limit {
		if err := w.transaction(ctx); err != nil {
			return 0, 0, err
		}
		steps += int64(w.steps)
	}
	return steps, time.Since(begun), nil
}

func (w *straight) transaction(ctx context.Context) error {
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return err
	}
	for range w.steps {
		w.run = (w.run + 1) % w.runs
		for range w.updates.take() {
			if _, err := w.update.ExecContext(ctx, w.body, w.run); err != nil {
				return err
			}
		}
		for range w.inserts.take() {
			w.next[w.run]++
			if _, err := w.insert.ExecContext(ctx, w.run, w.next[w.run], w.body); err != nil {
				return err
			}
		}
	}
	_, err := w.commit.ExecContext(ctx)
	return err
}
