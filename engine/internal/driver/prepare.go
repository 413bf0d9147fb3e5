package driver

import (
	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/checkpoint"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
)

// prepare turns a command into a call.
func (d *Driver) prepare(cmd *scheduler.Command) *executor.Call {
	c := d.calls.NewCall()
	c.Atom, c.Node, c.Values, c.Detail = cmd.Atom, cmd.Node, cmd.Values, cmd.Detail
	c.Number, c.State, c.Missing = checkpoint.Number(&cmd.Rec), cmd.Rec.State, cmd.Missing
	c.About = atom.Call{
		Run: d.claim.Run, Incarnation: int(cmd.Rec.Incarnation), Attempt: int(cmd.Rec.Attempt),
		Revert: cmd.Op == scheduler.Revert, Fence: d.claim.Fence, Trace: d.trace,
	}
	if cmd.Node == nil {
		a := &d.plan.Atoms[cmd.Atom]
		c.About.Path, c.Timeout = a.Name(), a.Timeout()
		if c.About.Revert {
			c.Timeout, c.About.Attempt = a.RevertPolicy().Timeout, int(cmd.Rec.RevertAttempt())+1
		}
		c.SetBody(a.Body())
		return c
	}
	spec := &cmd.Node.Spec
	name := spec.Task
	c.About.Path, c.Timeout = cmd.Node.Path, spec.Timeout
	if c.About.Revert {
		name = spec.Undo.Task
		c.Timeout, c.About.Attempt = spec.Undo.Policy.Timeout, int(cmd.Rec.RevertAttempt())+1
	}
	body, err := d.task(name)
	if err == nil && c.About.Revert {
		d.askUndo(cmd, c)
	}
	if err != nil {
		c.Missing = atom.NewFailure(c.About.Path, c.About.Attempt, err)
		if c.Missing.Code == atom.CodeError {
			c.Missing.Code = atom.CodeNoTask
		}
	}
	c.SetBody(body)
	return c
}

func (d *Driver) task(name string) (atom.Body, error) {
	if d.tasks == nil {
		return nil, atom.Errorf(atom.CodeNoTask, "no task is registered as %q; give the engine its tasks with engine.WithTasks", name)
	}
	return d.tasks.Task(name)
}
