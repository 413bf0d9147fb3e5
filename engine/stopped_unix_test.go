//go:build unix

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/childtest"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// twoSteps is a flow of an undoable step and one that calls a function. say receives all events.
func twoSteps(say func(string), second func(ctx context.Context) error) flow.Node {
	undo := func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) {
		say("undone")
		return nil, nil //nolint:nilnil // nothing
	}
	return flow.Linear("stopped",
		atom.Untyped("first", func(context.Context, atom.Values) (any, error) { return nil, nil }, undo),
		atom.Untyped("second", func(ctx context.Context, _ atom.Values) (any, error) { return nil, second(ctx) }, undo),
	)
}

// runStopped runs in the process that the test stops. Its second step lasts until it is cancelled.
func runStopped(dsn string) error {
	ctx := context.Background()
	store, err := sqlstore.Open(ctx, dsn, sqlstore.Lease(3*time.Second)) // a busy machine renews it, too
	if err != nil {
		return err
	}
	say := func(line string) { _, _ = os.Stdout.WriteString(line + "\n") }
	eng, err := engine.New(twoSteps(say, func(ctx context.Context) error {
		say("executes")
		<-ctx.Done()
		say("told to end")
		return ctx.Err()
	}), store)
	if err != nil {
		return err
	}
	_, err = eng.Run(ctx, "r")
	if errors.Is(err, storage.ErrFenced) {
		say("another has the run")
	} else {
		say(fmt.Sprint("Run returned ", err))
	}
	return store.Close()
}

// TestStoppedOwner stops a process in the middle of a step, lets another one end its run, and wakes it. Its step is
// cancelled, it writes nothing, and it undoes nothing.
func TestStoppedOwner(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		stopsOwner(t, filepath.Join(t.TempDir(), "ebb.db"), true)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		stopsOwner(t, dsn, false)
	})
}

func stopsOwner(t *testing.T, dsn string, file bool) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	turn := ""
	if file {
		turn = filepath.Join(filepath.Dir(dsn), "."+filepath.Base(dsn)+"-turn-b")
	}
	p := childtest.Start(t, "ENGINE_STOPPED="+dsn)
	if said := p.Line(); said != "executes" {
		t.Fatalf("the other process said %q", said)
	}
	p.Halt(turn)
	if file { // a stopped process looks alive: its lock must be removed by hand
		unlock(t, store, dsn, p.Process.Pid)
	}
	eng := newEngine(t, twoSteps(func(string) { t.Error("undone") }, func(context.Context) error { return nil }), engine.WithStore(store))
	_, err = eng.Run(t.Context(), "r")
	for isOwned(err) {
		time.Sleep(10 * time.Millisecond) // until its lease has expired
		_, err = eng.Run(t.Context(), "r")
	}
	if err != nil {
		t.Fatal(err)
	}
	before := recorded(t, store, "r")
	p.Wake()
	var lines []string
	for line := p.Line(); line != ""; line = p.Line() {
		lines = append(lines, line)
	}
	if diff := cmp.Diff([]string{"told to end", "another has the run"}, lines); diff != "" {
		t.Errorf("woken, the former owner said (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, recorded(t, store, "r")); diff != "" {
		t.Errorf("the former owner wrote (-before +after):\n%s", diff)
	}
}

// recorded returns the stored records of a run.
func recorded(t *testing.T, store backend.Store, id string) []any {
	t.Helper()
	run, err := store.Run(t.Context(), id)
	atoms, errAtoms := store.Atoms(t.Context(), id, storage.AtomQuery{})
	history, errHistory := store.History(t.Context(), id, 0, 0)
	if err := errors.Join(err, errAtoms, errHistory); err != nil {
		t.Fatal(err)
	}
	return []any{run, atoms, history}
}

// unlock removes the lock of a process.
func unlock(t *testing.T, store backend.Store, file string, pid int) {
	t.Helper()
	owners, err := store.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		if o.PID == pid {
			if err := os.Remove(file + "-owner-" + o.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}
