package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

type sizing struct {
	Size int `json:"size"`
}

// resizes returns a typed task that records its calls, and is undone.
func (s *stage) resizes(opts ...atom.Option) *atom.Atom {
	return atom.Pair("resize", func(context.Context, sizing) (struct{}, error) { s.act("resize"); return struct{}{}, nil },
		func(context.Context, sizing, atom.Outcome[struct{}]) error { s.act("undo resize"); return nil }, opts...)
}

// giving returns a task without types whose result is the symbol.
func giving(symbol string, value any) *atom.Atom {
	return atom.Untyped("give", func(context.Context, atom.Values) (any, error) { return value, nil }, nil,
		atom.Provides(symbol), atom.NoEffect())
}

// typedParts are the tasks of a stage, and resize.
type typedParts struct{ s *stage }

func (p typedParts) Task(name string) (atom.Body, error) {
	switch name {
	case "do:resize this":
		return atom.Pair("resize", func(context.Context, int) (struct{}, error) { p.s.act("resize"); return struct{}{}, nil },
			func(context.Context, int, atom.Outcome[struct{}]) error { return nil }, atom.From("size")).Body(), nil
	case "do:resize":
		return p.s.resizes().Body(), nil
	case "do:missing":
		return nil, errors.New("there is no such task")
	default:
		return parts(p).Task(name)
	}
}

// TestUndecodedArguments gives a task a value of another type, in a flow of each kind. The task was not called, so it is
// not undone, and the rest is.
//
// Guarantee (G4): An atom that was not called, since an argument has the wrong type or its task is not registered, is
// not reverted. The rest is undone, and no view shows the atom as undone or as staying done.
func TestUndecodedArguments(t *testing.T) {
	t.Parallel()
	machine := func(resource string) func(*testing.T, *stage) flow.Node {
		return func(t *testing.T, _ *stage) flow.Node {
			t.Helper()
			m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
				"A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "Next": "B"},
				"B": {"Type": "Task", "Resource": "`+resource+`", "Parameters": {"size": "one"}, "Revert": "undo:resize",
					"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}], "End": true}}}`))
			if err != nil {
				t.Fatal(err)
			}
			return m.Flow()
		}
	}
	for name, root := range map[string]func(t *testing.T, s *stage) flow.Node{
		"untyped": func(_ *testing.T, s *stage) flow.Node {
			return flow.Linear("f", giving("size", "one"), s.atom("a"), s.resizes(atom.Attempts(3, atom.Backoff{})))
		},
		"wrapped": func(_ *testing.T, s *stage) flow.Node {
			around := func(ctx context.Context, next func(context.Context) error) error { return next(ctx) }
			return flow.Linear("f", giving("size", "one"), s.atom("a"), s.resizes(atom.Wrap(around)))
		},
		"in a retry": func(_ *testing.T, s *stage) flow.Node {
			return flow.Linear("f", giving("size", "one"), s.atom("a"),
				flow.Linear("inner", s.resizes()).WithRetry(atom.Times(2, atom.Backoff{})))
		},
		"item": func(_ *testing.T, s *stage) flow.Node {
			return flow.Linear("f", giving("list", []string{"one"}), s.atom("a"),
				flow.Each("each", atom.NewKey[[]sizing]("list"), s.resizes()))
		},
		"values of a retry": func(_ *testing.T, s *stage) flow.Node {
			return flow.Linear("f", giving("list", "one"), s.atom("a"),
				flow.Linear("inner", s.atom("resize")).WithRetry(atom.ForEachOf("list")))
		},
		"worker": func(_ *testing.T, s *stage) flow.Node {
			return flow.Linear("f", giving("size", "one"), s.atom("a"), atom.RemotePair[sizing, struct{}]("resize", "work", "unwork"))
		},
		"asl":       machine("do:resize"),
		"asl, none": machine("do:missing"),
		"sm4c": func(t *testing.T, _ *stage) flow.Node {
			t.Helper()
			m, err := sm4c.Parse("m", []byte(`{"name": "m", "version": "1", "functions": [
				{"name": "a", "type": "task", "operation": "do:a"}, {"name": "not a", "type": "task", "operation": "undo:a"},
				{"name": "resize", "type": "task", "operation": "do:resize this"},
				{"name": "not", "type": "task", "operation": "undo:resize"}],
				"states": [{"name": "One", "start": true, "enterAction": `+undoableCall("a", "not a")+`,
					"transitions": [{"nextState": "Two"}]},
				{"name": "Two", "enterAction": `+undoableCall("resize", "not")+`}]}`))
			if err != nil {
				t.Fatal(err)
			}
			return m.Flow()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, opts ...engine.Option) {
				s := &stage{}
				eng := newEngine(t, root(t, s), append(opts, engine.WithTasks(typedParts{s}))...)
				res, err := eng.Run(t.Context(), "r")
				reverted(t, err)
				wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
				acts := s.took()
				if n := len(acts); n != 2 || acts[0] != "a" {
					t.Errorf("acts are %q; want that of a, and its undo", acts)
				}
				stored, _ := statuses(t, eng.Store(), "r")
				for _, s := range stored {
					if s == "resize REVERTED" || s == "resize MAY_STAY_DONE" || s == "resize STAYS_DONE" {
						t.Errorf("the status is %s", s)
					}
				}
			})
		})
	}
}

// TestPreviewOfUndecoded previews the undo of a run that was left as it failed.
func TestPreviewOfUndecoded(t *testing.T) {
	t.Parallel()
	s := &stage{}
	root := flow.Linear("f", giving("size", "one"), s.atom("a"), s.resizes()).WithFailurePolicy(flow.LeaveFailed)
	eng := newEngine(t, root)
	if _, err := eng.Run(t.Context(), "r"); err == nil {
		t.Fatal("the run succeeded")
	}
	var steps []string
	for step, err := range eng.Preview(t.Context(), "r", engine.RevertTo("give")) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step.Path)
	}
	if len(steps) != 1 || steps[0] != "a" {
		t.Errorf("the undo would revert %q; want only a", steps)
	}
}

// asBefore is a body that fails as bodies of earlier versions did: its errors do not say that it was not called.
type asBefore struct{ atom.Body }

func (b asBefore) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	v, err := b.Body.Execute(ctx, in)
	if err != nil {
		err = errors.New(err.Error())
	}
	return v, err
}

func (b asBefore) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	v, err := b.Body.Revert(ctx, in, did)
	if err != nil {
		err = errors.New(err.Error())
	}
	return v, err
}

// TestUndecodedBefore undoes a run whose undo failed in an earlier version, because the arguments of an atom do not
// decode.
func TestUndecodedBefore(t *testing.T) {
	t.Parallel()
	s, store := &stage{}, memstore.New()
	root := flow.Linear("f", giving("size", "one"), s.atom("a"), s.resizes())
	before := engine.WithMiddleware(func(next atom.Body) atom.Body { return asBefore{next} })
	res, err := newEngine(t, root, engine.WithStore(store), before).Run(t.Context(), "r")
	if err == nil || res.Run.Undo != storage.UndoFailed {
		t.Fatalf("the run is not stuck: %v", err)
	}
	res, err = newEngine(t, root, engine.WithStore(store)).Command(t.Context(), "r", engine.RetryRevert(""))
	reverted(t, err)
	wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
	wantStatuses(t, store, "r", "undone 1", "a REVERTED", "give SUCCESS", "resize FAILURE")
}

type owned struct {
	Name  string `json:"name"`
	Owner string `json:"owner"`
	Size  int    `json:"size"`
}

// TestRevertGetsAllFields: a typed Revert with arguments of its own gets the other fields of its input, too.
func TestRevertGetsAllFields(t *testing.T) {
	t.Parallel()
	do := func(context.Context, owned) (struct{}, error) { return struct{}{}, errRefused }
	for name, opts := range map[string][]atom.Option{
		"requires":       {atom.RevertRequires("owner")},
		"rebind":         {atom.RevertRebind("owner", "payer")},
		"before another": {atom.RevertRebind("owner", "payer"), atom.Rebind("size", "length")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got owned
			undo := func(_ context.Context, in owned, _ atom.Outcome[struct{}]) error { got = in; return nil }
			eng := newEngine(t, atom.Pair("a", do, undo, opts...), engine.WithInputs(engine.AnyInput))
			_, err := eng.Run(t.Context(), "r", engine.Input(map[string]any{
				"name": "n", "owner": "o", "payer": "o", "size": 3, "length": 3,
			}))
			reverted(t, err)
			if want := (owned{"n", "o", 3}); got != want {
				t.Errorf("Revert got %+v; want %+v", got, want)
			}
		})
	}
	none := func(context.Context, owned, atom.Outcome[struct{}]) error { return nil }
	wantRefused(t, flow.ErrMissing, atom.Pair("a", do, none, atom.RevertRebind("owner", "payer")),
		with("name", "n"), with("owner", "o"), with("size", 3))
	wantRefused(t, flow.ErrType, atom.Pair("a", do, none, atom.RevertRebind("owner", "size")),
		engine.WithInputs(atom.NewKey[string]("name"), atom.NewKey[string]("owner"), atom.NewKey[int]("size")))
}
