package inspect_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// countingHistory counts the pages of histories that are read, and the queries for atoms by their paths.
type countingHistory struct {
	backend.Store

	pages, queries int
	grows          string // id of a run whose history grows
}

func (s *countingHistory) AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error) {
	s.queries++
	return s.Store.AtomsAt(ctx, run, paths...)
}

func (s *countingHistory) Run(ctx context.Context, id string) (storage.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if id == s.grows {
		run.Entries++
	}
	return run, err
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

// TestChildRunsRemembered reads the undo of a run with its child run once, until the history of the child run grows.
// The paths of what was undone cost no query for each item, and a view that shows no items does not read their history.
func TestChildRunsRemembered(t *testing.T) {
	t.Parallel()
	numbers := atom.NewKey[[]int]("numbers")
	item := atom.Pair("item", func(_ context.Context, n int) (int, error) { return n, nil },
		func(context.Context, int, atom.Outcome[int]) error { return nil })
	fails := atom.Func("fails", func(context.Context, struct{}) (int, error) { return 0, atom.Errorf("Bad", "it is") })
	store := &countingHistory{Store: memstore.New()}
	const items = 50
	eng, err := engine.New(flow.Linear("f", flow.Each("each", numbers, item), fails), store, engine.With(numbers, make([]int, items)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = eng.Run(t.Context(), "r"); err == nil {
		t.Fatal("the run succeeded")
	}
	run, err := store.Run(t.Context(), "r")
	child, err2 := store.Run(t.Context(), "r/each")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	var undos inspect.Undos
	for _, c := range []struct {
		grows string
		reads bool
	}{{"", true}, {"", false}, {"r/each", true}} {
		store.pages, store.grows = 0, c.grows
		undo, err := undos.Of(t.Context(), store, &run)
		if err != nil || undo.Undone != items || (store.pages > 0) != c.reads {
			t.Errorf("undone %d, %v, with %d pages; the child run grows: %q", undo.Undone, err, store.pages, c.grows)
		}
	}
	for name, into := range map[string]func(string) bool{"each/49": nil, "each": func(string) bool { return false }} {
		store.pages, store.queries = 0, 0
		all, err := collected(inspect.Undone(t.Context(), store, &run, into))
		if err != nil || !slices.Contains(all, name) || store.queries > 5 || (store.pages > 2) != (into == nil) {
			t.Errorf("%q, %v, with %d queries and %d pages", all, err, store.queries, store.pages)
		}
	}
	all, err := inspect.Lines(t.Context(), store.Store, &run, 1e6)
	most, err2 := inspect.Lines(t.Context(), store.Store, &run, 1)
	if err := errors.Join(err, err2); err != nil || all != run.Entries+child.Entries || most <= 1 {
		t.Errorf("%d lines, %d of at most 1, %v; the runs have %d and %d", all, most, err, run.Entries, child.Entries)
	}
}

func collected(paths iter.Seq2[string, error]) (all []string, err error) {
	for path, err := range paths {
		if err != nil {
			return all, err
		}
		all = append(all, path)
	}
	return all, nil
}
