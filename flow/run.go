package flow

import (
	"context"
	"errors"
	"reflect"

	"github.com/ebbflow/ebb/atom"
)

// A RunFlow is a node that begins a run of another flow, see [Run].
type RunFlow struct {
	self     *atom.Atom
	child    Node
	detached bool
}

// Run returns a node that begins a run of another flow, and ends as that run does. The fields of In are the symbols
// that the node requires, and the input of the run. The fields of Out are symbols that the child provides at its end.
// The node provides them, too. If the child is a [GrowingFlow], In is its whole input, and Out its output. Options set
// names, as those of atom.Task do: atom.As, atom.From, atom.Rebind.
//
// The id of the run is that of the parent, a slash and the name of the node. The parent waits for the child. If the
// parent undoes the node, it undoes the whole run of the child. If the child fails, the node fails with the same
// failure, and the child has undone itself.
//
// [Compile] reports inputs of the child that In lacks, and fields of Out that the child does not provide.
func Run[In, Out any](name string, child Node, opts ...atom.Option) *RunFlow {
	self := atom.Pair(name, func(context.Context, In) (out Out, err error) { return out, errNotCalled },
		func(context.Context, In, atom.Outcome[Out]) error { return errNotCalled }, opts...)
	return &RunFlow{self: self, child: child}
}

// errNotCalled says that the engine begins a run instead of calling a body.
var errNotCalled = errors.New("flow: this node begins a run and cannot be called")

// Detached makes the parent neither wait for the child nor undo it. The result of the node is the id of the run, so Out
// must be string. Only a server drives the run, see engine.Engine.Serve.
func (f *RunFlow) Detached() *RunFlow { f.detached = true; return f }

// Name returns the node's name.
func (f *RunFlow) Name() string { return f.self.Name() }

// String returns the name of the node.
func (f *RunFlow) String() string { return f.Name() }

func (f *RunFlow) isFlow() {}

// nested implements nesting.
func (f *RunFlow) nested(c *compiler) (*atom.Atom, *PlanRun) {
	c.refuseCall(f.self)
	plan := c.inner(f.Name(), f.child, typesOf(f.self.Args()), false)
	if plan == nil {
		return f.self, nil
	}
	run := &PlanRun{Plan: plan, Detached: f.detached, Reverts: !f.detached && plan.reverts(), Stays: f.detached ||
		plan.stays()}
	switch {
	case f.detached && f.self.ResultType().Kind() != reflect.String:
		c.problemf(c.plan.Flow, f.Name(), "", ErrType,
			"node %q is detached, so its result is the id of the run; its Out must be "+
				"string, not %v", f.Name(), f.self.ResultType())
	case !f.detached && !plan.grows():
		c.checkOutputs(f, plan)
	}
	return f.self, run
}

// checkOutputs reports fields of Out that the child does not provide.
func (c *compiler) checkOutputs(f *RunFlow, plan *Plan) {
	outs, isStruct := membersOf(f.self.ResultType())
	if !isStruct {
		c.problemf(c.plan.Flow, f.Name(), "", ErrType,
			"node %q takes %v from the run of flow %q, whose output is an object; use a "+
				"struct with a field for each symbol that you need", f.Name(), f.self.ResultType(), plan.Flow)
		return
	}
	for _, out := range outs {
		list := plan.providers[out.Symbol]
		if len(list) == 0 {
			c.problemf(c.plan.Flow, f.Name(), out.Symbol, ErrMissing,
				"node %q takes %q from the run of flow %q, which does not provide "+
					"it%s", f.Name(), out.Symbol, plan.Flow, didYouMean(out.Symbol, plan.symbols()))
			continue
		}
		from := plan.Atoms[list[0].atom]
		if typ := from.Provides()[list[0].part].Type; !fits(typ, out.Type) {
			c.problemf(c.plan.Flow, f.Name(), out.Symbol, ErrType,
				"node %q takes %q as %v from the run of flow %q, but atom %q provides "+
					"it as %v", f.Name(), out.Symbol, out.Type, plan.Flow, from.Name(), typ)
		}
	}
}
