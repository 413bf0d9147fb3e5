package sqlstore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// manyRuns is how many ended runs the benchmarks of lists have. Beside them, one in a hundred thousand runs.
const manyRuns = 1_000_000

// fillLists makes runs of two flows and of two machines, which a label names. All runs of the machine even succeed, and
// all of the other fail, with a code. One run in four is the child of another. Runs have one of three definitions, or none,
// and one run in a thousand was undone.
var fillLists = statement{
	onSQLite:   `WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < $1)`,
	onPostgres: `WITH r AS (SELECT n FROM generate_series(1, CAST($1 AS BIGINT)) AS g (n))`,
}

var fillTables = []string{
	`INSERT INTO origins (n, id, flow, definition, structure, created, parent, trace, input_ref, input, attrs)
%s SELECT n, 'run-' || n, CASE WHEN n %% 3 = 0 THEN 'f' ELSE 'g' END,
CASE n %% 4 WHEN 0 THEN '' WHEN 1 THEN 'def-1' ELSE 'def-2' END, '', n * 1000,
CASE WHEN n %% 4 = 0 THEN 'run-1' ELSE '' END, '', 0, %s, %s FROM r`,
	`INSERT INTO runs (n, updated, state, outcome, started, ended, flow, created, child, memory, failure, code, undone)
%s SELECT n, 0, CASE WHEN n %% 100000 = 0 THEN 1 WHEN n %% 2 = 0 THEN 2 ELSE 3 END,
CASE WHEN n %% 100000 = 0 THEN 0 WHEN n %% 2 = 0 THEN 1 ELSE 2 END, n * 1000,
CASE WHEN n %% 100000 = 0 THEN NULL ELSE n * 1000 + 500 END, CASE WHEN n %% 3 = 0 THEN 'f' ELSE 'g' END, n * 1000,
CASE WHEN n %% 4 = 0 THEN 1 ELSE 0 END, %s, CASE WHEN n %% 2 = 1 THEN %s END, CASE WHEN n %% 2 = 1 THEN %s END,
CASE WHEN n %% 1000 = 1 THEN 1 + n / 1000 %% 3 ELSE 0 END FROM r`,
	`INSERT INTO labels (run, key, value, class, created, ended)
SELECT n, 'machine', CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, class, created, ended FROM runs WHERE n <= $1`,
	`INSERT INTO labels (run, key, value, class, created, ended)
SELECT n, '', 'run-1', class, created, ended FROM runs WHERE n <= $1 AND child = 1`,
}

// BenchmarkLists reads a page of 100 runs where a million runs have ended.
func BenchmarkLists(b *testing.B) {
	maxFew = defaultFew
	for name, dsn := range map[string]func() string{
		"sqlite": func() string { return filepath.Join(b.TempDir(), "ebb.db") },
		"postgres": func() string {
			dsn := postgrestest.DSN(b)
			if _, err := Migrate(b.Context(), dsn); err != nil {
				b.Fatal(err)
			}
			return dsn
		},
	} {
		b.Run(name, func(b *testing.B) {
			s, err := openStore(b.Context(), dsn())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if err := s.update(b.Context(), &write{alone: true, do: fillWith(manyRuns)}); err != nil {
				b.Fatal(err)
			}
			even := map[string]string{"machine": "even"}
			running, failed := []states.Flow{states.FlowPending, states.FlowRunning}, []storage.Outcome{storage.FailedOutcome}
			middle := time.UnixMicro(manyRuns * 500)
			for _, c := range []struct {
				name string
				q    storage.RunQuery
			}{
				{"all", storage.RunQuery{}},
				{"top", storage.RunQuery{Top: true}},
				{"last page", storage.RunQuery{After: &storage.Run{Created: time.UnixMicro(120_000), Number: 120}}},
				{"ended", storage.RunQuery{Order: storage.ByEnded, Reverse: true, EndedFrom: middle, Outcomes: failed}},
				{"running", storage.RunQuery{States: running}},
				{"flow", storage.RunQuery{Flow: "f", CreatedTo: middle}},
				{"flow, failed", storage.RunQuery{Flow: "f", Order: storage.ByEnded, Outcomes: failed}},
				{"label", storage.RunQuery{Labels: even}},
				{"label and flow", storage.RunQuery{Labels: even, Flow: "f"}},
				{"label, running", storage.RunQuery{Labels: even, States: running}},
				{"label, failed", storage.RunQuery{Labels: even, States: []states.Flow{states.FlowFailure}}},
				{"label, from the middle", storage.RunQuery{Labels: even, Order: storage.ByEnded, After: &storage.Run{Ended: middle, Number: 7}}},
				{"children", storage.RunQuery{Parent: "run-1", Reverse: true}},
				{"stuck", storage.RunQuery{Stuck: true}},
				{"due", storage.RunQuery{Due: time.Now()}},
			} {
				c.q.Limit, c.q.Brief = 100, true
				b.Run(c.name, func(b *testing.B) {
					var took []time.Duration
					runs := 0
					for b.Loop() {
						began := time.Now()
						page, err := s.Runs(b.Context(), c.q)
						if err != nil {
							b.Fatal(err)
						}
						took, runs = append(took, time.Since(began)), len(page)
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
					b.ReportMetric(float64(runs), "runs")
				})
				b.Run("count "+c.name, func(b *testing.B) {
					q := c.q
					q.Limit = 0
					for b.Loop() {
						if _, err := s.CountRuns(b.Context(), q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// fillWith returns a function that makes that many runs.
func fillWith(runs int) func(context.Context, *session) error {
	return func(ctx context.Context, w *session) error {
		blob := `zeroblob(250)`
		if w.dialect.locks {
			blob = `CAST(repeat('x', 250) AS BYTEA)`
		}
		for i, text := range fillTables {
			switch i {
			case 0:
				text = fmt.Sprintf(text, fillLists[w.dialect.db], blob, blob)
			case 1:
				failure, code := `CASE WHEN n % 10 = 1 THEN x'0504426f6f6d' ELSE x'0506426f6f6d2d31' END`, `CASE WHEN n % 10 = 1 THEN x'426f6f6d' ELSE x'426f6f6d2d31' END`
				if w.dialect.locks {
					failure, code = `decode(CASE WHEN n % 10 = 1 THEN '0504426f6f6d' ELSE '0506426f6f6d2d31' END, 'hex')`, `convert_to(CASE WHEN n % 10 = 1 THEN 'Boom' ELSE 'Boom-1' END, 'UTF8')`
				}
				text = fmt.Sprintf(text, fillLists[w.dialect.db], blob, failure, code)
			}
			if _, err := w.Exec(ctx, text, runs); err != nil {
				return err
			}
		}
		return nil
	}
}
