package inspect_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// countingHistory counts the pages of histories that are read.
type countingHistory struct {
	backend.Store

	pages int
}

func (s *countingHistory) History(ctx context.Context, run string, after int64, limit int) ([]storage.Entry, error) {
	s.pages++
	return s.Store.History(ctx, run, after, limit)
}

// TestRemembered purges the newest run and starts another, which SQLite gives the same number: what was remembered of
// the first is not shown for the second. The undo of a run is read again only after its history has grown.
func TestRemembered(t *testing.T) {
	t.Parallel()
	file, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	store := &countingHistory{Store: file}
	var undos inspect.Undos
	var levels inspect.Levels
	for _, name := range []string{"one", "two"} {
		step := atom.Pair(name, func(context.Context, struct{}) (int, error) { return 1, nil },
			func(context.Context, struct{}, atom.Outcome[int]) error { return nil })
		fails := atom.Func("fails", func(context.Context, struct{}) (int, error) { return 0, atom.Errorf("Bad", "it is") })
		eng, err := engine.New(flow.Linear("f", step, fails), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = eng.Run(t.Context(), "r"); err == nil {
			t.Fatal("the run succeeded")
		}
		read := func(wantPages bool) {
			t.Helper()
			run, err := file.Run(t.Context(), "r")
			if err != nil {
				t.Fatal(err)
			}
			before := store.pages
			got, err := undos.Of(t.Context(), store, &run)
			if err != nil {
				t.Fatal(err)
			}
			if (store.pages > before) != wantPages {
				t.Errorf("%s: %d pages were read", name, store.pages-before)
			}
			want, err := inspect.UndoOf(t.Context(), file, &run)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: the undo (-read +remembered):\n%s%v", name, diff, err)
			}
			q := inspect.LevelQuery{Limit: 10}
			level, err := levels.Read(t.Context(), file, &run, q)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := inspect.ReadLevel(t.Context(), file, &run, q)
			if diff := cmp.Diff(fresh, level); err != nil || diff != "" {
				t.Errorf("%s: the level (-read +remembered):\n%s%v", name, diff, err)
			}
		}
		read(true)
		read(false)
		if err := eng.Reset(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		read(true)
		if _, err := eng.Run(t.Context(), "r"); err == nil {
			t.Fatal("the run succeeded")
		}
		if n, err := file.Purge(t.Context(), "r"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
}
