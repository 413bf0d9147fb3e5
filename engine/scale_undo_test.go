package engine_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// undoSteps are steps that call each while they are undone.
type undoSteps struct {
	steps

	undone func()
}

func (s undoSteps) Task(string) (atom.Body, error) { return s, nil }

func (s undoSteps) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	s.undone()
	return atom.Null, nil
}

// TestScaleUndo undoes very many steps, is stopped in the middle, and continues. The heap is not larger late than
// early, and the stop takes effect at once.
//
// Attack (Large runs): A run of millions of steps is undone, fully or at its bottom.
// Result: Interruptible pages of the stack.
// Also: `TestScaleUndoOfPart`.
func TestScaleUndo(t *testing.T) {
	n := scale(t, 2_000)
	store, _ := openScale(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var (
		undone      int
		early, late int64
		stopped     int
	)
	eng := newEngine(t, flow.Growing("loop", stepwise{n, true}), engine.WithStore(store), engine.WithTasks(undoSteps{steps{func() {}}, func() {
		switch undone++; undone {
		case n / 10:
			early = liveHeap()
		case n / 2:
			stopped = undone
			stop()
		case n * 9 / 10:
			late = liveHeap()
		}
	}}))
	if _, err := eng.Run(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Command(ctx, "r", engine.Cancel("")); !errors.Is(err, engine.ErrStopped) {
		t.Fatalf("got %v; want that it is stopped", err)
	}
	if undone > stopped+1 {
		t.Errorf("%d more were undone after the stop", undone-stopped)
	}
	_, err := eng.Run(t.Context(), "r")
	_ = reverted(t, err)
	if undone < n || undone > n+1 {
		t.Errorf("%d of %d were undone", undone, n)
	}
	t.Logf("live heap %.2f MiB after %d were undone, %.2f MiB after %d", float64(early)/mib, n/10, float64(late)/mib, n*9/10)
	if late-early > mib {
		t.Errorf("the live heap grew by %d KiB", (late-early)>>10)
	}
}

// undoesFirst is stepwise, but in the end it has only its first step undone.
type undoesFirst struct{ stepwise }

func (l undoesFirst) Grow(ask *grow.Ask) grow.Growth {
	if ask.Cause.Kind == grow.Undone {
		return done(nil)
	}
	if ask.Memory.String() == strconv.Itoa(l.steps) {
		return grow.Growth{Undo: &grow.Undoing{Under: "step0"}}
	}
	return l.stepwise.Grow(ask)
}

// A stackReader counts the pages of the undo stack that are read, and calls third at the third page.
type stackReader struct {
	backend.Store

	pages, largest int
	third          func()
}

func (s *stackReader) Undos(ctx context.Context, run string, below int64, limit int) ([]storage.Undo, error) {
	page, err := s.Store.Undos(ctx, run, below, limit)
	s.largest = max(s.largest, len(page))
	if s.pages++; s.pages == 3 {
		s.third()
	}
	return page, err
}

// TestScaleUndoOfPart undoes an entry of the undo stack below very many others. The stack is read a page at a time, and
// a stop takes effect between two pages.
func TestScaleUndoOfPart(t *testing.T) {
	const n = 500
	file, _ := openScale(t)
	for _, store := range []backend.Store{memstore.New(), file} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		stack := &stackReader{Store: store, third: stop}
		undone := 0
		eng := newEngine(t, flow.Growing("loop", undoesFirst{stepwise{n, true}}), engine.WithStore(stack),
			engine.WithTasks(undoSteps{steps{func() {}}, func() { undone++ }}))
		if _, err := eng.Run(ctx, "r"); !errors.Is(err, engine.ErrStopped) || stack.pages != 3 {
			t.Fatalf("got %v after %d pages; want that it is stopped after 3", err, stack.pages)
		}
		if _, err := eng.Run(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if undone != 1 || stack.largest > 64 {
			t.Errorf("%d were undone; a page of the stack had %d entries", undone, stack.largest)
		}
	}
}
