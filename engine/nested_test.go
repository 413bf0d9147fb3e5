package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/listen"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// flows is a catalog of flows by name.
type flows map[string]flow.Node

func (f flows) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	if n := f[run.Flow]; n != nil {
		return n, nil
	}
	return nil, storage.ErrNotFound
}

// nest is a language that starts one child run and ends as the child does.
func nest(child grow.Child, fail bool) lang {
	return func(ask *grow.Ask) grow.Growth {
		switch c := &ask.Cause; {
		case c.Kind == grow.Begin:
			return add(grow.Spec{Name: "child", Kind: grow.Nested, Input: atom.MustEncode("in"), Child: &child, Undo: &grow.Undo{}})
		case c.Kind == grow.Ended && fail:
			return failure(&atom.Failure{Code: "Parent"})
		case c.Kind == grow.Ended:
			return done(map[string]atom.Value{"child": c.Result})
		default:
			return failure(c.Failure)
		}
	}
}

// TestNested starts runs within runs, and checks their results, their failures, and their undo.
func TestNested(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		inner := lang(func(ask *grow.Ask) grow.Growth {
			switch c := &ask.Cause; c.Kind {
			case grow.Begin:
				return add(work("a"))
			case grow.Ended:
				return done("out")
			default:
				return failure(c.Failure)
			}
		})
		catalog := flows{"inner": flow.Growing("inner", inner)}
		build := func(child grow.Child, fail bool) *engine.Engine {
			return newEngine(t, flow.Growing("outer", nest(child, fail)), append(opts, engine.WithTasks(parts{s}), engine.WithCatalog(catalog))...)
		}

		eng := build(grow.Child{Flow: "inner"}, false)
		res, err := eng.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `{"child":"out"}` {
			t.Fatalf("ended with %v, %v", res, err)
		}
		wantActs(t, s, "a")
		child, err := eng.Store().Run(t.Context(), "r/child")
		if err != nil || child.Parent != "r" || child.Outcome != storage.Succeeded || child.Input.Data.String() != `"in"` {
			t.Errorf("the child is %+v: %v", child, err)
		}
		res, err = eng.Command(t.Context(), "r", engine.Cancel(""))
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		wantActs(t, s, "undo a done")

		_, err = build(grow.Child{Flow: "inner"}, true).Run(t.Context(), "undone")
		reverted(t, err)
		wantActs(t, s, "a", "undo a done")

		s.do = script{"a": alwaysFails}
		_, err = build(grow.Child{Flow: "inner"}, false).Run(t.Context(), "failed")
		if e, ok := errors.AsType[*engine.RevertedError](err); !ok || e.Failures[0].Code != "Refused" {
			t.Errorf("got %v", err)
		}
		s.took()
		s.do = nil

		for i, bad := range []grow.Child{{Flow: "inner", ID: "a\x00b"}, {Flow: "inner", ID: strings.Repeat("x", backend.MaxID+1)}} {
			_, err := build(bad, false).Run(t.Context(), fmt.Sprint("bad-", i))
			if f, ok := errors.AsType[*atom.Failure](err); !ok || f.Code != atom.CodeNoStart {
				t.Errorf("a run was begun as %.10q: %v", bad.ID, err)
			}
		}

		var seen listen.Capture
		opts = append(opts, engine.WithObserver(seen.Observe))
		eng = build(grow.Child{Flow: "inner", Detached: true, ID: "free"}, false)
		res, err = eng.Run(t.Context(), "r")
		if err != nil || res.Output().String() != `{"child":"free"}` {
			t.Fatalf("ended with %v, %v", res, err)
		}
		_, err = eng.Run(t.Context(), "again")
		if f, ok := errors.AsType[*atom.Failure](err); !ok || f.Code != atom.CodeRunExists {
			t.Errorf("a run was begun twice: %v", err)
		}
		for _, of := range []string{"r", "again"} { // a run that it could not start is not its own
			if open, err := detached(t.Context(), eng, of); err != nil || len(open) != map[string]int{"r": 1}[of] {
				t.Errorf("%s has begun %v, %v", of, open, err)
			}
		}
		if told := seen.Events(); !slices.ContainsFunc(told, func(ev engine.Event) bool {
			return ev.Kind == engine.RunDetached && ev.Run == "r" && ev.Name == "free"
		}) {
			t.Errorf("nobody was told of the detached run: %v", told)
		}
		if _, err := eng.Run(t.Context(), "free"); err != nil {
			t.Errorf("the detached run: %v", err)
		}
		if open, err := detached(t.Context(), eng, "r"); err != nil || len(open) != 0 {
			t.Errorf("still open: %v, %v", open, err)
		}
		wantActs(t, s, "a")
	})
}
