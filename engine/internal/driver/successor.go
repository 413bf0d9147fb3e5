package driver

import (
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/attempts"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// messageContinued is the kind of the message with which a child run tells its parent that another run continues it.
// Name is the id of the child run, Body that of its successor.
const messageContinued = "continued"

// succeed creates the run that continues this run, in the commit that ends this run. If it cannot be prepared any more,
// because its flow is no longer known, the commit must not be made.
func (c *children) succeed(child *grow.Child) error {
	id := c.successorID(child)
	run, failed, err := c.prepareRun(id, "", "", child, nil)
	if err != nil {
		return err
	}
	if failed != nil {
		return c.Wrap(fmt.Errorf("create the run that continues it: %w", failed))
	}
	run.Parent, run.Root, run.Depth, run.Continues = c.family.parent, c.family.root, c.family.depth, c.Claim.Run
	c.Draft.Create(run)
	h := &c.Draft.Head
	h.Outcome, h.Output = storage.Continued, storage.Held{Data: atom.MustEncode(id)}
	return nil
}

// continueFirst takes in which runs were continued, from the messages of a loaded run, and returns the other messages.
// It comes before rejoin: a run that was continued may have been purged.
func (c *children) continueFirst(messages []storage.Message) (rest []storage.Message, err error) {
	isContinued := func(m storage.Message) bool { return m.Kind == messageContinued }
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

// childContinued makes the unit of a child run wait for the run that continues it.
func (c *children) childContinued(m *storage.Message) error {
	u, id, err := c.follow(m)
	switch {
	case err != nil || id == "":
		return err
	case attempts.IsUndone(u):
		return c.undoChild(u)
	case c.env.Runs.Drives(attempts.ChildOf(u).Flow):
		c.begun = append(c.begun, childRun{id: id})
	}
	return nil
}

// follow records in the record of the unit which run continues its child run. It returns the id of that run, or ""
// if nothing waits for the child run.
func (c *children) follow(m *storage.Message) (u *scheduler.Unit, id string, err error) {
	c.Draft.Take(m.N)
	if u = c.open.ParentOf(m.Name); u == nil {
		return u, "", nil
	}
	if err := m.Body.Decode(&id); err != nil {
		return u, "", c.Wrap(fmt.Errorf("%w: the message about the successor of run %q: %w",
			storage.ErrCorrupt, m.Name, err))
	}
	c.open.DropRun(m.Name)
	c.open.AwaitRun(id, u)
	c.Draft.Continue(u, id)
	c.Draft.Record(&scheduler.Command{Op: scheduler.Write, Unit: u, Rec: u.Rec})
	return u, id, nil
}

// errContinued returns the reason why a run that another run continues takes no command.
func errContinued(run *storage.Run) error {
	var id string
	_ = run.Output.Data.Decode(&id)
	return fmt.Errorf("it has ended, and run %q continues its work; send the command to that run", id)
}
