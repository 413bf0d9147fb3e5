package enginebench

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"
)

// ceilingTime limits how long the ceiling is measured.
const ceilingTime = 3 * time.Second

const (
	makeTable = `CREATE TABLE ceiling (run INTEGER NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL,
		PRIMARY KEY (run, n)) WITHOUT ROWID`
	insertRow = `INSERT INTO ceiling (run, n, body) VALUES (?, ?, ?)`
	updateRow = `UPDATE ceiling SET body = ? WHERE run = ? AND n = 0`
)

// ceiling measures how fast the database of the workload takes the same rows without Ebb. It writes as many rows of the
// average size, in transactions of as many steps, for as many runs. As many rows are new as the workload had added. The
// others are rewritten in place.
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
	// As in the store, another connection than the writer copies the log.
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

// keySize is about how many bytes a row takes beside its body.
const keySize = 10

// copyLog copies the log into the database from time to time, on a connection of its own.
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

// A straight writer writes rows to SQLite, with one prepared statement for each kind of row.
type straight struct {
	conn                          *sql.Conn
	begin, commit, insert, update *sql.Stmt

	inserts, updates portion // rows of a step
	steps            int     // steps of a transaction
	runs, run        int64   // number of runs, and the one whose turn it is
	next             map[int64]int64
	body             []byte
}

// A portion is an average number, such as 1.4 rows per step. It is taken as whole numbers that have this average.
type portion struct{ each, due float64 }

// take returns the next of the whole numbers.
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

// write writes the steps that are wanted, or as many as it can within the limit.
func (w *straight) write(ctx context.Context, want int64, limit time.Duration) (steps int64, took time.Duration,
	err error,
) {
	ctx = context.WithoutCancel(ctx) // otherwise the driver starts a goroutine for each statement
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
