package driver

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// messageContinued is the kind of the message with which a child run tells its parent that another run continues it.
// Name is the id of the child run, Body that of its successor.
const messageContinued = "continued"

// succeed creates the run that continues this run, in the commit that ends this run. If it cannot be prepared any more,
// because its flow is no longer known, the commit must not be made.
func (c *children) succeed(child *flow.Child) error {
	id := newRuns{run: c.run}.successorID(child)
	run, failed, err := newRuns{run: c.run}.prepare(id, child, nil)
	if err != nil {
		return err
	}
	if failed != nil {
		return WrapStore(c.claim.Run, fmt.Errorf("create the run that continues it: %w", failed))
	}
	run.Parent, run.Root, run.Depth, run.Continues = c.family.parent, c.family.root, c.family.depth, c.claim.Run
	c.next.Create(run)
	h := &c.next.Head
	h.Outcome, h.Output = storage.Continued, storage.Held{Data: atom.MustEncode(id)}
	return nil
}

// continueFirst takes in which runs were continued, from the messages of a loaded run, and returns the other messages.
// It comes before rejoin: a run that was continued may have been purged.
func (c *children) continueFirst(messages []storage.Message) (rest []storage.Message, err error) {
	isContinued := func(l storage.Message) bool { return l.Kind == messageContinued }
	if !slices.ContainsFunc(messages, isContinued) {
		return messages, nil
	}
	for i := range messages {
		if !isContinued(messages[i]) {
			rest = append(rest, messages[i])
		} else if _, _, err := c.follow(&messages[i]); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// childContinued makes the origin of a child run wait for the run that continues it.
func (c *children) childContinued(l *storage.Message) error {
	o, id, err := c.follow(l)
	switch {
	case err != nil || id == "":
		return err
	case c.reverting(o):
		return c.undoChild(o)
	case c.env.Runs.Drives(c.childOf(o).Flow):
		c.begun = append(c.begun, childRun{id: id})
	}
	return nil
}

// follow records in the record of the origin which run continues its child run. It returns the id of that run, or ""
// if nothing waits for the child run.
func (c *children) follow(l *storage.Message) (o origin, id string, err error) {
	c.next.Take(l.N)
	o, known := c.byID[l.Name]
	if !known {
		return o, "", nil
	}
	if err := l.Body.Decode(&id); err != nil {
		return o, "", WrapStore(c.claim.Run, fmt.Errorf("%w: the message about the successor of run %q: %w",
			storage.ErrCorrupt, l.Name, err))
	}
	delete(c.byID, l.Name)
	c.byID[id] = o
	rec := c.recordOf(o)
	c.next.Continue(o.node, o.atom, rec, id)
	c.next.Record(&scheduler.Command{Op: scheduler.Write, Atom: o.atom, Node: o.node, Rec: *rec})
	return o, id, nil
}

// errContinued returns the reason why a run that another run continues takes no command.
func errContinued(run *storage.Run) error {
	var id string
	_ = run.Output.Data.Decode(&id)
	return fmt.Errorf("it has ended, and run %q continues its work; send the command to that run", id)
}
