package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/crashdisk"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestEvictedOwner evicts an owner that is alive. The owner learns of it, stops driving the run that another process
// took over, keeps the run that no process took over, and registers again.
func TestEvictedOwner(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		dir := t.TempDir()
		crashdisk.Watch(t, dir) // for speed: it does not wait for the disk
		file := filepath.Join(dir, "ebb.db")
		first, second := joinFile(t, file), joinFile(t, file)

		w := &world{}
		lasts := make(chan struct{})
		flowOf := func(last func(ctx context.Context) error) flow.Node {
			return flow.Linear("f", w.task("done", nil), atom.Untyped("lasts",
				func(ctx context.Context, _ atom.Values) (any, error) { return nil, last(ctx) },
				func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) {
					w.call("undo lasts")
					return nil, nil
				}))
		}
		ends := make(chan error)
		eng := newEngine(t, flowOf(func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				w.call("lasts was told to end")
				return ctx.Err()
			case <-lasts:
				return nil
			}
		}), append(opts, engine.WithStore(first))...)
		go func() { _, err := eng.Run(t.Context(), "taken"); ends <- err }()
		synctest.Wait()

		if err := os.Remove(file + "-owner-" + first.Owner().ID); err != nil {
			t.Fatal(err)
		}
		other := newEngine(t, flowOf(func(context.Context) error { return nil }), append(opts, engine.WithStore(second))...)
		if _, err := other.Run(t.Context(), "taken"); err != nil {
			t.Fatal(err)
		}
		if err := <-ends; !errors.Is(err, storage.ErrFenced) {
			t.Errorf("Run of the former owner: %v, want %v", err, storage.ErrFenced)
		}
		if first.Evictions() != 1 || second.Evictions() != 0 {
			t.Errorf("evicted %d and %d times", first.Evictions(), second.Evictions())
		}
		if diff := cmp.Diff([]string{"do done@0", "lasts was told to end"}, w.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}

		// It is registered again: the runs that it starts now are its own, also for others.
		go func() { _, err := eng.Run(t.Context(), "new"); ends <- err }()
		synctest.Wait()
		if _, err := other.Run(t.Context(), "new"); !isOwned(err) {
			t.Errorf("Run of what the first one runs: %v", err)
		}
		close(lasts)
		if err := <-ends; err != nil {
			t.Error(err)
		}
	})
}

func isOwned(err error) bool {
	_, owned := errors.AsType[*storage.OwnedError](err)
	return owned
}

// joinFile opens a file as another process does.
func joinFile(t *testing.T, file string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
