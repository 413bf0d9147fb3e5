package flow

import (
	"context"
	"reflect"
	"slices"
	"strconv"

	"github.com/ebbflow/ebb/atom"
)

// nesting is a node that begins a run of another flow: [RunFlow] and [EachFlow].
type nesting interface {
	Flow
	// nested returns the atom that stands for the node in the plan, and which run it begins; nil after a problem.
	nested(c *compiler) (*atom.Atom, *PlanRun)
}

// A PlanRun is the run that an atom of a [Plan] begins, see [Run] and [Each]. No body is called for such an atom.
type PlanRun struct {
	Plan     *Plan // of the flow of that run
	Detached bool  // the run is neither awaited nor undone
	Reverts  bool  // something in the run can be undone
	Stays    bool  // nothing in the run can be undone, and something in it may have an effect

	Items string     // of an Each: the symbol of the list; "" for a Run
	Task  *atom.Atom // of an Each whose body is an atom: the body; else nil
	Body  *Plan      // of an Each whose body is a flow: the plan of the body; else nil
}

// Reverts reports whether undoing the atom does anything.
func (a *PlanAtom) Reverts() bool {
	if a.Run != nil {
		return a.Run.Reverts
	}
	return a.Atom.Reverts()
}

// StaysDone reports whether what the atom does stays done when the run is undone. If something in the run that it
// begins can be undone, that run says itself what stays.
func (a *PlanAtom) StaysDone() bool {
	if a.Run != nil {
		return a.Run.Stays
	}
	return a.Atom.StaysDone()
}

// stays reports whether a run of the plan has nothing that can be undone, and something that may have an effect.
func (p *Plan) stays() bool {
	if p.reverts() {
		return false
	}
	return slices.ContainsFunc(p.Atoms, func(a PlanAtom) bool { return a.StaysDone() })
}

// reverts reports whether undoing a run of the plan does anything.
func (p *Plan) reverts() bool {
	for i := range p.Atoms {
		if a := &p.Atoms[i]; a.Kind() == atom.KindTask && a.Reverts() {
			return true
		}
	}
	return false
}

func (p *Plan) grows() bool { return len(p.Atoms) == 1 && p.Atoms[0].Language != nil }

// symbols returns all symbols that atoms of the plan provide, sorted.
func (p *Plan) symbols() []string {
	list := slices.Collect(p.Symbols)
	slices.Sort(list)
	return list
}

// inner compiles the flow of the runs that a node begins. Its problems are those of c.
func (c *compiler) inner(name string, root Node, inputs map[string]reflect.Type, open bool) *Plan {
	if isNil(root) {
		c.problemf(c.plan.Flow, name, "", ErrInvalid, "node %q has no flow to run", name)
		return nil
	}
	around := append(slices.Clip(c.around), c.root)
	if slices.Contains(around, root) {
		c.problemf(c.plan.Flow, name, "", ErrCycle, "node %q runs flow %q, which is around it; such a run would never end",
			name, root.Name())
		return nil
	}
	var plan *Plan
	var problems Problems
	if open {
		plan, problems = compileOpen(root, inputs, around, true)
	} else {
		plan, problems = compileIn(root, inputs, around, false)
	}
	for _, p := range problems {
		inside := *p
		inside.Text = "in the flow that node " + strconv.Quote(name) + " runs: " + p.Text
		c.problems = append(c.problems, &inside)
	}
	if len(problems) > 0 {
		return nil
	}
	for _, w := range plan.Warnings {
		if !slices.Contains(c.plan.Warnings, w) {
			c.plan.Warnings = append(c.plan.Warnings, w)
		}
	}
	for _, p := range append([]*Plan{plan}, plan.Children...) {
		if !slices.ContainsFunc(c.plan.Children, func(q *Plan) bool { return q.Flow == p.Flow && q.Hash == p.Hash }) {
			c.plan.Children = append(c.plan.Children, p)
		}
	}
	return plan
}

// refuseCall reports options of a node that say something about a call, as none is made.
func (c *compiler) refuseCall(a *atom.Atom) {
	refuse := func(set bool, option, instead string) {
		if set {
			c.problemf(c.plan.Flow, a.Name(), "", ErrInvalid, "node %q begins a run, so atom.%s would have no effect; %s",
				a.Name(), option, instead)
		}
	}
	refuse(a.Timeout() > 0, "Timeout", "give the flow that it runs a deadline")
	refuse(a.Deferral() != nil, "Deferrable", "let an atom of the flow that it runs be deferrable")
	refuse(a.RevertPolicy() != (atom.RevertPolicy{}), "RevertAttempts, RevertTimeout or IfRevertFails",
		"set it on the atoms of the flow that it runs")
}

// typesOf returns the types of arguments by their names.
func typesOf(args []atom.Arg) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, a := range args {
		types[a.Name] = a.Type
	}
	return types
}

// membersOf returns the members of the encoded struct type, and whether it is one.
func membersOf(t reflect.Type) ([]atom.Provide, bool) {
	if t == nil || t.Kind() != reflect.Struct || shape(t) != objectShape {
		return nil, false
	}
	return atom.Members(t), true
}

// selfBody is the body of an atom that stands for a node. The engine does not call it.
type selfBody struct {
	requires []atom.Arg
	provides []atom.Provide
}

// Signature says what the node requires and provides.
func (b selfBody) Signature() ([]atom.Arg, []atom.Provide) { return b.requires, b.provides }

// Execute is not called.
func (selfBody) Execute(context.Context, atom.Values) (atom.Value, error) { return nil, errNotCalled }

// Revert is not called.
func (selfBody) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return nil, errNotCalled
}

// Reverts is asked of the plan instead.
func (selfBody) Reverts() bool { return true }
