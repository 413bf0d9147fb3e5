package driver

import (
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// refuseReopen returns why a run of a growing flow that has ended cannot be reopened, as its language and its
// records say.
func (r *run) refuseReopen(cmd *inbox.Command) error {
	if len(cmd.Input) > 0 {
		return errors.New("a run of a language keeps its input when it is retried; start another run with the new input")
	}
	reopener, ok := r.plan.Atoms[0].Language.(grow.Reopener)
	if !ok {
		return fmt.Errorf("the language of the flow %q cannot continue a run that has ended; start another run", r.about.Flow)
	}
	if err := reopener.Reopens(&r.about); err != nil {
		return err
	}
	records, err := r.openAtEnd()
	if err != nil {
		return err
	}
	for i := range records {
		if err := r.refuseChild(&records[i]); err != nil {
			return err
		}
	}
	return nil
}

// refuseChild returns an error if the child run of a node is still ending. Its end must not be taken for the end of
// the reopened node.
func (r *run) refuseChild(l *scheduler.Loaded) error {
	if l.Spec == nil || l.Spec.Kind != grow.Nested || l.Spec.Child == nil || l.Spec.Child.Detached {
		return nil
	}
	id := backend.ChildID(r.Claim.Run, l.Path, int(l.Rec.Incarnation), int(l.Rec.Attempt), l.Spec.Child)
	child, err := r.env.Store.Run(r.storing, id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return r.Wrap(err)
	case child.Parent == r.Claim.Run && !child.State.Ended():
		return fmt.Errorf("run %q, which it had begun, is still ending; retry when that run has ended", id)
	default:
		return nil
	}
}

// openAtEnd reads the nodes that were open when a run of a growing flow ended. Of forks, it also reads the children
// and what was open in them.
func (r *run) openAtEnd() ([]scheduler.Loaded, error) {
	type ended struct {
		path string
		rec  *scheduler.Record
	}
	var records []scheduler.Loaded
	for flows := []ended{{"", &r.s.Unit(0).Rec}}; len(flows) > 0; flows = flows[1:] {
		names, _, err := scheduler.OpenAtEnd(flows[0].rec)
		if err != nil {
			return nil, err
		}
		paths := make([]string, len(names))
		for i, name := range names {
			paths[i] = (&scheduler.Scope{Path: flows[0].path}).Inside(name)
		}
		nodes, err := r.nodesAt(paths)
		if err != nil {
			return nil, err
		}
		for i := range nodes {
			records = append(records, nodes[i])
			if nodes[i].Spec.Group == nil {
				continue
			}
			children := len(records)
			if records, err = r.loadEnded(&nodes[i], records); errors.Is(err, ErrStopped) {
				return nil, err
			} else if err != nil {
				return nil, r.Wrap(err)
			}
			for i := range records[children:] {
				if c := &records[children+i]; c.Rec.State != states.TaskSuccess {
					rec := c.Rec
					flows = append(flows, ended{c.Path, &rec})
				}
			}
		}
	}
	return records, nil
}

// reopen continues the run of a unit that was reopened, in the commit that begins the unit. The run exists.
func (c *children) reopen(u *scheduler.Unit, child *storage.Run) error {
	switch {
	case child.State == states.FlowSuccess:
		c.succeeded(u, child)
		return nil
	case child.State.Ended():
		l, err := (&inbox.Command{Kind: inbox.Retry}).Message(child.ID)
		if err != nil {
			return err
		}
		c.Draft.Send(l)
	default: // another party has reopened it
	}
	c.reportBegun(u, child.ID)
	c.open.AwaitRun(child.ID, u)
	if c.env.Runs.Drives(child.Flow) {
		c.begun = append(c.begun, childRun{id: child.ID})
	}
	return nil
}

// succeeded ends a unit whose run has succeeded.
func (c *children) succeeded(u *scheduler.Unit, child *storage.Run) {
	ev := u.Ended()
	ev.RunEnd, ev.Result = grow.RunSucceeded, c.Draft.Held(child.Output)
	c.ends.list = append(c.ends.list, ev)
}
