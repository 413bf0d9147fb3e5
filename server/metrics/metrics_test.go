package metrics

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/pagetest"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// tripInput is what the runs of the test of metrics are begun with.
type tripInput struct {
	N int `json:"n"`
}

// metricFlow books, pays, which is tried three times, and fails for odd numbers.
func metricFlow() flow.Node {
	book := atom.Untyped("book", func(context.Context, atom.Values) (any, error) { return 1, nil },
		func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) { return nil, nil }, atom.As("booked")) //nolint:nilnil // nothing
	tried := map[int]int{}
	pay := atom.Func("pay", func(_ context.Context, in tripInput) (int, error) {
		if tried[in.N]++; tried[in.N] < 3 {
			return 0, errors.New("busy")
		}
		if in.N%2 == 1 {
			return 0, atom.Errorf("Full", "no capacity")
		}
		return in.N, nil
	}, atom.As("paid"), atom.Attempts(3, atom.Constant(time.Millisecond)))
	return flow.Linear("trip", book, pay)
}

// TestMetrics scrapes what a conductor counted of some runs, and compares it with
// what their histories say.
func TestMetrics(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(context.Background(), filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	m := New(store)
	c, err := conductor.New(jobs.New(m.Store(), jobs.Policy{}), conductor.NewCatalog().Add(1, metricFlow()),
		engine.WithEngine(engine.WithObserver(m.Observe)), engine.WithSlots(1))
	if err != nil {
		t.Fatal(err)
	}
	board := jobs.New(store, jobs.Policy{})
	const all = 5
	for i := range all {
		if _, err := board.Post(t.Context(), jobs.Job{ID: fmt.Sprint(i), Flow: "trip", Input: tripInput{i}}); err != nil {
			t.Fatal(err)
		}
	}
	post := func(id string, labels map[string]string) {
		t.Helper()
		if _, err := board.Post(t.Context(), jobs.Job{ID: id, Flow: "trip", Labels: labels, Input: tripInput{}}); err != nil {
			t.Fatal(err)
		}
	}
	post("waits", map[string]string{"gpu": "yes"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	for left := all; left > 0; {
		done, err := store.JobList(t.Context(), storage.JobQuery{States: []states.Job{states.JobComplete}})
		if err != nil {
			t.Fatal(err)
		}
		left = all - len(done)
		look := time.NewTimer(10 * time.Millisecond)
		<-look.C
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}

	want := fromHistories(t, store)
	want[`ebb_claims_total{result="claimed"}`] = all
	want[`ebb_claims_total{result="error"}`] = 0
	want[`ebb_claim_lost_total`] = 0
	want[`ebb_job_wait_seconds_count`] = all
	want[`ebb_fenced_writes_total`] = 0
	want[`ebb_largest_run_bytes`] = 0 // all have ended
	want[`ebb_notify_received_total`] = 0
	want[`ebb_poll_found_total`] = 0 // all was posted by this process
	for _, state := range []string{"CLAIMED", "SCHEDULED", "PARKED"} {
		want[fmt.Sprintf(`ebb_jobs{state=%q}`, state)] = 0
	}
	want[`ebb_jobs{state="UNCLAIMED"}`] = 1
	for _, none := range []string{
		"driven_runs", "late_schedules", "limited_runs", "needs_person_runs", "undriven_runs", "oldest_undriven_seconds",
		"parked_jobs", "parked_messages", "unclaimed_jobs",
	} {
		want["ebb_"+none] = 0
	}
	for _, fault := range []string{"disk_full", "exhausted", "failing", "locked", "read_only", "unreachable"} {
		want[fmt.Sprintf(`ebb_store_faults_total{fault=%q}`, fault)] = 0
	}
	want[`ebb_store_up`] = 1
	want[`ebb_processes`] = 1
	want[`ebb_process_deaths_total`] = 0
	want[`ebb_crash_loop_runs{isolated="yes"}`] = 0
	want[`ebb_crash_loop_runs{isolated="no"}`] = 0
	got := scraped(t, m)
	if got[`ebb_claims_total{result="none"}`] < 1 { // it looks as often as it likes
		t.Error("it never looked in vain")
	}
	if age := got[`ebb_oldest_unclaimed_seconds`]; age <= 0 || age > 3600 {
		t.Errorf("the oldest job has waited for %v s", age)
	}
	if got["ebb_commits_total"] == 0 || got["ebb_commit_writes_total"] < got["ebb_commits_total"] {
		t.Errorf("%v commits of %v writes", got["ebb_commits_total"], got["ebb_commit_writes_total"])
	}
	if got["ebb_commit_rows_total"] < got["ebb_commits_total"] || got["ebb_commit_bytes_total"] == 0 {
		t.Errorf("%v rows of %v bytes", got["ebb_commit_rows_total"], got["ebb_commit_bytes_total"])
	}
	built := 0
	for name := range got {
		if strings.HasPrefix(name, "ebb_build_info{") && strings.Contains(name, runtime.Version()) {
			built++
			delete(got, name)
		}
	}
	if built != 1 {
		t.Errorf("%d metrics name the program", built)
	}
	for _, unsteady := range []string{
		`ebb_claims_total{result="none"}`, `ebb_oldest_unclaimed_seconds`, "ebb_commits_total", "ebb_commit_writes_total",
		"ebb_commit_rows_total", "ebb_commit_bytes_total",
	} {
		delete(got, unsteady)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is counted differs from what was done (-done +counted):\n%s", diff)
	}
}

// TestStatusReadSeldom: no matter how often clients ask for metrics, reading the status takes no more than a part of
// the time.
func TestStatusReadSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := 0
		c := &statusCollector{read: func(context.Context) (*sqlstore.Status, error) {
			read++
			time.Sleep(time.Second) // of the bubble's clock: a database with many runs
			return &sqlstore.Status{Driven: read}, nil
		}}
		const asked = 200
		for range asked {
			st, err := c.status()
			if err != nil || st.Driven != read {
				t.Fatalf("%+v, %v", st, err)
			}
			time.Sleep(time.Second)
		}
		if read < 2 || read > asked/countShare+2 {
			t.Errorf("read %d times", read)
		}
	})
}

var update = flag.Bool("update", false, "write docs/reference/metrics.md instead of comparing it")

// metricsPage is the page without its rows. ^ stands for the mark of code.
const metricsPage = `<!-- Generated by "go test ./server/metrics -update". Do not edit. -->

# Metrics

^/metrics^ of [^ebb serve^](../how-to/serve-runs.md) serves these metrics to Prometheus. A Go program mounts the ` +
	`handler of package ^server/metrics^. No series has a run as a label.

## The database

These are the same in every process that serves the database, and [^ebb doctor^](../how-to/find-what-is-wrong.md) ` +
	`reports the same facts. Counts of what waits end at 10,000. With millions of runs or jobs the values are some ` +
	`seconds old, because reading them may take at most a twentieth of the time. See also [limits]` +
	`(../how-to/limit-runs.md) and [crash loops](../explanation/deaths.md).

| metric | meaning |
|---|---|
%s
## The process

| metric | meaning |
|---|---|
%s`

// described finds the name, the meaning and the labels in the text of a metric's description.
var described = regexp.MustCompile(`fqName: "(ebb_[a-z_]+)", help: "(.*?)", .*variableLabels: {([a-z,]*)}`)

// TestPage keeps docs/reference/metrics.md equal to the descriptions of the metrics. Run it with -update after a change.
func TestPage(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "reference", "metrics.md")
	store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	m := New(store)
	m.Watch(&conductor.Conductor{})
	database := slices.DeleteFunc(rowsOf(&statusCollector{}), func(row string) bool {
		return strings.Contains(row, "_total") // what the process has counted
	})
	process := slices.DeleteFunc(rowsOf(m.registry), func(row string) bool { return slices.Contains(database, row) })
	if len(database) == 0 || len(process) == 0 {
		t.Fatal("no description has the expected form")
	}
	page := fmt.Sprintf(metricsPage, strings.Join(database, ""), strings.Join(process, ""))
	want := pagetest.Wrap(strings.ReplaceAll(page, "^", "`"))
	pagetest.Check(t, path, want, *update)
}

// rowsOf returns the rows of Ebb's metrics that a collector describes, by their names.
func rowsOf(c prometheus.Collector) (rows []string) {
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		c.Describe(descs)
	}()
	for d := range descs {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			continue
		}
		name, meaning, labels := m[1], m[2], m[3]
		if labels != "" {
			name += "{" + labels + "}"
		}
		rows = append(rows, fmt.Sprintf("| ^%s^ | %s |\n", name, strings.TrimSuffix(meaning, ".")))
	}
	slices.Sort(rows)
	return rows
}

// fromHistories counts the work in the histories.
func fromHistories(t *testing.T, store *sqlstore.Store) map[string]float64 {
	t.Helper()
	want := map[string]float64{}
	runs, err := store.Runs(t.Context(), storage.RunQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for state := states.FlowPending; state <= states.FlowResuming; state++ {
		want[fmt.Sprintf(`ebb_runs{state=%q}`, state)] = 0
	}
	for i := range runs {
		run := &runs[i]
		want[fmt.Sprintf(`ebb_runs{state=%q}`, run.State)]++
		want[fmt.Sprintf(`ebb_runs_total{flow="trip",state=%q}`, run.State)]++
		want[`ebb_checkpoint_seconds_count`] += float64(run.Seq)
		want[`ebb_run_written_bytes_count`]++
		if run.Failure != nil {
			want[fmt.Sprintf(`ebb_run_failures_total{code=%q,flow="trip"}`, run.Failure.Code)]++
		}
		history, err := store.History(t.Context(), run.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range history {
			if e.Kind != storage.EntryAtom || e.Path != "book" && e.Path != "pay" {
				continue
			}
			switch to := states.Task(e.To); to {
			case states.TaskRetrying:
				want[`ebb_atom_retries_total{flow="trip"}`]++
			default:
				if op := operation(to.String()); op != "" {
					want[fmt.Sprintf(`ebb_atom_seconds_count{atom=%q,flow="trip",op=%q,state=%q}`, e.Path, op, to)]++
				}
			}
		}
	}
	return want
}

// scraped returns the counts, without sums and buckets.
func scraped(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	got := map[string]float64{}
	for line := range strings.Lines(w.Body.String()) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || !strings.HasPrefix(name, "ebb_") || strings.Contains(name, "_bucket{") || strings.Contains(name, "_sum") {
			continue
		}
		var n float64
		if _, err := fmt.Sscan(value, &n); err != nil {
			t.Fatal(line, err)
		}
		got[name] = n
	}
	return got
}

// TestMetricsWithoutStore: while the database does not answer, all metrics are reported except those that are counted
// in it.
func TestMetricsWithoutStore(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	m := New(store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	got := scraped(t, m)
	if _, told := got[`ebb_fenced_writes_total`]; !told {
		t.Errorf("told of %v", got)
	}
	if _, told := got[`ebb_jobs{state="PARKED"}`]; told {
		t.Error("jobs were counted in a store that is closed")
	}
}
