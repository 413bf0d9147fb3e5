package engine_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestConformancePostgres plays some of the recorded cases of TaskFlow, with their interrupts, on PostgreSQL. Each
// process opens the store again. A process that dies leaves the store as it was.
func TestConformancePostgres(t *testing.T) {
	t.Parallel()
	one := longtest.Count(100, 25, 25) // of so many cases
	dsn := postgrestest.DSN(t)
	if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	open := func() backend.Store {
		s, err := sqlstore.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	records := open()
	defer func() {
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	}()
	conformance.ForFiles(t, "taskflow", func(t *testing.T, file string) {
		tally := conformance.NewTaskFlowTally(file, "postgres")
		for i, rec := range conformance.TaskFlow(t, file) {
			if i%one != 0 || !measures(rec, tally) {
				continue
			}
			p := newPlayer(t, rec, serial, each)
			p.records, p.join = records, open
			tally.Add(rec, rec.Compare(p.play()))
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		tally.Print(t)
	})
}

// lasting are the parts of a definition that take time, or show it.
var lasting = regexp.MustCompile(`"Type":\s*"Wait"|"(Timeout|Heartbeat)Seconds|"Retry"|\.(StartTime|EnteredTime)|\$now\b|\$millis\b`)

// takesNoTime reports whether an execution ends with its tasks, which answer at once, and does not show times. So it
// can be replayed in real time.
func takesNoTime(record *conformance.Execution) bool {
	return !lasting.Match(record.Definition) && record.Expected.Status != "ABORTED" && !slices.ContainsFunc(record.Tasks, func(c *conformance.Call) bool {
		return c.Kind == "activity" || c.Submitted != nil || c.Result.Submitted != nil || c.Result.TimedOut || c.Result.Pending || c.Result.Seconds > 0
	})
}

// TestConformanceASLPostgres replays those recorded executions on PostgreSQL that take no time, because waiting for a
// server cannot use virtual time.
func TestConformanceASLPostgres(t *testing.T) {
	t.Parallel()
	one := longtest.Count(10, 4, 1) // of so many
	store := emptyServer(t).store
	tally := conformance.NewTally("asl/execution postgres")
	for i, record := range conformance.Executions(t) {
		switch {
		case !record.WithoutServices("lambda", "s3", "aws-sdk:s3") || i%one != 0:
		case !takesNoTime(record):
			tally.Apart("the time it takes")
		default:
			tally.Add(record, record.Compare(replay(t, record, fmt.Sprintf("%s-%d", record.ExecutionName, i), store)))
		}
	}
	tally.Print(t)
	tally.DemandLevels(t, 0.99, 0.99, 0.97, 0.95, 0.95)
}

// TestConformanceSM4CPostgres plays one of four recorded cases that take no time on PostgreSQL, some of them with a
// process that dies at each commit in turn.
func TestConformanceSM4CPostgres(t *testing.T) {
	t.Parallel()
	one := longtest.Count(20, 8, 1)
	dying := longtest.Count(100, 40, 1) // one of so many has deaths
	server := emptyServer(t)
	aspects := slices.DeleteFunc(slices.Clone(conformance.MachineAspects), func(aspect string) bool { return aspect == "elapsed" })
	count := func(to *conformance.Aspects, c *conformance.MachineCase, got *conformance.MachineEnd) {
		misses := c.Compare(got)
		for _, aspect := range aspects {
			to.Count(aspect, c.Name, misses[aspect])
		}
	}
	conformance.ForFiles(t, "sm4c", func(t *testing.T, file string) {
		alone, crashed := conformance.NewAspects(file+" postgres"), conformance.NewAspects(file+" postgres crash")
		for i, c := range conformance.MachineCases(t, file) {
			if end := c.Expected.Elapsed; end == nil || *end > 0 || i%one != 0 {
				continue
			}
			count(alone, c, playedAtOnce(t, c, server.emptied(), nil))
			if i%dying == 0 && !testing.Short() {
				got, _ := playDying(t, c.Name, c, server.emptied, playedAtOnce)
				count(crashed, c, got)
			}
		}
		alone.Print(t)
		crashed.Print(t)
		for _, aspect := range aspects {
			alone.Demand(t, aspect, 1)
			crashed.Demand(t, aspect, 1)
		}
	})
}

// playedAtOnce plays a case that takes no time, in real time.
func playedAtOnce(t *testing.T, c *conformance.MachineCase, where place, d *death) *conformance.MachineEnd {
	t.Helper()
	end := playMachineNow(t, c, where, d)
	end.Elapsed = c.Expected.Elapsed
	return end
}

// A serverPlace is a PostgreSQL database. Processes release their runs when they die.
type serverPlace struct {
	t     *testing.T
	dsn   string
	store *sqlstore.Store // for reading the results
}

// emptyServer returns a database without runs.
func emptyServer(t *testing.T) *serverPlace {
	t.Helper()
	p := &serverPlace{t: t, dsn: postgrestest.DSN(t)}
	if _, err := sqlstore.Migrate(t.Context(), p.dsn); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.store, err = sqlstore.Open(t.Context(), p.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *serverPlace) open(ctx context.Context) (backend.Store, error) {
	return sqlstore.Open(ctx, p.dsn)
}

func (p *serverPlace) died(s backend.Store) error { return s.Close() }

// emptied returns the place without the records of other tests.
func (p *serverPlace) emptied() place {
	p.t.Helper()
	runs, err := p.store.Runs(p.t.Context(), storage.RunQuery{})
	if err != nil {
		p.t.Fatal(err)
	}
	var ids []string
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	if n, err := p.store.Purge(p.t.Context(), ids...); err != nil || n != len(ids) {
		p.t.Fatalf("deleted %d of %v: %v", n, ids, err)
	}
	return p
}
