package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Explain describes for people how a run failed. It lists the atoms that failed, with their arguments. Below each
// atom are the atoms directly before it, and so on. Secrets are masked. If the run has not failed, Explain returns
// "".
//
// If the run started on one of the plans, such as that of [engine.Engine.Plan], the plan determines which atoms
// come before an atom. Without its plan, or for a growing flow, they are the atoms that ended last before the atom
// started, by the history.
//
// If the run does not exist, the error wraps [storage.ErrNotFound]. Other errors are those of the store.
func Explain(ctx context.Context, store backend.Reader, id string, plans ...*flow.Plan) (string, error) {
	run, err := store.Run(ctx, id)
	if err != nil {
		return "", err
	}
	if run.State != states.FlowFailure && run.State != states.FlowReverted {
		return "", nil
	}
	x := explanation{ctx: ctx, store: store, run: &run, atoms: map[string]*storage.Atom{}}
	for _, p := range plans {
		if p.Hash == run.Structure && !p.Grows() {
			x.plan = p
		}
	}
	if x.plan != nil {
		err = x.fromPlan()
	} else {
		err = x.fromHistory()
	}
	if err != nil {
		return "", err
	}
	t, err := x.trace()
	return draw.Explain(t), err
}

// An explanation is an incomplete trace.
type explanation struct {
	ctx   context.Context // context of Explain
	store backend.Reader
	run   *storage.Run
	atoms map[string]*storage.Atom // atoms that were read, by path; nil for an atom that does not exist

	before func(path string) []string // returns the atoms directly before it
	order  map[string]int             // rises with time, or along the plan
	last   string                     // the atom that ended last, if known

	plan  *flow.Plan            // nil if only the history is available
	input map[string]atom.Value // with a plan

	steps map[string]bool // that are in the trace
}

func (x *explanation) trace() (draw.Trace, error) {
	t := draw.Trace{Title: fmt.Sprintf("why run %q of %s ended %v", x.run.ID, x.run.Flow, x.run.State)}
	roots, told, err := x.roots()
	if err != nil {
		return t, err
	}
	t.Roots = roots
	if f := x.run.Failure; f != nil && !told {
		t.Why = f.Error()
	}
	x.steps = map[string]bool{}
	for _, path := range t.Roots {
		if t.Steps, err = x.follow(t.Steps, path); err != nil {
			return t, err
		}
	}
	return t, nil
}

// enough bounds the number of steps that are explained, and of failures that are considered. It is more than a
// trace shows.
const enough = 100

// atom reads the atom at a path; nil if it does not exist.
func (x *explanation) atom(path string) (*storage.Atom, error) {
	if a, known := x.atoms[path]; known {
		return a, nil
	}
	found, err := x.store.AtomsAt(x.ctx, x.run.ID, path)
	if err != nil {
		return nil, err
	}
	var a *storage.Atom
	if len(found) > 0 {
		a = &found[0]
	}
	x.atoms[path] = a
	return a, nil
}

// follow appends the step at a path and those before it.
func (x *explanation) follow(steps []draw.TraceStep, path string) ([]draw.TraceStep, error) {
	for work := []string{path}; len(work) > 0 && len(steps) < enough; {
		path, work = work[len(work)-1], work[:len(work)-1]
		if x.steps[path] {
			continue
		}
		a, err := x.atom(path)
		if err != nil {
			return nil, err
		}
		if a == nil || a.Attempt == 0 {
			continue
		}
		x.steps[path] = true
		s, err := x.step(a)
		if err != nil {
			return nil, err
		}
		if steps = append(steps, s); x.plan == nil { // with one, others may have been given its value
			delete(x.atoms, path)
		}
		for _, before := range slices.Backward(s.Before) { // so that the first is followed first
			work = append(work, before)
		}
	}
	return steps, nil
}

// A root is an atom that failed.
type root struct {
	path  string
	order int
	told  bool // it failed as the run did
}

// roots returns the paths of the atoms that failed, latest first: a later failure may be caused by an earlier one. The
// language of a growing flow handles failures of its atoms. There, the root is the failure that became the run's, or
// else the atom that ended last. roots also reports whether one of them failed as the run did.
func (x *explanation) roots() (paths []string, told bool, err error) {
	var list []root
	var deepest *root
	for a, err := range storage.EachAtom(x.ctx, x.store, x.run.ID, storage.AtomQuery{}) {
		if err != nil {
			return nil, false, err
		}
		is := same(a.Failure, x.run.Failure)
		r := root{a.Path, x.order[a.Path], is || same(a.RevertFailure, x.run.Failure)}
		switch {
		case a.Path == flow.GrowingPath || a.Kind == storage.KindFlow:
		case a.State == states.TaskRevertFailure || a.Ended == grow.EndFailure && a.Failure != nil:
			if list = append(list, r); len(list) > enough {
				list = latest(list)[:enough/2]
			}
		case is && (deepest == nil || r.order > deepest.order):
			deepest = &r
		}
	}
	if deepest == nil && len(list) == 0 && x.last != "" {
		deepest = &root{path: x.last, order: x.order[x.last]}
	}
	if deepest != nil {
		list = append(list, *deepest)
	}
	for _, r := range latest(list) {
		paths, told = append(paths, r.path), told || r.told
	}
	return paths, told, nil
}

// latest sorts roots, the latest first.
func latest(list []root) []root {
	slices.SortStableFunc(list, func(a, b root) int { return b.order - a.order })
	return list
}

// same reports whether two failures are equal, apart from where they occurred.
func same(a, b *atom.Failure) bool {
	return a != nil && b != nil && a.Code == b.Code && a.Message == b.Message
}

func (x *explanation) step(a *storage.Atom) (draw.TraceStep, error) {
	in, err := x.given(a)
	s := draw.TraceStep{ID: a.Path, State: string(a.Status()), Before: x.before(a.Path), In: in}
	if a.Attempt > 1 { // show and history say how long it took
		s.Note = fmt.Sprintf("attempt %d", a.Attempt)
	}
	if f := a.Failure; f != nil && a.Ended != grow.EndValue {
		s.Why = append(s.Why, reason(f))
		s.Stack = f.Stack
	}
	if f := a.RevertFailure; f != nil {
		s.Why = append(s.Why, "could not be undone: "+reason(f))
		if s.Stack == "" {
			s.Stack = f.Stack
		}
	}
	// The result of a fork is a note of its language.
	if a.Ended == grow.EndValue && a.Kind != storage.KindFork && a.Result.Data != nil && a.Result.Data.String() != "null" {
		s.Out = shortened(x.run.Secrets.Mask(a.Path, a.Result.Data))
	}
	return s, err
}

// shortened returns the beginning of a value as text: more of it than a trace shows.
func shortened(v atom.Value) string {
	const most = 4 << 10
	text := v.String()
	return strings.Clone(text[:min(len(text), most)])
}

// reason returns the text of a failure without the atom at which it is shown.
func reason(f *atom.Failure) string {
	bare := *f
	bare.Atom = ""
	return bare.Error()
}

// given returns the arguments of an atom, masked: the stored input of a grown atom, or the current values of the
// plan's arguments.
func (x *explanation) given(a *storage.Atom) (in []draw.TraceValue, err error) {
	secrets := &x.run.Secrets
	if x.plan == nil {
		if a.Input.Data == nil || a.Kind != storage.KindTask {
			return nil, nil
		}
		return []draw.TraceValue{{Text: shortened(secrets.Mask("", a.Input.Data))}}, nil
	}
	i := x.plan.Index(a.Path)
	for _, arg := range x.plan.Atoms[i].Args() {
		v, ok, err := x.value(i, arg.Symbol)
		switch {
		case err != nil:
			return nil, err
		case !ok && arg.Optional:
			continue
		case !ok:
			in = append(in, draw.TraceValue{Name: arg.Symbol, Text: "(no value)"})
		case slices.Contains(secrets.Symbols, arg.Symbol):
			in = append(in, draw.TraceValue{Name: arg.Symbol, Text: storage.Masked})
		default:
			in = append(in, draw.TraceValue{Name: arg.Symbol, Text: shortened(secrets.Mask("", v))})
		}
	}
	return in, nil
}

// value returns the value of a symbol at an atom of the plan.
func (x *explanation) value(i int32, symbol string) (value atom.Value, ok bool, err error) {
	if v, ok := x.plan.Atoms[i].Injected(symbol); ok {
		return v, true, nil
	}
	if v, ok := x.input[symbol]; ok {
		return v, true, nil
	}
	x.plan.Providers(i, symbol, func(from int32, part atom.Provide) bool {
		a, failed := x.atom(x.plan.Atoms[from].Name())
		if failed != nil {
			err = failed
			return false
		}
		if a == nil || a.Ended != grow.EndValue || a.State == states.TaskIgnore {
			return true
		}
		value, ok = part.Of(a.Result.Data)
		return !ok
	})
	return value, ok, err
}
