package driver

import (
	"encoding/json"
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/executor"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/tasktoken"
)

// The driver does not make a call that is work for workers, see [atom.Queued]. Instead the call has a token in a
// queue. The driver stores the token with the start of the call. This holds for executions and for reverts.

// Anonymous is stored as the name of a worker without a name.
const Anonymous = "?"

// RemoteWork is the stored form of such a call, for the worker that takes it.
type RemoteWork struct {
	Input    json.RawMessage `json:"input"`
	Revert   bool            `json:"revert,omitempty"`
	Outcome  string          `json:"outcome,omitempty"` // outcome of the execution that is undone
	Result   json.RawMessage `json:"result,omitempty"`  // set if Outcome is done
	Failure  *atom.Failure   `json:"failure,omitempty"` // set if Outcome is failed
	Failures []*atom.Failure `json:"failures,omitempty"`
	Trace    string          `json:"trace,omitempty"`
	Escaped  bool            `json:"escaped,omitempty"` // the opposite of atom.Call.PlainKey
}

// A handOver is a call that was handed to workers and that the driver must report to the scheduler.
type handOver struct {
	*external

	path  string
	event scheduler.Event
}

// dispatchRemote leaves a call to workers. If the call cannot be left to workers, it returns false: making the call
// then reports why. If a process died and the call starts again, the call stays in its queue or with its worker.
func (ts *tokens) dispatchRemote(cmd *scheduler.Command, c *executor.Call) bool {
	path := c.About.Path
	e := ts.open[path]
	if had := e != nil && (cmd.Node == nil || cmd.Node.Spec.Token == "" || c.About.Revert ||
		e.token.ID == cmd.Node.Spec.Token); !had {
		work := ts.workOf(c)
		if c.Missing != nil {
			return false
		}
		e = ts.openWork(cmd, c, work)
	} else {
		if k := keyOf(cmd); e.timerKey != k {
			e.timerKey = k
			ts.watchToken(e)
		}
		e.revert = c.About.Revert
	}
	ev := scheduler.Event{Kind: scheduler.Deferred, Atom: c.Atom, Node: c.Node, Revert: c.About.Revert}
	ts.handOvers = append(ts.handOvers, handOver{e, path, ev})
	return true
}

// openWork puts a call into the queue of its kind of work.
func (ts *tokens) openWork(cmd *scheduler.Command, c *executor.Call, work atom.Value) *external {
	e := &external{timerKey: keyOf(cmd), revert: c.About.Revert}
	limit := c.Timeout
	t := &e.token
	t.ID, t.Incarnation, t.Attempt, t.Queue = tasktoken.New(), c.About.Incarnation, c.About.Attempt, c.Work
	if n := cmd.Node; n != nil && !e.revert {
		t.Heartbeat, t.ScheduleToStart, t.StartToClose = n.Spec.Heartbeat, n.Spec.ToStart, n.Spec.ToClose
		if n.Spec.Token != "" {
			t.ID = n.Spec.Token
		}
	} else if n == nil && !e.revert {
		a := &ts.plan.Atoms[cmd.Atom]
		t.ScheduleToStart, t.StartToClose = a.ScheduleToStart(), a.StartToClose()
		if def := a.Deferral(); def != nil {
			t.Heartbeat = def.Heartbeat
			if def.Deadline > 0 && (limit == 0 || def.Deadline < limit) {
				limit = def.Deadline
			}
		}
	}
	if !e.revert {
		ts.s.MarkQueued(cmd.Node, cmd.Atom)
	}
	ts.waitFor(e, c.About.Path, limit)
	told := *t
	told.Work = work
	ts.next.Token(told)
	return e
}

// workOf returns the work that the worker receives. If the work is too large, the call cannot be made.
func (ts *tokens) workOf(c *executor.Call) atom.Value {
	if err := c.Evaluate(); err != nil {
		c.Missing = atom.NewFailure(c.About.Path, c.About.Attempt, err)
		return nil
	}
	in := c.Values.Input()
	if in == nil {
		in = c.Values.Object()
	}
	told := RemoteWork{Input: in.JSON(), Revert: c.About.Revert, Trace: c.About.Trace, Escaped: !c.About.PlainKey}
	if c.About.Revert {
		did := &c.Detail.Outcome
		told.Outcome, told.Failures = did.String(), did.Failures()
		if v, ok := did.Done(); ok {
			told.Result = v.JSON()
		}
		if f, ok := did.Failed(); ok {
			told.Failure = f
		}
	}
	work, err := atom.Encode(told)
	if err == nil && len(in) > atom.MaxValue {
		err = atom.ErrValueTooLarge
	}
	if err != nil {
		c.Missing = atom.NewFailure(c.About.Path, c.About.Attempt, fmt.Errorf("the input of work for a worker: %w", err))
	}
	return work
}
