package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/longtest"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// hugeText is the machine of a huge run.
const hugeText = `{"StartAt":"Pay","States":{"Pay":{"Type":"Task","Resource":"exec:true","Revert":"exec:true","End":true}}}`

// makeHuge stores a run that has done n steps, that can all be undone, and failed.
func makeHuge(t *testing.T, store backend.Store, n int) (id string) {
	t.Helper()
	ctx := t.Context()
	id = fmt.Sprint("huge-", n)
	def, err := store.PutDefinition(ctx, storage.Definition{Hash: "h", Name: "huge", Language: "asl", Text: []byte(hugeText)})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(ctx, storage.Run{ID: id, Flow: "huge", Definition: def.Hash, Structure: structureOf(t), State: states.FlowPending}); err != nil {
		t.Fatal(err)
	}
	claim, _, err := store.Begin(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	spec := atom.MustEncode(grow.Spec{Name: "Pay", Task: "pay", Undo: &grow.Undo{Task: "refund"}})
	now := time.Now()
	head := backend.Head{State: states.FlowRunning, Started: now, Time: now}
	const each = 100
	for did := 0; did < n; did += each {
		cp := backend.Checkpoint{Head: head}
		for i := did + 1; i <= did+each; i++ {
			path := fmt.Sprint("Pay#", i)
			cp.Atoms = append(cp.Atoms, storage.Atom{Path: path, Attempt: 1, State: states.TaskSuccess, Spec: spec, StartedAt: now, EndedAt: now})
			cp.Push = append(cp.Push, storage.Undo{N: int64(i), Path: path})
			for _, change := range [][2]states.Task{{states.TaskPending, states.TaskRunning}, {states.TaskRunning, states.TaskSuccess}} {
				cp.Head.Entries++
				cp.History = append(cp.History, storage.Entry{
					Seq: cp.Head.Entries, Kind: storage.EntryAtom, Path: path, Attempt: 1, From: uint8(change[0]), To: uint8(change[1]), Time: now,
				})
			}
		}
		if did+each >= n {
			cp.Head.State, cp.Head.Outcome, cp.Head.Ended, cp.Head.Release = states.FlowFailure, storage.FailedOutcome, now, true
			cp.Head.Failure = &atom.Failure{Code: "Broken", Message: "it is"}
		}
		if err := store.Commit(ctx, claim, &cp); err != nil {
			t.Fatal(err)
		}
		head = cp.Head
		head.Seq++
	}
	return id
}

// structureOf returns what runs of the machine have as their structure.
func structureOf(t *testing.T) string {
	t.Helper()
	m, err := asl.Parse("huge", []byte(hugeText))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := flow.Compile(flow.Growing("huge", m), nil)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Hash
}

// hugeReads are all ways of the command to look at a run.
func hugeReads(s subcommands) map[string]func(ctx context.Context, store backend.Store, id string) error {
	preview := func(command engine.Command) func(ctx context.Context, store backend.Store, id string) error {
		return func(ctx context.Context, store backend.Store, id string) error {
			m, err := asl.Parse("huge", []byte(hugeText))
			if err != nil {
				return err
			}
			eng, err := engine.New(flow.Growing("huge", m), store)
			if err != nil {
				return err
			}
			return s.showUndo(id, eng.Preview(ctx, id, command), func(err error) error { return err })
		}
	}
	return map[string]func(ctx context.Context, store backend.Store, id string) error{
		"show": s.show,
		"show -o json": func(ctx context.Context, store backend.Store, id string) error {
			run, err := session.FindRun(ctx, store, id)
			if err != nil {
				return err
			}
			return s.showJSON(ctx, store, &run, nil)
		},
		"graph": func(ctx context.Context, store backend.Store, id string) error {
			m, err := definition.ParseStored(&storage.Definition{Name: "huge", Language: "asl", Text: []byte(hugeText)})
			if err == nil {
				_, err = m.Became(m.Picture(""), storage.EachEntry(ctx, store, id, 0))
			}
			return err
		},
		"history": func(ctx context.Context, store backend.Store, id string) error {
			return s.history(ctx, store, id, &historyFlags{})
		},
		"why": func(ctx context.Context, store backend.Store, id string) error {
			_, err := findDiagnosis(ctx, store, id)
			return err
		},
		"revert --dry-run":      preview(engine.Cancel("")),
		"revert --to --dry-run": preview(engine.RevertTo("Pay#1")),
	}
}

func hugeStores(t *testing.T) iter.Seq2[string, backend.Store] {
	t.Helper()
	file, err := sqlstore.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "huge.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(yield func(string, backend.Store) bool) {
		_ = yield("memory", memstore.New()) && yield("SQLite", file)
	}
}

// A heap is the most live memory that was seen.
type heap struct{ most int64 }

func (h *heap) look() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	h.most = max(h.most, int64(m.HeapAlloc))
}

// TestHugeRunsFlat looks at a run, and at one that is ten times as large, in all ways. The
// second takes no more memory than the first.
//
// Attack (Large runs): A run with a million lines of history, or large values, is shown, drawn or explained.
// Result: Interruptible pages. A tree keeps the main steps and counts the others: 60 MB for 150,000 visits.
// Also: `TestHugeRunsInterrupted`, `internal/inspect: TestFold`, `storage/sqlstore: TestStore/AtomPages`,
// `TestStore/LargePages`.
func TestHugeRunsFlat(t *testing.T) {
	longtest.Needs(t)
	const few, many, allowed = 2_000, 20_000, 3 << 20
	for name, store := range hugeStores(t) {
		small, large := makeHuge(t, store, few), makeHuge(t, store, many)
		for what, read := range hugeReads(subcommands{session.New(nil, io.Discard, io.Discard)}) {
			var most [2]int64
			for i, id := range []string{small, large} {
				watched := &watchedStore{Store: store, heap: &heap{}}
				if err := read(t.Context(), watched, id); err != nil {
					t.Fatalf("%s of %s: %v", what, id, err)
				}
				most[i] = watched.heap.most
			}
			if grew := most[1] - most[0]; grew > allowed {
				t.Errorf("%s, %s: ten times the run takes %d KiB more", name, what, grew>>10)
			}
		}
	}
}

// TestHugeRunsInterrupted ends the context of a command while it looks at a run: it reads
// nothing more.
func TestHugeRunsInterrupted(t *testing.T) {
	t.Parallel()
	for name, store := range hugeStores(t) {
		id := makeHuge(t, store, 10_000)
		for what, read := range hugeReads(subcommands{session.New(nil, io.Discard, io.Discard)}) {
			ctx, stop := context.WithCancel(t.Context())
			watched := &watchedStore{Store: store, stop: stop}
			err := read(ctx, watched, id)
			stop()
			if what == "why" && err == nil {
				continue // it looks at no atom of a run that has ended
			}
			if !errors.Is(err, context.Canceled) && !errors.Is(err, engine.ErrStopped) || watched.pages > 1 {
				t.Errorf("%s, %s: %v, after %d pages", name, what, err, watched.pages)
			}
		}
	}
}

// A watchedStore counts the pages that are read of a run, looks at the heap at each, or calls
// stop at the first.
type watchedStore struct {
	backend.Store

	heap  *heap
	stop  context.CancelFunc
	pages int
}

func (s *watchedStore) page(ctx context.Context, n int) {
	if n == 0 || ctx.Err() != nil {
		return
	}
	if s.pages++; s.heap != nil && (s.pages < 4 || s.pages%8 == 0) {
		s.heap.look()
	}
	if s.stop != nil {
		s.stop()
	}
}

func (s *watchedStore) Atoms(ctx context.Context, run string, q storage.AtomQuery) ([]storage.Atom, error) {
	atoms, err := s.Store.Atoms(ctx, run, q)
	s.page(ctx, len(atoms))
	return atoms, err
}

func (s *watchedStore) History(ctx context.Context, run string, after int64, limit int) ([]storage.Entry, error) {
	entries, err := s.Store.History(ctx, run, after, limit)
	s.page(ctx, len(entries))
	return entries, err
}

func (s *watchedStore) Undos(ctx context.Context, run string, below int64, limit int) ([]storage.Undo, error) {
	undos, err := s.Store.Undos(ctx, run, below, limit)
	s.page(ctx, len(undos))
	return undos, err
}
