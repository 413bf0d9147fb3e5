package attempts

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

// A handOver is a call that was handed to workers and that the scheduler must learn of.
type handOver struct {
	*Attempt

	path  string
	event scheduler.Event
}

// HandedOver removes the calls that were handed to workers, and returns the event for the next one whose attempt was
// not given up: workers make the call now, or have ended it already. It returns false if there is none.
func (t *Table) HandedOver() (ev scheduler.Event, more bool) {
	for len(t.handOvers) > 0 {
		h := t.handOvers[0]
		t.handOvers = t.handOvers[1:]
		switch {
		case t.open[h.path] != h.Attempt: // the attempt was given up meanwhile
			continue
		case h.Early == nil:
			return h.event, true
		}
		ev = t.EndOf(h.Attempt, h.Early)
		t.Close(h.path, true)
		return ev, true
	}
	return ev, false
}

// HandOver leaves a call to workers. If the call cannot be left to workers, it returns false: making the call then
// reports why. If a process died and the call starts again, the call stays in its queue or with its worker.
func (t *Table) HandOver(cmd *scheduler.Command, c *executor.Call) bool {
	path := c.About.Path
	a := t.open[path]
	if had := a != nil && (cmd.Unit.Planned != nil || cmd.Unit.Node.Spec.Token == "" || c.About.Revert ||
		a.Token.ID == cmd.Unit.Node.Spec.Token); !had {
		work := t.workOf(c)
		if c.Missing != nil {
			return false
		}
		a = t.openWork(cmd, c, work)
	} else {
		if u := cmd.Unit; a.Unit != u {
			a.Unit = u
			t.Watch(a)
		}
		a.Revert = c.About.Revert
	}
	ev := scheduler.Event{Kind: scheduler.Deferred, Unit: cmd.Unit, Revert: c.About.Revert}
	t.handOvers = append(t.handOvers, handOver{a, path, ev})
	return true
}

// openWork puts a call into the queue of its kind of work.
func (t *Table) openWork(cmd *scheduler.Command, c *executor.Call, work atom.Value) *Attempt {
	a := &Attempt{Unit: cmd.Unit, Revert: c.About.Revert}
	limit := c.Timeout
	k := &a.Token
	k.ID, k.Incarnation, k.Attempt, k.Queue = tasktoken.New(), c.About.Incarnation, c.About.Attempt, c.Work
	if n := cmd.Unit.Node; n != nil && !a.Revert {
		k.Heartbeat, k.ScheduleToStart, k.StartToClose = n.Spec.Heartbeat, n.Spec.ToStart, n.Spec.ToClose
		if n.Spec.Token != "" {
			k.ID = n.Spec.Token
		}
	} else if n == nil && !a.Revert {
		of := cmd.Unit.Planned
		k.ScheduleToStart, k.StartToClose = of.ScheduleToStart(), of.StartToClose()
		if def := of.Deferral(); def != nil {
			k.Heartbeat = def.Heartbeat
			if def.Deadline > 0 && (limit == 0 || def.Deadline < limit) {
				limit = def.Deadline
			}
		}
	}
	if !a.Revert {
		cmd.Unit.MarkQueued()
	}
	t.add(a, c.About.Path, limit)
	told := *k
	told.Work = work
	t.draft.Token(told)
	return a
}

// workOf returns the work that the worker receives. If the work is too large, the call cannot be made.
func (*Table) workOf(c *executor.Call) atom.Value {
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
