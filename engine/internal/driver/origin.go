package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// BegunBy returns the id of the run that a stored atom of a run has begun, or of the run that continues it. It returns
// "" if the atom has begun none. It also returns whether the atom waits for the end of that run.
func BegunBy(run string, a *storage.Atom) (id string, awaited bool) {
	var spec flow.Spec
	switch {
	case a.Kind != storage.KindRun || a.Spec.Decode(&spec) != nil || a.Spec != nil && spec.Child == nil:
		return "", false
	case a.Successor != "":
		id = a.Successor
	case a.Spec == nil:
		id = plannedChildID(run, a.Path, a.Incarnation, a.Attempt)
	default:
		id = childID(run, a.Path, a.Incarnation, a.Attempt, spec.Child)
	}
	open := a.State == states.TaskRunning || a.State == states.TaskReverting
	return id, open && (spec.Child == nil || !spec.Child.Detached)
}

// An origin is the owner of a child run: a grown node, or an atom of the plan.
type origin struct {
	node *scheduler.Node
	atom int32 // -1 if it is a node
}

func originOf(cmd *scheduler.Command) origin { return origin{cmd.Node, cmd.Atom} }

// completed returns the event for the end of the origin, without how it ended.
func (o origin) completed() scheduler.Event {
	return scheduler.Event{Kind: scheduler.Completed, Atom: o.atom, Node: o.node}
}

// undone returns the event for the end of the undo of the origin, or for what AwaitRun asks about it.
func (o origin) undone() scheduler.Event {
	if o.node != nil && o.node.AwaitsRun() {
		return scheduler.Event{Kind: scheduler.RunKnown, Atom: -1, Node: o.node, Revert: true}
	}
	ev := o.completed()
	ev.Revert, ev.Result = true, atom.Null
	return ev
}

// origins yields all that may belong to a child run: the open nodes that begin runs, and the atoms of the plan
// that do.
func (c *children) origins(yield func(origin) bool) {
	for n := range c.s.Open {
		if n.Spec.Kind == flow.Nested && !yield(origin{n, -1}) {
			return
		}
	}
	for i := range c.plan.Atoms {
		if c.plan.Atoms[i].Run != nil && !yield(origin{nil, int32(i)}) {
			return
		}
	}
}

func (c *children) recordOf(o origin) *scheduler.Record {
	if o.node != nil {
		return &o.node.Rec
	}
	return c.s.Record(o.atom)
}

func (c *children) pathOf(o origin) string {
	if o.node != nil {
		return o.node.Path
	}
	return c.plan.Atoms[o.atom].Name()
}

// idOf returns the id of the run of the present attempt: the one that it begins, or the run that continues that one.
func (c *children) idOf(o origin) string {
	if id := c.next.Successor(o.node, o.atom, c.recordOf(o)); id != "" {
		return id
	}
	if n := o.node; n != nil {
		return childID(c.claim.Run, n.Path, int(n.Rec.Incarnation), int(n.Rec.Attempt), n.Spec.Child)
	}
	r := c.s.Record(o.atom)
	return plannedChildID(c.claim.Run, c.pathOf(o), int(r.Incarnation), int(r.Attempt))
}

// childOf returns which run the origin begins.
func (c *children) childOf(o origin) *flow.Child {
	if o.node != nil {
		return o.node.Spec.Child
	}
	run := c.plan.Atoms[o.atom].Run
	return &flow.Child{Flow: run.Plan.Flow, Structure: run.Plan.Hash, Detached: run.Detached}
}

// awaits reports whether the origin waits for the end of its run.
func (c *children) awaits(o origin) bool { return c.recordOf(o).Awaits() }

// reverting reports whether the origin is being undone, or waits for what its run has done.
func (c *children) reverting(o origin) bool {
	return c.recordOf(o).State == states.TaskReverting || o.node != nil && o.node.AwaitsRun()
}

// undoes reports whether the run is undone when its origin is.
func (c *children) undoes(o origin) bool {
	if o.node != nil {
		return o.node.Spec.Reverts()
	}
	return c.plan.Atoms[o.atom].Reverts()
}
