package engine

import (
	"context"
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// A Catalog knows the flows of runs that an engine did not begin itself, such as
// those that other runs begin. It may be asked by several goroutines at once.
type Catalog interface {
	// Flow returns the flow that the run was begun on. If this catalog does not know the
	// flow, it returns an error that wraps [storage.ErrNotFound]. The engine caches the flow
	// of a definition's hash, because another flow has another hash. For a run without a
	// definition the engine calls Flow each time. For a run of its own flow, the engine does
	// not call Flow.
	Flow(ctx context.Context, run *storage.Run) (flow.Node, error)
}

// A TaskCatalog is a Catalog that also knows which tasks its runs have, where not
// all have the same.
type TaskCatalog interface {
	Catalog
	// Tasks returns the tasks of a run; nil for those of the engine.
	Tasks(ctx context.Context, run *storage.Run) (Tasks, error)
}

// WithCatalog lets an engine drive runs of other flows than its own: those that
// its runs begin, which it drives beside them, and any that its [Server] finds. It may be
// given beside another WithCatalog of [Flows]. [New] and [NewServer] return the problems of
// those flows like those of the engine's own.
func WithCatalog(c Catalog) Option {
	return option(func(e *Engine) error {
		if held, ok := c.(heldFlows); ok {
			e.held = append(e.held, held...)
		} else {
			e.catalog = c
		}
		return nil
	})
}

// Flows returns a catalog of flows that the program holds, such as earlier versions of the
// engine's own. A run that was begun on one of them ends on it, whatever other flow has the
// same name now: it is found by its name and structure. A run that another run has begun
// goes by the first flow of its name. What the flows require and do not provide is given by
// their runs' inputs.
//
// Unlike with other catalogs, runs of flows that are not among them are left to other
// processes.
func Flows(roots ...flow.Node) Catalog { return heldFlows(roots) }

type heldFlows []flow.Node

// Flow implements [Catalog].
func (f heldFlows) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	for _, root := range f {
		p, err := flow.CompileOpen(root, nil)
		if err != nil {
			return nil, err
		}
		if began(run, p) {
			return root, nil
		}
	}
	return nil, fmt.Errorf("%w: a flow %q of the structure that the run began on", storage.ErrNotFound, run.Flow)
}

// began reports whether a run began on the flow of a plan. One that another run has begun
// knows no structure yet.
func began(run *storage.Run, p *flow.Plan) bool {
	return run.Flow == p.Flow && (run.Structure == p.Hash || run.Structure == "")
}

// compile returns the plans of the flows.
func (f heldFlows) compile(types map[string]reflect.Type) ([]*flow.Plan, error) {
	plans := make([]*flow.Plan, len(f))
	for i, root := range f {
		p, err := flow.CompileOpen(root, types)
		if err != nil {
			return nil, fmt.Errorf("engine: flow %d of the catalog: %w", i+1, err)
		}
		plans[i] = p
	}
	return plans, nil
}
