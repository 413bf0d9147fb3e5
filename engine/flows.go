package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// Flows are those whose runs an engine can drive.
type flows struct {
	plan     *flow.Plan   // the engine's own; nil in a server of a catalog
	plans    []*flow.Plan // it and those of held
	held     heldFlows
	catalog  Catalog
	compiled sync.Map // *flow.Plan by compiledFor
	types    map[string]reflect.Type
}

// planFor returns the plan that a run goes on with, and what of the change is
// accepted when that is not the one it began on. A run of a stored definition goes
// on with that one, which the catalog has, and not with another of the same name.
func (f *flows) planFor(ctx context.Context, run *storage.Run, opts []RunOption) (*flow.Plan, *acceptance, error) {
	if f.catalog != nil && (run.Definition != "" || run.Structure == "") {
		p, err := f.fromCatalog(ctx, run)
		if run.Structure == "" || !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, ErrChanged) {
			return p, nil, err
		}
	}
	if p := f.planOf(run); p != nil {
		return p, nil, nil
	}
	if f.catalog != nil && !f.is(run.Flow) {
		p, err := f.fromCatalog(ctx, run)
		return p, nil, err
	}
	for _, o := range opts {
		if a, ok := o.(acceptance); ok {
			return f.plan, &a, nil
		}
	}
	if !f.has(run.Flow) && f.plan == nil {
		return nil, nil, fmt.Errorf("engine: run %q: %w: flow %q", run.ID, storage.ErrNotFound, run.Flow)
	}
	return nil, nil, fmt.Errorf("%w: run %q; add the earlier flow to engine.Flows of engine.WithCatalog, or see engine.AcceptChange",
		ErrChanged, run.ID)
}

// planOf returns the one of the engine's plans that the run began on, if there is one. The
// structure tells also when the engine's flow was renamed. Growing flows have none to tell
// them by, but their names.
func (f *flows) planOf(run *storage.Run) *flow.Plan {
	for _, p := range f.plans {
		if began(run, p) {
			return p
		}
	}
	if f.plan != nil && !f.grows() && run.Structure == f.plan.Hash {
		return f.plan
	}
	return nil
}

// fromCatalog compiles the flow that the catalog has for the run. What was
// compiled for a definition is kept: definitions never change.
func (f *flows) fromCatalog(ctx context.Context, run *storage.Run) (*flow.Plan, error) {
	kept := compiledFor{run.Flow, run.Definition}
	if p, ok := f.compiled.Load(kept); ok {
		if p, ok := p.(*flow.Plan); ok {
			return p, nil
		}
	}
	root, err := f.catalog.Flow(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("engine: run %q of flow %q: %w", run.ID, run.Flow, err)
	}
	p, err := flow.CompileOpen(root, f.types)
	if err == nil && run.Structure != "" && p.Hash != run.Structure {
		err = ErrChanged
	}
	if err != nil {
		return nil, fmt.Errorf("engine: run %q of flow %q: %w", run.ID, run.Flow, err)
	}
	if run.Definition != "" { // else nothing tells it from another
		f.compiled.Store(kept, p)
	}
	return p, nil
}

// is reports whether the flow of that name is the engine's own.
func (f *flows) is(flow string) bool { return f.plan != nil && f.plan.Flow == flow }

// has reports whether a flow of that name is the engine's own, or one of [Flows].
func (f *flows) has(name string) bool {
	return slices.ContainsFunc(f.plans, func(p *flow.Plan) bool { return p.Flow == name })
}

// grows reports whether the flow is a growing one, which is then the whole plan.
func (f *flows) grows() bool { return driver.Grows(f.plan) }

// compiledFor is what a compiled flow of the catalog is kept for.
type compiledFor struct{ flow, definition string }
