package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// AcceptChange lets a run that was begun on a flow of another structure go on
// with the engine's. Atoms that were added are still to be executed; atoms that
// were removed are forgotten. One that did something, and is not undone, can be
// forgotten only when it is named: what it did then stays. That the run belongs to
// the new flow is committed with its next checkpoint, and holds from then on.
//
// Run returns an error that wraps [ErrChanged] and names every atom that is in the
// way, or [flow.Problems] when the new flow needs an input that the run does not
// have; nothing is changed then. Runs of languages cannot be compared and need no
// comparing: what their language answered holds.
func AcceptChange(forget ...string) RunOption { return acceptance{forget} }

type acceptance struct{ forget []string }

func (acceptance) begin(*beginning) error { return nil }

// planFor returns the plan that a run goes on with, and what of the change is
// accepted when that is not the one it began on. A run of a stored definition goes
// on with that one, which the catalog has, and not with another of the same name.
func (e *Engine) planFor(ctx context.Context, run *storage.Run, opts []RunOption) (*flow.Plan, *acceptance, error) {
	if e.catalog != nil && (run.Definition != "" || run.Structure == "") {
		p, err := e.fromCatalog(ctx, run)
		if run.Structure == "" || !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, ErrChanged) {
			return p, nil, err
		}
	}
	if p := e.planOf(run); p != nil {
		return p, nil, nil
	}
	if e.catalog != nil && !e.is(run.Flow) {
		p, err := e.fromCatalog(ctx, run)
		return p, nil, err
	}
	for _, o := range opts {
		if a, ok := o.(acceptance); ok {
			return e.plan, &a, nil
		}
	}
	if !e.has(run.Flow) && e.plan == nil {
		return nil, nil, fmt.Errorf("engine: run %q: %w: flow %q", run.ID, storage.ErrNotFound, run.Flow)
	}
	return nil, nil, fmt.Errorf("%w: run %q; add the earlier flow to engine.Flows of engine.WithCatalog, or see engine.AcceptChange",
		ErrChanged, run.ID)
}

// planOf returns the one of the engine's plans that the run began on, if there is one. The
// structure tells also when the engine's flow was renamed. Growing flows have none to tell
// them by, but their names.
func (e *Engine) planOf(run *storage.Run) *flow.Plan {
	for _, p := range e.plans {
		if began(run, p) {
			return p
		}
	}
	if e.plan != nil && !e.grows() && run.Structure == e.plan.Hash {
		return e.plan
	}
	return nil
}

// compiledFor is what a compiled flow of the catalog is kept for.
type compiledFor struct{ flow, definition string }

// fromCatalog compiles the flow that the catalog has for the run. What was
// compiled for a definition is kept: definitions never change.
func (e *Engine) fromCatalog(ctx context.Context, run *storage.Run) (*flow.Plan, error) {
	kept := compiledFor{run.Flow, run.Definition}
	if p, ok := e.compiled.Load(kept); ok {
		if p, ok := p.(*flow.Plan); ok {
			return p, nil
		}
	}
	root, err := e.catalog.Flow(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("engine: run %q of flow %q: %w", run.ID, run.Flow, err)
	}
	p, err := flow.CompileOpen(root, e.types)
	if err == nil && run.Structure != "" && p.Hash != run.Structure {
		err = ErrChanged
	}
	if err != nil {
		return nil, fmt.Errorf("engine: run %q of flow %q: %w", run.ID, run.Flow, err)
	}
	if run.Definition != "" { // else nothing tells it from another
		e.compiled.Store(kept, p)
	}
	return p, nil
}
