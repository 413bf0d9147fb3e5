package driver

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// messageContinued is the kind of the message with which a child run tells its parent that another run continues it.
// Name is the id of the child run, Body that of its successor.
const messageContinued = "continued"

// refuseSuccessor returns why the run that an answer names cannot continue this run.
func (r *run) refuseSuccessor(end *flow.End) (*atom.Failure, error) {
	child := end.Successor
	refuse := func(code, why string) (*atom.Failure, error) {
		return &atom.Failure{Code: code, Message: "the run cannot be continued: " + why}, nil
	}
	switch {
	case end.Failure != nil:
		return refuse(atom.CodeLanguage, "its language also lets it fail")
	case child.Key != "" && child.Key != r.about.Key:
		return refuse(atom.CodeLanguage, fmt.Sprintf("its successor has another key, %q", child.Key))
	}
	id := r.successorID(child)
	_, err := r.env.Store.Run(r.storing, id)
	switch {
	case err == nil || id == r.claim.Run:
		return refuse(atom.CodeRunExists, fmt.Sprintf("run %q exists already", id))
	case !errors.Is(err, storage.ErrNotFound):
		return nil, WrapStore(r.claim.Run, err)
	}
	_, failed, err := r.prepareRun(id, child, nil)
	return failed, err
}

// successorID returns the id of the run that continues this run: the id of the first run, and a number.
func (r *run) successorID(child *flow.Child) string {
	if child.ID != "" {
		return child.ID
	}
	base, n := r.claim.Run, 1
	if at := strings.LastIndexByte(base, '~'); at > 0 && r.about.Continues != "" {
		if had, err := strconv.Atoi(base[at+1:]); err == nil && had > 0 {
			base, n = base[:at], had
		}
	}
	if id := base + "~" + strconv.Itoa(n+1); len(id) <= storage.MaxID {
		return id
	}
	return uuid.NewString()
}

// succeed creates the run that continues this run, in the commit that ends this run. If it cannot be prepared any more,
// because its flow is no longer known, the commit must not be made.
func (c *children) succeed(child *flow.Child) error {
	id := c.successorID(child)
	run, failed, err := c.prepareRun(id, child, nil)
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

// Late takes in the messages that arrived for a run when it had ended, and returns the others. It returns a message
// that has a receipt to its sender. If another run continues the run, Late passes a request to cancel to that run: the
// parent may have sent it before it heard of the successor. If no command follows, the caller must call ReleaseEnded.
func (d *Driver) Late(run *storage.Run, messages []storage.Message) (rest []storage.Message, any bool) {
	for i := range messages {
		l := &messages[i]
		switch {
		case l.Receipt != "":
			d.next.Send(l.Returned("the run had ended"))
		case l.Kind == inbox.Cancel && run.Outcome == storage.Continued:
			forward := *l
			forward.N = 0
			if err := run.Output.Data.Decode(&forward.Run); err != nil {
				rest = append(rest, *l)
				continue
			}
			d.next.Send(forward)
		default:
			rest = append(rest, *l)
			continue
		}
		d.next.Take(l.N)
		any = true
	}
	return rest, any
}

// ReleaseEnded commits what Late has taken in, and releases the run.
func (d *Driver) ReleaseEnded(run *storage.Run) error {
	h := &d.next.Head
	h.Ended, h.Hold, h.Release, h.Wakeups = run.Ended, run.Hold, true, d.box.wakeups
	return d.flush()
}
