package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// jobOf returns the job "j", which asks for the run "r".
func jobOf(t *testing.T, store backend.Store) storage.Job {
	t.Helper()
	j, err := store.Job(t.Context(), "j")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestJobEndsWithRun checks the table of engine.ForJob.
//
// Guarantee (Jobs): A job's state follows from its run's end, in one commit.
// Also: `storage/sqlstore: TestStore/JobEndInCommit`, `TestStore/JobOfRun`.
func TestJobEndsWithRun(t *testing.T) {
	t.Parallel()
	bad := func(context.Context, int) error { return errors.New("bad") }
	for name, tc := range map[string]struct {
		do, undo script
		policy   []atom.Option
		run      states.Flow
		job      states.Job
		failure  string
	}{
		"success":  {run: states.FlowSuccess, job: states.JobComplete},
		"reverted": {do: script{"b": bad}, run: states.FlowReverted, job: states.JobComplete, failure: "b"},
		"undoing failed": {
			do: script{"b": bad}, undo: script{"a": bad}, run: states.FlowFailure, job: states.JobParked, failure: "a",
		},
		"somebody is to decide": {
			do: script{"b": bad}, undo: script{"a": bad}, policy: []atom.Option{atom.IfRevertFails(atom.Park)},
			run: states.FlowSuspended, job: states.JobParked, failure: "a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			if err := store.PostJob(t.Context(), storage.Job{ID: "j", Run: "r"}); err != nil {
				t.Fatal(err)
			}
			s := &stage{do: tc.do, undo: tc.undo}
			eng := newEngine(t, flow.Linear("f", s.atom("a", tc.policy...), s.atom("b")), engine.WithStore(store))
			if err := eng.Start(t.Context(), "r", engine.ForJob("j")); err != nil {
				t.Fatal(err)
			}
			if got := jobOf(t, store); got.State != states.JobClaimed || got.ClaimID != "" {
				t.Errorf("job is %+v once its run is made", got)
			}
			_, err := eng.Run(t.Context(), "r")
			if (err == nil) != (tc.run == states.FlowSuccess) {
				t.Error(err)
			}
			row, err := store.Run(t.Context(), "r")
			if err != nil || row.State != tc.run {
				t.Fatal(row.State, err)
			}
			got := jobOf(t, store)
			if got.State != tc.job || (got.Failure == nil) != (tc.failure == "") || got.Failure != nil && got.Failure.Atom != tc.failure {
				t.Errorf("job is %v, failure %v", got.State, got.Failure)
			}
		})
	}
}

// TestHeldRunKeepsJob: a suspended run will be resumed, and keeps its job.
func TestHeldRunKeepsJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		if err := store.PostJob(t.Context(), storage.Job{ID: "j", Run: "r"}); err != nil {
			t.Fatal(err)
		}
		s := &stage{do: script{"a": func(context.Context, int) error { time.Sleep(time.Hour); return nil }}}
		eng := newEngine(t, flow.Linear("f", s.atom("a"), s.atom("b")), engine.WithStore(store))
		if err := eng.Start(t.Context(), "r", engine.ForJob("j")); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			if err := engine.Send(context.WithoutCancel(t.Context()), store, "r", engine.Hold()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := eng.Run(t.Context(), "r"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatal(err)
		}
		if got := jobOf(t, store); got.State != states.JobClaimed {
			t.Errorf("job is %v", got.State)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if got := jobOf(t, store); got.State != states.JobComplete {
			t.Errorf("job is %v", got.State)
		}
	})
}

// asking counts how often a store is asked for due runs, and for messages.
type asking struct {
	backend.Store
	due, arrivals atomic.Int64
}

func (s *asking) Due(ctx context.Context, q backend.DueQuery) ([]backend.Due, time.Time, error) {
	s.due.Add(1)
	return s.Store.Due(ctx, q)
}

func (s *asking) RunsWithMessages(ctx context.Context, since int64) ([]backend.Arrival, int64, error) {
	s.arrivals.Add(1)
	return s.Store.RunsWithMessages(ctx, since)
}

// TestServeAsksWhenAnythingMoved: while only new runs start and end, Serve asks for messages and due runs only once a
// second.
func TestServeAsksWhenAnythingMoved(t *testing.T) {
	t.Parallel()
	const runs = 200
	store := &asking{Store: joinFile(t, filepath.Join(crashdisk.Careless(t), "runs.db"))}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	made := 0
	eng := newEngine(t, flow.Linear("f", (&stage{do: script{"a": func(context.Context, int) error { return nil }}}).atom("a")), engine.WithStore(store))
	source := func(context.Context, int) ([]engine.NewRun, error) {
		if made++; made > runs {
			stop()
			return nil, nil
		}
		one, err := eng.NewRun(fmt.Sprint("run", made))
		return []engine.NewRun{one}, err
	}
	begun := time.Now()
	if err := eng.Serve(ctx, engine.WithSlots(1), engine.WithSource(source)); err != nil {
		t.Fatal(err)
	}
	most := 10 + 4*int64(time.Since(begun)/time.Second)
	if due, arrivals := store.due.Load(), store.arrivals.Load(); due > most || arrivals > most {
		t.Errorf("for %d runs it asked %d times for what is due, and %d times for messages; at most %d looks were due", runs, due, arrivals, most)
	}
}

// TestSource: Serve asks for as many new runs as it has slots.
func TestSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		s := &stage{do: script{"a": func(context.Context, int) error { time.Sleep(time.Second); return nil }}}
		left, most := 10, 0
		eng := newEngine(t, flow.Linear("f", s.atom("a")), engine.WithStore(store))
		source := func(_ context.Context, free int) (fresh []engine.NewRun, err error) {
			most = max(most, free)
			for ; len(fresh) < free && left > 0; left-- {
				one, err := eng.NewRun(string(rune('a' + left)))
				if err != nil {
					return nil, err
				}
				fresh = append(fresh, one)
			}
			return fresh, nil
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := eng.Serve(ctx, engine.WithSlots(3), engine.WithSource(source)); err != nil {
			t.Fatal(err)
		}
		runs, err := store.Runs(t.Context(), storage.RunQuery{States: []states.Flow{states.FlowSuccess}})
		if err != nil || len(runs) != 10 || most != 3 {
			t.Errorf("%d runs ended, at most %d asked for (%v)", len(runs), most, err)
		}
	})
}
