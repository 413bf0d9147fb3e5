package engine

import (
	"context"
	"fmt"
	"reflect"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Catalog provides the flows of runs that an engine did not start itself, such as runs that other runs start.
// Several goroutines may call its methods at once.
type Catalog interface {
	// Flow returns the flow that the run started on. If the catalog does not know the flow, it returns an error
	// that wraps [storage.ErrNotFound]. The engine calls Flow each time it begins to drive a run, so a catalog caches
	// flows that take long to make, such as those of stored definitions. The engine caches the plan of a flow by the
	// root, up to a bound. It does not call Flow for a run of its own flow.
	Flow(ctx context.Context, run *storage.Run) (flow.Node, error)
}

// A TaskCatalog is a Catalog that also provides tasks, for runs that do not all use the engine's tasks.
type TaskCatalog interface {
	Catalog
	// Tasks returns the tasks of a run. If the run uses the engine's tasks, Tasks returns nil.
	Tasks(ctx context.Context, run *storage.Run) (Tasks, error)
}

// A NamingCatalog is a Catalog that knows which flows it has. Without it, a server says of itself that it drives the
// runs of stored definitions.
type NamingCatalog interface {
	Catalog
	// Served returns the flows that the program contains, and whether the catalog makes flows of stored definitions.
	Served() (flows []ServedFlow, definitions bool)
}

// A CompletingCatalog is a Catalog that completes the records of runs that other runs begin.
type CompletingCatalog interface {
	Catalog
	// Complete completes the record of a run before it is created: it may set the name of its flow, its definition,
	// labels and attributes. If it returns an error that wraps [storage.ErrNotFound], the node that begins the run
	// fails with [atom.CodeNoFlow]; another error stops the run that begins it, as errors of the store do. If the
	// process dies before the run is created, Complete is called again.
	Complete(ctx context.Context, run *storage.Run) error
}

// A QueueCatalog is a Catalog that knows which queues for workers exist.
type QueueCatalog interface {
	Catalog
	// Queue answers [grow.Ask.Queue]: the language of a run asks before a node waits for a worker. An error that wraps
	// [storage.ErrNotFound] says that the queue does not exist. Another error stops the run, as errors of the store do.
	Queue(ctx context.Context, run *grow.RunInfo, queue string) error
}

// WithCatalog lets an engine drive runs of other flows than its own: the child runs of its runs, and any run that
// its [Server] finds. An engine has at most one catalog other than [Flows]. It may also have several catalogs of
// [Flows], whose flows it knows in advance: [New] and [NewServer] report the problems of those flows.
func WithCatalog(c Catalog) Option {
	return option(func(e *Engine) error {
		if held, ok := c.(heldFlows); ok {
			e.held = append(e.held, held...)
		} else if c != nil {
			e.catalog = &guardedCatalog{c}
		}
		return nil
	})
}

// Flows returns a catalog of flows that the program contains, such as earlier versions of the engine's own. A run
// that started on one of them ends on it, even if another flow has the same name now: the engine finds the flow by
// its name and structure. A child run uses the first flow with its name. If a flow requires a symbol that no atom
// provides, the input of the run must contain the symbol.
//
// Unlike with other catalogs, a server leaves runs of flows that are not in the catalog to other processes.
func Flows(roots ...flow.Node) Catalog { return heldFlows(roots) }

type heldFlows []flow.Node

// Flow implements [Catalog].
func (f heldFlows) Flow(_ context.Context, run *storage.Run) (flow.Node, error) {
	for _, root := range f {
		p, err := flow.CompileOpen(root, nil)
		if err != nil {
			return nil, err
		}
		for _, plan := range append([]*flow.Plan{p}, p.Children...) {
			if began(run, plan) {
				return plan.Root, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: a flow %q of the structure that the run began on", storage.ErrNotFound, run.Flow)
}

// began reports whether a run started on the flow of a plan. A child run that has not started has no structure yet.
func began(run *storage.Run, p *flow.Plan) bool {
	return run.Flow == p.Flow && (run.Structure == p.Hash || run.Structure == "")
}

// compile returns the plans of the flows.
func (f heldFlows) compile(types map[string]reflect.Type) ([]*flow.Plan, error) {
	var plans []*flow.Plan
	for i, root := range f {
		p, err := flow.CompileOpen(root, types)
		if err == nil {
			err = backend.CheckPlan(p)
		}
		if err != nil {
			return nil, fmt.Errorf("engine: flow %d of the catalog: %w", i+1, err)
		}
		plans = append(append(plans, p), p.Children...)
	}
	return plans, nil
}
