package inspect_test

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

func step(name string) *atom.Atom {
	return atom.Func(name, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
}

// blocks is the task "charge", which executes until its context ends.
func blocks() *atom.Atom {
	return atom.Func("charge", func(ctx context.Context, _ struct{}) (struct{}, error) { <-ctx.Done(); return struct{}{}, ctx.Err() })
}

func orders(more ...flow.Node) *flow.LinearFlow {
	nodes := []flow.Node{step("reserve"), atom.Awaits[string]("approve", "approved", atom.Deferral{Deadline: time.Hour})}
	return flow.Linear("order", append(nodes, more...)...)
}

// listener is a language that listens for messages.
type listener struct{}

// Grow implements [grow.Language].
func (listener) Grow(*grow.Ask) grow.Growth { return grow.Growth{Listen: true} }

// Undo implements [grow.Language].
func (listener) Undo(*grow.UndoAsk) (atom.Value, error) { return nil, nil }

// undoFailed runs a flow whose undo fails.
func undoFailed(w *world) {
	no := errors.New("no")
	book := atom.New("book", undoFails{}, atom.RevertAttempts(1, atom.Constant(time.Second)))
	e := w.engine(flow.Linear("order", book,
		atom.Func("charge", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, no })))
	_, _ = e.Run(w.Context(), "x")
}

// pauses is a language that begins with a timer.
type pauses struct{ listener }

// Grow implements [grow.Language].
func (pauses) Grow(ask *grow.Ask) grow.Growth {
	return grow.Growth{Add: []grow.Spec{{Name: "pause", Kind: grow.Timer, Due: ask.Now.Add(time.Hour)}}}
}

// queued is a task that workers of the queue "cards" do.
type queued struct{ undoFails }

func (queued) Queue(*atom.Call) string { return "cards" }

// undoFails is a task whose undo fails.
type undoFails struct{}

func (undoFails) Execute(context.Context, atom.Values) (atom.Value, error) { return nil, nil }

func (undoFails) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, errors.New("the office is closed")
}

func (undoFails) Reverts() bool { return true }

// noDefinitions is the catalog of a process that serves definitions, of which the store has none.
type noDefinitions struct{}

func (noDefinitions) Flow(context.Context, *storage.Run) (flow.Node, error) {
	return nil, storage.ErrNotFound
}

func (noDefinitions) Served() (flows []engine.ServedFlow, definitions bool) { return nil, true }
