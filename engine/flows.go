package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/boundedcache"
	"github.com/ebbflow/ebb/storage"
)

// flows contains the flows whose runs an engine can drive.
type flows struct {
	plan     *flow.Plan   // the engine's own flow; nil in a server of a catalog
	plans    []*flow.Plan // plan, and the plans of held
	held     heldFlows
	catalog  *guardedCatalog                            // nil if there is none
	compiled *boundedcache.Cache[flow.Node, *flow.Plan] // by root
	types    map[string]reflect.Type
}

// planFor returns the plan with which a run continues, and the accepted change if that is not the plan that it
// started on. A run of a stored definition continues with that definition, which the catalog has, and not with
// another of the same name.
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
	switch {
	case f.has(run.Flow):
	case f.plan == nil:
		return nil, nil, said(storage.ErrNotFound, "run %q: no catalog of this program has its flow %q", run.ID, run.Flow)
	default:
		return nil, nil, &otherFlowError{run.ID, run.Flow, f.plan.Flow}
	}
	return nil, nil, &changedError{run: run.ID}
}

// changedError is the error for a run that started on a flow of another structure.
type changedError struct{ run, what string }

// Error names the run and what has changed.
func (e *changedError) Error() string {
	return fmt.Sprintf("%v: run %q: %s%s", ErrChanged, e.run, e.what, acceptHint)
}

// why is Error without the run.
func (e *changedError) why() string { return changedText + ": " + e.what + acceptHint }

// Unwrap returns [ErrChanged].
func (e *changedError) Unwrap() error { return ErrChanged }

const (
	changedText = "the flow has changed since the run was begun"
	acceptHint  = "add the earlier flow to engine.Flows of engine.WithCatalog, or see engine.AcceptChange"
)

// otherFlowError is the error for a run that started on a flow of another name.
type otherFlowError struct{ run, began, flow string }

// Error names both flows.
func (e *otherFlowError) Error() string {
	return fmt.Sprintf("engine: run %q belongs to flow %q, not to %q; choose another id, or see engine.AcceptChange if "+
		"the "+
		"flow was renamed", e.run, e.began, e.flow)
}

// Unwrap returns [ErrChanged].
func (e *otherFlowError) Unwrap() error { return ErrChanged }

// planOf returns the engine's plan that the run started on, or nil. It compares names and structures. Growing flows
// have no structure.
func (f *flows) planOf(run *storage.Run) *flow.Plan {
	for _, p := range f.plans {
		if began(run, p) {
			return p
		}
	}
	return nil
}

// fromCatalog compiles the flow that the catalog has for the run.
func (f *flows) fromCatalog(ctx context.Context, run *storage.Run) (*flow.Plan, error) {
	root, err := f.catalog.flow(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("engine: run %q of flow %q: %w", run.ID, run.Flow, err)
	}
	p, err := f.compile(root)
	if err == nil && run.Structure != "" && p.Hash != run.Structure {
		return nil, &changedError{run: run.ID}
	}
	if err != nil {
		return nil, fmt.Errorf("engine: run %q of flow %q: %w", run.ID, run.Flow, err)
	}
	return p, nil
}

// compile returns the plan of a flow whose inputs are open. It caches the plan, unless the flow grows. The plan of a
// growing flow has one atom, so compiling it is cheap. Servers have thousands of such flows, and the time to collect
// garbage beside their plans was a tenth of the time to start a run.
func (f *flows) compile(root flow.Node) (*flow.Plan, error) {
	if _, grows := root.(*flow.GrowingFlow); grows {
		return flow.CompileOpen(root, f.types)
	}
	if p, ok := f.compiled.Get(root); ok {
		return p, nil
	}
	p, err := flow.CompileOpen(root, f.types)
	if err != nil {
		return nil, err
	}
	return f.compiled.Add(root, p, int64(planWeight+len(p.Atoms))), nil
}

const (
	//limit:memory atoms of the plans that an engine caches, a plan counting as {planWeight} | {} | those used least
	//limit:and recently are compiled again
	maxCompiled = 1 << 17
	planWeight  = 8 // as many atoms as a plan takes itself, because a catalog may make a new root for each run
)

// is reports whether the engine's own flow has that name.
func (f *flows) is(flow string) bool { return f.plan != nil && f.plan.Flow == flow }

// has reports whether the engine's own flow, or one of [Flows], has that name.
func (f *flows) has(name string) bool {
	return slices.ContainsFunc(f.plans, func(p *flow.Plan) bool { return p.Flow == name })
}
