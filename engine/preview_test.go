package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage/memstore"
)

// inTurn is a language whose flows execute one node after the other.
type inTurn []grow.Spec

func (l inTurn) Grow(ask *grow.Ask) grow.Growth {
	next := 0
	switch ask.Cause.Kind {
	case grow.Begin:
	case grow.Ended:
		if err := ask.Memory.Decode(&next); err != nil {
			return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: "Memory", Message: err.Error()}}}
		}
	default:
		return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: "Stopped"}}}
	}
	if next == len(l) {
		return grow.Growth{End: &grow.End{Value: atom.Null}}
	}
	return grow.Growth{Add: []grow.Spec{l[next]}, Memory: atom.MustEncode(next + 1)}
}

func (l inTurn) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// TestPreviewGrowing previews the undo of a run that is being driven, which then undoes the same: executing atoms, and
// those since the point of no return.
func TestPreviewGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		work := func(name string, pivot bool) grow.Spec {
			return grow.Spec{Name: name, Kind: grow.Work, Task: "do:" + name, Undo: &grow.Undo{Task: "do:undo " + name}, Pivot: pivot}
		}
		s := &stage{do: script{"e": untilCancelled}}
		eng := newEngine(t, flow.Growing("f", inTurn{work("a", false), work("b", true), work("c", false), work("d", false), work("e", false)}),
			append(opts, engine.WithTasks(parts{s}))...)
		go func() {
			_, err := eng.Run(t.Context(), "r")
			_ = failed(t, err)
		}()
		time.Sleep(time.Minute)
		for _, test := range []struct {
			o    engine.Command
			want []string
		}{
			{engine.Cancel(""), []string{"e", "d", "c", "b stops"}},
			{engine.RevertTo("c"), []string{"e", "d"}},
			{engine.Abandon(""), nil},
		} {
			undone, err := previewed(t, eng, "r", test.o)
			if diff := cmp.Diff(test.want, undone); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		}
		if _, err := previewed(t, eng, "r", engine.RevertTo("a")); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("before the point of no return: %v", err)
		}
		s.took()
		_, err := eng.Command(t.Context(), "r", engine.Cancel(""))
		_ = failed(t, err)
		synctest.Wait()
		wantActs(t, s, "undo e", "undo d done", "undo c done")
	})
}

// TestPreviewPivots: the preview of an undo ends with the points of no return that a plan has passed.
func TestPreviewPivots(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	task := func(name string, options ...atom.Option) flow.Node {
		return atom.Pair(name, func(context.Context, struct{}) (string, error) { return "", nil },
			func(context.Context, struct{}, atom.Outcome[string]) error { return nil }, options...)
	}
	wait := atom.Awaits[string]("wait", "go", atom.Deferral{})
	eng := newEngine(t, flow.Linear("f", task("a"), task("b", atom.Pivot()), task("c", atom.Pivot()), task("d"), task("e"),
		wait, task("f", atom.Pivot())), engine.WithStore(store))
	if _, err := eng.Run(t.Context(), "r", engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
		t.Fatal(err)
	}
	for _, test := range []struct {
		o    engine.Command
		want []string
	}{
		{engine.Cancel(""), []string{"e", "d", "c stops", "b stops"}},
		{engine.RevertTo("d"), []string{"e"}},
		{engine.Abandon(""), nil},
	} {
		undone, err := previewed(t, eng, "r", test.o)
		if diff := cmp.Diff(test.want, undone); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// previewed collects what a command would revert, and marks a point of no return that stops it.
func previewed(t *testing.T, eng *engine.Engine, id string, o engine.Command) (undone []string, err error) {
	t.Helper()
	for step, err := range eng.Preview(t.Context(), id, o) {
		if err != nil {
			return undone, err
		}
		if step.Stops {
			step.Path += " stops"
		}
		undone = append(undone, step.Path)
	}
	return undone, nil
}

// TestMendTheRightOne refuses to retry or skip a revert at which the undo did not stop.
func TestMendTheRightOne(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		after := func(context.Context, int) error { time.Sleep(time.Second); return nil }
		s := &stage{do: script{"c": after, "d": alwaysFails}, undo: script{"undo b": failsOnce}}
		eng := newTrip(t, s, opts...)
		_, err := eng.Run(t.Context(), "r")
		_ = failed(t, err)
		s.took()
		for _, o := range []engine.Command{engine.Skip("A"), engine.RetryRevert("A")} {
			if _, err := eng.Command(t.Context(), "r", o); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("got %v", err)
			}
		}
		undone, err := previewed(t, eng, "r", engine.Skip("P[0]/B"))
		if diff := cmp.Diff([]string{"A"}, undone); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_, err = eng.Command(t.Context(), "r", engine.Skip("P[0]/B"))
		_ = reverted(t, err)
		wantActs(t, s, "undo a done")
	})
}
