package engine_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/guard"
)

// badRetry is a retry controller of which one method does not return.
type badRetry struct {
	in     string
	breaks func()
}

func (r badRetry) call(method string) {
	if r.in == method {
		r.breaks()
	}
}

func (r badRetry) Next(atom.History, atom.Values) (atom.Value, error) {
	r.call("Next")
	return atom.Null, nil
}

func (r badRetry) OnFailure(atom.History, atom.Values) (atom.Decision, error) {
	r.call("OnFailure")
	return atom.Decision{}, nil
}

func (r badRetry) Undo(context.Context, atom.History, []*atom.Failure) error {
	r.call("Undo")
	return nil
}

// badLanguage adds one task, in which or in whose undo it may not return.
type badLanguage struct {
	in     string
	breaks func()
}

func (l badLanguage) call(method string) {
	if l.in == method {
		l.breaks()
	}
}

func (l badLanguage) Grow(ask *grow.Ask) grow.Growth {
	l.call("Grow")
	switch ask.Cause.Kind {
	case grow.Begin:
		return grow.Growth{Add: []grow.Spec{{Name: "t", Task: "t", Input: atom.Null, Undo: &grow.Undo{Task: "undo"}}}}
	case grow.Failed:
		return grow.Growth{End: &grow.End{Failure: ask.Cause.Failure}}
	default:
		return grow.Growth{End: &grow.End{Failure: &atom.Failure{Code: "Enough", Message: "it is done"}}}
	}
}

func (l badLanguage) Undo(*grow.UndoAsk) (atom.Value, error) { l.call("Undo"); return atom.Null, nil }

// Task implements [engine.Tasks].
func (l badLanguage) Task(name string) (atom.Body, error) {
	l.call("Task")
	return badQueued{atom.Func(name, noop).Body(), l}, nil
}

type badQueued struct {
	atom.Body
	l badLanguage
}

func (q badQueued) Queue(*atom.Call) string { q.l.call("Queue"); return "" }
func (badQueued) Reverts() bool             { return true }

// TestUserCodeThatDoesNotReturn lets each piece of user code that the engine calls panic, or end its goroutine. That is a
// failure of the atom that the code decides about. Run returns in each case.
//
// Guarantee (G3): User code that panics or ends its goroutine fails its atom: a decider, a retry controller, a language,
// middleware, a lookup of tasks. An observer that does misses the event. No run hangs.
// Also: `TestGoexit`.
func TestUserCodeThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	says := map[string]string{"panic": "on purpose", "exit": guard.ErrEnded.Error()}
	for how, breaks := range map[string]func(){"panic": func() { panic("on purpose") }, "exit": runtime.Goexit} {
		retried := func(in string) (flow.Node, []engine.Option) { //nolint:unparam // as the others
			s := &stage{do: script{"b": alwaysFails}}
			return flow.Linear("f", s.atom("a"), flow.Linear("g", s.atom("b")).WithRetry(atom.Retry("again", badRetry{in, breaks}))), nil
		}
		grown := func(in string) (flow.Node, []engine.Option) {
			l := badLanguage{in, breaks}
			return flow.Growing("f", l), []engine.Option{engine.WithTasks(l)}
		}
		for where, c := range map[string]struct {
			root   func() (flow.Node, []engine.Option)
			failed string // the atom that fails, or only the code
		}{
			"decider": {func() (flow.Node, []engine.Option) {
				decide := flow.Decide(func(flow.Results) bool { breaks(); return true })
				a, b := atom.Func("a", noop), atom.Func("b", noop)
				return flow.Graph("f", a, b).Link(a, b, decide), nil
			}, "b"},
			"OnFailure":       {func() (flow.Node, []engine.Option) { return retried("OnFailure") }, "again"},
			"Next":            {func() (flow.Node, []engine.Option) { return retried("Next") }, "again"},
			"Undo":            {func() (flow.Node, []engine.Option) { return retried("Undo") }, "again"},
			"Grow":            {func() (flow.Node, []engine.Option) { return grown("Grow") }, map[string]string{"panic": "Panic", "exit": "Error"}[how]},
			"language's Undo": {func() (flow.Node, []engine.Option) { return grown("Undo") }, "t"},
			"Task":            {func() (flow.Node, []engine.Option) { return grown("Task") }, "t"},
			"Queue":           {func() (flow.Node, []engine.Option) { return grown("Queue") }, "t"},
			"middleware": {func() (flow.Node, []engine.Option) {
				return atom.Func("a", noop), []engine.Option{engine.WithMiddleware(func(atom.Body) atom.Body { breaks(); return nil })}
			}, "a"},
		} {
			t.Run(where+"/"+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					root, opts := c.root()
					eng := newEngine(t, root, opts...)
					_, err := eng.Run(t.Context(), "r")
					if err == nil || !strings.Contains(err.Error(), c.failed+": ") || !strings.Contains(err.Error(), says[how]) {
						t.Errorf("got %v; want a failure of %q", err, c.failed)
					}
				})
			})
		}
		t.Run("observer/"+how, func(t *testing.T) {
			t.Parallel()
			var after int
			eng := newEngine(t, flow.Linear("f", atom.Func("a", noop), atom.Func("b", noop)),
				engine.WithObserver(func(engine.Event) { breaks() }), engine.WithObserver(func(engine.Event) { after++ }))
			if _, err := eng.Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			if after == 0 {
				t.Error("the other observer saw nothing")
			}
		})
	}
}
