package engine

import (
	"maps"
	"reflect"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// An Engine runs one flow, any number of times. It is safe for concurrent use.
type Engine struct {
	env driver.Env // of the drivers of its runs
	flows

	inputs map[string]atom.Value
	open   bool // symbols that nothing provides are inputs

	childSlots chan struct{} // places for runs that are driven beside those that began them
	places     placeQueue
	claims     claims

	suspending sync.Mutex
	suspend    chan struct{} // closed by Suspend
}

// New compiles the flow, or the single atom, and returns the engine that runs
// it. Mistakes of the definition are returned all at once, as [flow.Problems].
func New(root flow.Node, opts ...Option) (*Engine, error) {
	e, err := newEngine(opts)
	if err != nil {
		return nil, err
	}
	compile := flow.Compile
	if e.open {
		compile = flow.CompileOpen
	}
	plan, err := compile(root, e.types)
	if err != nil {
		return nil, err
	}
	e.plan, e.plans = plan, append([]*flow.Plan{plan}, e.plans...)
	for _, w := range plan.Warnings {
		e.env.Log.Warn(w, "flow", plan.Flow)
	}
	return e, nil
}

// newEngine returns an engine without a flow of its own.
func newEngine(opts []Option) (*Engine, error) {
	e := &Engine{
		inputs:     map[string]atom.Value{},
		childSlots: make(chan struct{}, DefaultSlots),
		suspend:    make(chan struct{}),
	}
	e.types = map[string]reflect.Type{}
	env := &e.env
	env.Calls = executor.Settings{Parallel: DefaultParallelism, Grace: DefaultGrace}
	env.Limits, env.Log = driver.Limits(DefaultLimits()), hclog.NewNullLogger()
	for _, opt := range opts {
		if err := opt.apply(e); err != nil {
			return nil, err
		}
	}
	if env.Store == nil {
		env.Store = memstore.New()
	}
	env.Calls.Log, env.Calls.Store, env.Calls.GivenUp = env.Log, env.Store, &env.GivenUp
	env.Inbox.Log, env.Inbox.Store = env.Log, env.Store
	env.Memory.Log, env.Memory.Used, env.Memory.Budget = env.Log, memorybudget.Used, memoryBudget(env.Limits.Memory)
	e.claims.store, e.claims.log = env.Store, env.Log
	env.Suspend, env.Runs = e.suspend, host{e}
	plans, err := e.held.compile(e.types)
	if err != nil {
		return nil, err
	}
	e.plans = plans
	return e, nil
}

// Plan returns the compiled flow.
func (e *Engine) Plan() *flow.Plan { return e.plan }

// Store returns where the engine keeps its runs.
func (e *Engine) Store() storage.Store { return e.env.Store }

// Suspend suspends the runs of this engine: atoms that execute may end, nothing more is
// started, and Run returns [ErrSuspended]. To resume the runs, call Run with another
// engine.
func (e *Engine) Suspend() {
	e.suspending.Lock()
	defer e.suspending.Unlock()
	select {
	case <-e.suspend:
	default:
		close(e.suspend)
	}
}

// begin puts together what a run is begun with.
func (e *Engine) begin(id string, opts []RunOption) (*beginning, error) {
	b := &beginning{
		run: storage.Run{
			ID: id, Flow: e.plan.Flow, Structure: e.plan.Hash,
			Secrets: storage.Secrets{Symbols: e.plan.Secrets, Atoms: e.plan.SecretResults},
		},
		inputs: maps.Clone(e.inputs),
	}
	for _, opt := range opts {
		if err := opt.begin(b); err != nil {
			return nil, err
		}
	}
	if b.whole == nil && !e.grows() {
		whole, err := atom.Encode(b.inputs)
		if err != nil {
			return nil, err
		}
		b.whole = whole
	} else if b.whole == nil {
		b.whole = atom.MustEncode(map[string]any{})
	}
	return b, e.checkInput(b.whole)
}

// checkInput reports the symbols that the flow needs and the input lacks.
func (e *Engine) checkInput(whole atom.Value) error {
	if e.grows() {
		return nil
	}
	symbols, err := driver.SymbolsOf(whole)
	if err != nil {
		return err
	}
	var problems flow.Problems
	for _, in := range e.plan.Inputs {
		if _, ok := symbols[in.Symbol]; !ok {
			problems = append(problems, &flow.Problem{
				Flow: e.plan.Flow, Atom: in.For, Symbol: in.Symbol, Kind: flow.ErrMissing,
				Text: "atom " + quote(in.For) + " requires " + quote(in.Symbol) + ", and the run was not given it; pass it with engine.With",
			})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// GivenUp returns how many calls of atoms, and answers, this engine has given up since it was
// made, in all runs, because they ignored that their context had
// ended, or that something else was wanted of the run.
func (e *Engine) GivenUp() int64 { return e.env.GivenUp.Load() }

// Memory returns how much memory the process uses now.
func (e *Engine) Memory() Memory {
	level := e.env.Memory.Look(e.now())
	return Memory{Used: level.Used, Budget: e.env.Memory.Budget, Exhausted: level.Exhausted}
}
