package engine

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/driver"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/boundedcache"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/internal/memorybudget"
	"github.com/ebbflow/ebb/internal/planview"
	"github.com/ebbflow/ebb/internal/spelling"
	"github.com/ebbflow/ebb/storage"
)

// An Engine runs one flow, any number of times. Any number of goroutines may use it.
type Engine struct {
	env driver.Env // shared by the drivers of its runs
	flows

	inputs map[string]atom.Value
	open   bool // symbols that no atom provides are inputs

	childSlots chan struct{} // slots for child runs that the engine drives beside their parents
	places     placeQueue
	claims     claims
	views      planview.Writer // diagrams of the flows that it runs

	suspending sync.Mutex
	suspend    chan struct{} // closed by Suspend
}

// New compiles the flow, or the single atom, and returns the engine that keeps its runs in the store. If the definition
// has mistakes, New returns all of them as [flow.Problems].
func New(root flow.Node, store storage.Store, opts ...Option) (*Engine, error) {
	e, err := newEngine(store, opts)
	if err != nil {
		return nil, err
	}
	plan, err := e.compileOwn(root)
	if err == nil {
		err = backend.CheckPlan(plan)
	}
	if err != nil {
		return nil, err
	}
	e.plan, e.plans = plan, append(append([]*flow.Plan{plan}, plan.Children...), e.plans...)
	for _, w := range plan.Warnings {
		e.env.Log.Warn(logevent.FlowWarning, "flow", plan.Flow, "message", w)
	}
	return e, nil
}

// compileOwn compiles the engine's own flow. An input that no atom requires is a mistake, unless a flow of the catalog
// may require it.
func (e *Engine) compileOwn(root flow.Node) (*flow.Plan, error) {
	if !e.open && e.catalog == nil && len(e.plans) == 0 {
		return flow.Compile(root, e.types)
	}
	open, err := flow.CompileOpen(root, e.types)
	if err != nil {
		return nil, err
	}
	types := maps.Clone(e.types)
	wants := func(p *flow.Plan, s string) bool {
		return slices.ContainsFunc(p.Inputs, func(in flow.Input) bool { return in.Symbol == s })
	}
	maps.DeleteFunc(types, func(s string, _ reflect.Type) bool {
		return !wants(open, s) &&
			(e.catalog != nil || slices.ContainsFunc(e.plans, func(p *flow.Plan) bool { return wants(p, s) }))
	})
	for _, in := range open.Inputs {
		if _, declared := types[in.Symbol]; e.open && !declared {
			types[in.Symbol] = nil
		}
	}
	return flow.Compile(root, types)
}

// newEngine returns an engine without a flow of its own.
func newEngine(store storage.Store, opts []Option) (*Engine, error) {
	if store == nil {
		return nil, errors.New("engine: the store is nil")
	}
	e := &Engine{
		inputs:  map[string]atom.Value{},
		suspend: make(chan struct{}),
	}
	e.types, e.compiled = map[string]reflect.Type{}, boundedcache.New[flow.Node, *flow.Plan](maxCompiled)
	env := &e.env
	env.Calls = executor.Settings{Parallel: DefaultParallelism, Grace: DefaultGrace}
	env.Store, env.Limits, env.Log = backend.Of(store), driver.Limits(DefaultLimits()), hclog.NewNullLogger()
	for _, opt := range opts {
		if err := opt.apply(e); err != nil {
			return nil, err
		}
	}
	e.childSlots = make(chan struct{}, DefaultSlots)
	if env.Calls.Parallel == 1 {
		e.childSlots = make(chan struct{}, 1)
	}
	env.Calls.Log, env.Calls.Store, env.Calls.GivenUp = env.Log, env.Store, &env.GivenUp
	env.Log = env.Log.Named("engine")
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

// String returns "engine of flow" and the name of the flow.
func (e *Engine) String() string { return fmt.Sprintf("engine of flow %q", e.plan.Flow) }

// Plan returns the compiled flow.
func (e *Engine) Plan() *flow.Plan { return e.plan }

// Suspend suspends the runs of this engine: running atoms may end, the engine starts no others, and Run returns
// [ErrSuspended]. To resume the runs, call Run with another engine.
func (e *Engine) Suspend() {
	e.suspending.Lock()
	defer e.suspending.Unlock()
	select {
	case <-e.suspend:
	default:
		close(e.suspend)
	}
}

// begin collects the values with which a run of a plan starts.
func (e *Engine) begin(p *flow.Plan, id string, opts []RunOption) (*beginning, error) {
	b := &beginning{
		run:    storage.Run{ID: id, Flow: p.Flow, Structure: p.Hash, Secrets: secretsOf(p), Created: e.env.Store.Now()},
		inputs: maps.Clone(e.inputs),
	}
	var unused flow.Problems
	for _, opt := range opts {
		if err := opt.begin(b); err != nil {
			return nil, err
		}
		if in, is := opt.(input); is && (p.Grows() || !p.Knows(in.name)) {
			unused = append(unused, &flow.Problem{
				Flow: p.Flow, Symbol: in.name, Kind: flow.ErrUnused,
				Text: "nothing in flow " + quote(p.Flow) + " requires the input " + quote(in.name) + near(p, in.name),
			})
		}
	}
	if b.whole == nil && !p.Grows() {
		whole, err := atom.Encode(b.inputs)
		if err != nil {
			return nil, err
		}
		b.whole = whole
	} else if b.whole == nil {
		b.whole = atom.MustEncode(map[string]any{})
	}
	if err := checkInput(p, b.whole); err != nil || len(unused) == 0 {
		return b, err
	}
	return b, unused
}

// secretsOf returns what no view of a run of the plan may show.
func secretsOf(p *flow.Plan) storage.Secrets {
	return storage.Secrets{Symbols: p.Secrets, Atoms: p.SecretResults}
}

// near returns a remark on the symbol that was perhaps meant by an input that nothing requires.
func near(p *flow.Plan, input string) string {
	if p.Grows() {
		return "; give a growing flow its whole input with engine.Input"
	}
	names := make([]string, len(p.Inputs))
	for i := range p.Inputs {
		names[i] = p.Inputs[i].Symbol
	}
	if near := spelling.Nearest(input, names); near != "" {
		return " (did you mean " + quote(near) + "?)"
	}
	return "; leave it out"
}

// meant returns a remark on the given input that was perhaps meant by the missing symbol.
func meant(symbol string, given []string) string {
	if near := spelling.Nearest(symbol, given); near != "" {
		return " (the run was given " + quote(near) + ", which nothing requires)"
	}
	return ""
}

// checkInput reports the symbols that the flow requires and the input does not contain, and those of another type.
func checkInput(p *flow.Plan, whole atom.Value) error {
	if p.Grows() {
		return nil
	}
	symbols, err := driver.SymbolsOf(whole)
	if err != nil {
		return err
	}
	var problems flow.Problems
	var others []string // that were given, and nothing requires
	for s := range symbols {
		if !slices.ContainsFunc(p.Inputs, func(in flow.Input) bool { return in.Symbol == s }) {
			others = append(others, s)
		}
	}
	slices.Sort(others)
	for _, in := range p.Inputs {
		v, ok := symbols[in.Symbol]
		if ok && in.Type != nil {
			if err := decodes(v, in.Type); err != nil {
				problems = append(problems, &flow.Problem{
					Flow: p.Flow, Atom: in.For, Symbol: in.Symbol, Kind: flow.ErrType,
					Text: fmt.Sprintf("the input %q is not a %v, as which atom %q requires it: %v; pass it with "+
						"engine.With(atom.NewKey[%[2]v](%[1]q), …)", in.Symbol, in.Type, in.For, err),
				})
			}
		}
		if !ok && !in.Optional {
			problems = append(problems, &flow.Problem{
				Flow: p.Flow, Atom: in.For, Symbol: in.Symbol, Kind: flow.ErrMissing,
				Text: "atom " + quote(in.For) + " requires " + quote(in.Symbol) +
					", and the run was not given it; pass it with engine.With" + meant(in.Symbol, others),
			})
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// decodes returns why a value cannot be decoded into a type. The type may have code that decodes it.
func decodes(v atom.Value, t reflect.Type) (err error) {
	if _, stored := atom.StoredListOf(v); stored { // its elements are read later
		return nil
	}
	if broke := guard.Call(func() { err = v.Decode(reflect.New(t).Interface()) }); broke != nil {
		return broke
	}
	return err
}

// GivenUp returns the number of calls that this engine has given up since New, in all runs. These are calls of
// atoms, and of languages, retry controllers or deciders, that continued after their context had ended, see
// [WithGrace].
func (e *Engine) GivenUp() int64 { return e.env.GivenUp.Load() }

// Memory returns how much memory the process uses now, and its budget.
func (e *Engine) Memory() Memory {
	level := e.env.Memory.Look(time.Now())
	return Memory{Used: level.Used, Budget: e.env.Memory.Budget, Exhausted: level.Exhausted}
}
