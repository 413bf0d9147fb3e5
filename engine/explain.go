package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Explain says for people how a run failed: the atoms that failed, with what
// they were given, and below each what came directly before it, and so on back.
// Secrets are masked. It returns "" for a run that has not failed, and an error
// wrapping [storage.ErrNotFound] when there is none of that id.
func (e *Engine) Explain(ctx context.Context, run string) (string, error) {
	return explain(ctx, e.store, e.plans, run)
}

// Explain is [Engine.Explain] for a caller that has a store and not the flow. Of a run
// of a compiled flow it shows what ended before an atom began, where with the
// flow it shows what the atom depended on, and what it was given.
func Explain(ctx context.Context, store storage.Reader, run string) (string, error) {
	return explain(ctx, store, nil, run)
}

func explain(ctx context.Context, store storage.Reader, plans []*flow.Plan, id string) (string, error) {
	run, err := store.Run(ctx, id)
	if err != nil {
		return "", wrapStore(id, err)
	}
	if run.State != states.FlowFailure && run.State != states.FlowReverted {
		return "", nil
	}
	x := explanation{run: &run, atoms: map[string]*storage.Atom{}}
	if x.list, err = store.Atoms(ctx, id, storage.AtomQuery{}); err != nil {
		return "", wrapStore(id, err)
	}
	for i := range x.list {
		x.atoms[x.list[i].Path] = &x.list[i]
	}
	for _, p := range plans {
		if p.Hash == run.Structure && !grows(p) {
			x.plan = p
		}
	}
	if x.plan != nil {
		err = x.fromPlan()
	} else {
		err = x.fromHistory(ctx, store)
	}
	if err != nil {
		return "", wrapStore(id, err)
	}
	return draw.Explain(x.trace()), nil
}

// An explanation is a trace in the making.
type explanation struct {
	run   *storage.Run
	list  []storage.Atom
	atoms map[string]*storage.Atom // by path

	before func(path string) []string // what came directly before it
	order  map[string]int             // rises with time, or along the plan
	last   string                     // what ended last, if it is known

	plan  *flow.Plan            // nil when only the history tells
	input map[string]atom.Value // with a plan

	steps map[string]bool // that are in the trace
}

func (x *explanation) trace() draw.Trace {
	t := draw.Trace{Title: fmt.Sprintf("why run %q of %s ended %v", x.run.ID, x.run.Flow, x.run.State), Roots: x.roots()}
	if f := x.run.Failure; f != nil && !slices.ContainsFunc(t.Roots, func(path string) bool {
		return same(f, x.atoms[path].Failure) || same(f, x.atoms[path].RevertFailure)
	}) {
		t.Why = f.Error()
	}
	x.steps = map[string]bool{}
	for _, path := range t.Roots {
		t.Steps = x.follow(t.Steps, path)
	}
	return t
}

// enough is how many steps are explained: more than a trace shows.
const enough = 1000

// follow appends the step at a path and those before it.
func (x *explanation) follow(steps []draw.TraceStep, path string) []draw.TraceStep {
	for work := []string{path}; len(work) > 0 && len(steps) < enough; {
		path, work = work[len(work)-1], work[:len(work)-1]
		a := x.atoms[path]
		if x.steps[path] || a == nil || a.Attempt == 0 {
			continue
		}
		x.steps[path] = true
		s := x.step(a)
		steps = append(steps, s)
		for _, before := range slices.Backward(s.Before) { // so that the first is followed first
			work = append(work, before)
		}
	}
	return steps
}

// roots returns the paths of what failed, the latest first: it may have failed
// because of what failed before it. A growing flow deals with the failures of
// its atoms; there it is the one that became the run's, or what ended last.
func (x *explanation) roots() []string {
	var paths []string
	deepest := ""
	for i := range x.list {
		a := &x.list[i]
		switch {
		case a.Path == flow.GrowingPath || a.Kind == storage.KindFlow:
		case a.State == states.TaskRevertFailure || a.Ended == storage.EndFailure && a.Failure != nil:
			paths = append(paths, a.Path)
		case x.run.Failure != nil && same(a.Failure, x.run.Failure) && (deepest == "" || x.order[a.Path] > x.order[deepest]):
			deepest = a.Path
		}
	}
	if deepest == "" && len(paths) == 0 {
		deepest = x.last
	}
	if deepest != "" {
		paths = append(paths, deepest)
	}
	slices.SortStableFunc(paths, func(a, b string) int { return x.order[b] - x.order[a] })
	return paths
}

// same reports whether two failures say the same, wherever they were.
func same(a, b *atom.Failure) bool {
	return a != nil && b != nil && a.Code == b.Code && a.Message == b.Message
}

func (x *explanation) step(a *storage.Atom) draw.TraceStep {
	s := draw.TraceStep{ID: a.Path, State: a.State.String(), Before: x.before(a.Path), In: x.given(a)}
	var notes []string
	if a.Attempt > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d", a.Attempt))
	}
	if took := a.EndedAt.Sub(a.StartedAt).Round(time.Millisecond); took > 0 && (a.State == states.TaskSuccess || a.State == states.TaskFailure) {
		notes = append(notes, "took "+took.String())
	}
	s.Note = strings.Join(notes, ", ")
	if f := a.Failure; f != nil && a.Ended != storage.EndValue {
		s.Why = append(s.Why, reason(f))
		s.Stack = f.Stack
	}
	if f := a.RevertFailure; f != nil {
		s.Why = append(s.Why, "could not be undone: "+reason(f))
		if s.Stack == "" {
			s.Stack = f.Stack
		}
	}
	if a.Ended == storage.EndValue && a.Result.Data != nil && a.Result.Data.String() != "null" {
		s.Out = x.run.Secrets.Mask(a.Path, a.Result.Data).String()
	}
	return s
}

// reason returns a failure without the atom it is shown at.
func reason(f *atom.Failure) string {
	bare := *f
	bare.Atom = ""
	return bare.Error()
}

// given returns what an atom was called with, masked: what is stored with a grown
// one, or what the plan says its arguments stand for now.
func (x *explanation) given(a *storage.Atom) []draw.TraceValue {
	secrets := &x.run.Secrets
	if x.plan == nil {
		if a.Input.Data == nil || a.Kind != storage.KindTask {
			return nil
		}
		return []draw.TraceValue{{Text: secrets.Mask("", a.Input.Data).String()}}
	}
	var in []draw.TraceValue
	i := x.plan.Index(a.Path)
	for _, arg := range x.plan.Atoms[i].Args() {
		v, ok := x.value(i, arg.Symbol)
		switch {
		case !ok && arg.Optional:
			continue
		case !ok:
			in = append(in, draw.TraceValue{Name: arg.Symbol, Text: "(no value)"})
		case slices.Contains(secrets.Symbols, arg.Symbol):
			in = append(in, draw.TraceValue{Name: arg.Symbol, Text: storage.Masked})
		default:
			in = append(in, draw.TraceValue{Name: arg.Symbol, Text: secrets.Mask("", v).String()})
		}
	}
	return in
}

// value returns what symbol stands for at an atom of the plan.
func (x *explanation) value(i int32, symbol string) (value atom.Value, ok bool) {
	if v, ok := x.plan.Atoms[i].Injected(symbol); ok {
		return v, true
	}
	if v, ok := x.input[symbol]; ok {
		return v, true
	}
	x.plan.Providers(i, symbol, func(from int32, part atom.Provide) bool {
		a := x.atoms[x.plan.Atoms[from].Name()]
		if a == nil || a.Ended != storage.EndValue || a.State == states.TaskIgnore {
			return true
		}
		value, ok = part.Of(a.Result.Data)
		return !ok
	})
	return value, ok
}

// fromPlan takes from the plan what came before what.
func (x *explanation) fromPlan() (err error) {
	x.input, err = symbolsOf(x.run.Input.Data)
	x.order = make(map[string]int, len(x.plan.Atoms))
	for i := range x.plan.Atoms {
		x.order[x.plan.Atoms[i].Name()] = i
	}
	x.before = func(path string) []string { return x.atomsBefore(x.plan.Atoms[x.order[path]].Node) }
	return err
}

// atomsBefore returns the atoms directly before a node of the plan.
func (x *explanation) atomsBefore(node int32) []string {
	var found []int32
	seen := map[int32]bool{}
	for work := slices.Clone(x.plan.Pred(node)); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if at := x.plan.Nodes[n].Atom; at >= 0 {
			found = append(found, at)
		} else {
			work = append(work, x.plan.Pred(n)...)
		}
	}
	slices.Sort(found)
	names := make([]string, len(found))
	for i, at := range found {
		names[i] = x.plan.Atoms[at].Name()
	}
	return names
}

// fromHistory takes from the history what came before what: what ended last, in
// the same flow, before it first began; for what began a branch, the fork.
func (x *explanation) fromHistory(ctx context.Context, store storage.Reader) error {
	history, err := store.History(ctx, x.run.ID, 0, 0)
	x.order = map[string]int{}
	before := map[string][]string{}
	x.before = func(path string) []string { return before[path] }
	last := map[string]string{} // what ended last, by the path of the flow
	for i := range history {
		e := &history[i]
		a := x.atoms[e.Path]
		if e.Kind != storage.EntryAtom || a == nil || a.Kind == storage.KindFlow || a.Path == flow.GrowingPath {
			continue
		}
		in := e.Path[:max(strings.LastIndexByte(e.Path, '/'), 0)]
		switch states.Task(e.To) {
		case states.TaskRunning:
			if _, begun := x.order[e.Path]; begun {
				continue
			}
			x.order[e.Path] = i
			if prev, ok := last[in]; ok {
				before[e.Path] = []string{prev}
			} else if open := strings.LastIndexByte(in, '['); open > 0 {
				before[e.Path] = []string{in[:open]}
			}
		case states.TaskSuccess, states.TaskFailure, states.TaskCancelled:
			last[in], x.last = e.Path, e.Path
		default:
		}
	}
	return err
}
