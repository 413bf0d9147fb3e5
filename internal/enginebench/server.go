package enginebench

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/ebbflow/ebb/storage/sqlstore" // and with it the driver "pgx"
)

const (
	serverTable = `CREATE TABLE ceiling (run BIGINT NOT NULL, n BIGINT NOT NULL, body BYTEA NOT NULL,
		PRIMARY KEY (run, n)) WITH (fillfactor = 50)`
	serverFill = `INSERT INTO ceiling SELECT run, 0, CAST($2 AS BYTEA)
		FROM generate_series(0, CAST($1 AS BIGINT) - 1) AS run`
	// serverRows writes all rows of a transaction with one statement, in one round trip. Several statements would be
	// slower.
	serverRows = `WITH rewritten AS (
  UPDATE ceiling SET body = $1 WHERE n = 0 AND run = ANY (CAST($2 AS BIGINT[]))
) INSERT INTO ceiling (run, n, body) SELECT x.run, x.n, CAST($1 AS BYTEA)
FROM unnest(CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[])) AS x (run, n)`
	serverSize = `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)
FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = $1 AND c.relkind = 'r'`

	// serverWriters is how many connections write for the ceiling: as many as a store uses.
	serverWriters = 4
)

func isServer(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// openServer creates a schema of its own in the database that the DSN names.
func openServer(ctx context.Context, dsn string) (_ *target, err error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the DSN is no URL")
	}
	t := &target{schema: "ebb_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")}
	q := u.Query()
	q.Del("schema")
	plain := *u
	pq := u.Query()
	pq.Del("schema")
	pq.Set("search_path", t.schema)
	plain.RawQuery = pq.Encode()
	q.Set("schema", t.schema)
	u.RawQuery = q.Encode()
	if t.db, err = sql.Open("pgx", plain.String()); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if _, err := sqlstore.Migrate(ctx, u.String()); err != nil {
		return nil, err
	}
	store, err := sqlstore.Open(ctx, u.String())
	if err != nil {
		return nil, err
	}
	t.store, t.counts = store, store.Counts
	t.raw, err = t.db.Conn(ctx)
	return t, err
}

// leave drops the schema and closes the connections.
func (t *target) leave() error {
	var errs []error
	if t.store != nil {
		errs = append(errs, t.store.Close())
	}
	//nolint:noctx // it goes, whatever became of a context
	_, err := t.db.Exec(`DROP SCHEMA IF EXISTS "` + t.schema + `" CASCADE`)
	return errors.Join(append(errs, err, t.db.Close())...)
}

// serverCeiling is ceiling on a server, where several connections write at the same time, each for its share of the
// runs.
func (b *bench) serverCeiling(ctx context.Context, r *Result, rows, inserts, size float64) error {
	lanes := int64(len(b.meter.lanes))
	body := make([]byte, max(int(size)-keySize, 1))
	for _, query := range []struct {
		text string
		args []any
	}{{serverTable, nil}, {serverFill, []any{lanes, body}}} {
		if _, err := b.target.db.ExecContext(ctx, query.text, query.args...); err != nil {
			return err
		}
	}
	writers := min(lanes, serverWriters)
	share := r.Steps / writers
	var all errgroup.Group
	done := make([]int64, writers)
	cpu, begun := cpuTime(), time.Now()
	for i := range writers {
		w := &serverWriter{
			db: b.target.db, body: body, from: lanes * i / writers, runs: max(lanes*(i+1)/writers-lanes*i/writers,
				1), next: map[int64]int64{},
			inserts: portion{each: inserts}, updates: portion{each: rows - inserts},
			steps: max(int(math.Round(float64(r.StepsPerTx))), 1),
		}
		all.Go(func() (err error) {
			done[i], err = w.write(ctx, share, b.span(ceilingTime))
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	took, steps := time.Since(begun), int64(0)
	for _, n := range done {
		steps += n
	}
	r.CeilingPerS = Figure(float64(steps) / took.Seconds())
	r.Ratio = r.StepsPerS / r.CeilingPerS
	r.CeilingCPU = Figure((cpuTime() - cpu).Microseconds()) / Figure(steps)
	return nil
}

// A serverWriter writes rows over one connection.
type serverWriter struct {
	db               *sql.DB
	inserts, updates portion // rows of a step
	steps            int     // steps of a transaction
	from, runs, run  int64   // first run, number of runs, and the one whose turn it is
	next             map[int64]int64
	body             []byte
}

func (w *serverWriter) write(ctx context.Context, want int64, limit time.Duration) (steps int64, err error) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	stmt, err := conn.PrepareContext(ctx, serverRows)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for begun := time.Now(); steps == 0 || steps < want && time.Since(begun) < limit; steps += int64(w.steps) {
		var updated, inserted, numbers []int64
		for range w.steps {
			w.run = (w.run + 1) % w.runs
			run := w.from + w.run
			for range w.updates.take() {
				updated = append(updated, run)
			}
			for range w.inserts.take() {
				w.next[run]++
				inserted, numbers = append(inserted, run), append(numbers, w.next[run])
			}
		}
		if _, err := stmt.ExecContext(ctx, w.body, updated, inserted, numbers); err != nil {
			return steps, err
		}
	}
	return steps, nil
}
