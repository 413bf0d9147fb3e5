package attempts

import (
	"fmt"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/storage"
)

// EndedBy returns the attempt that a message ends; nil if it ends none.
func (t *Table) EndedBy(m *storage.Message) *Attempt {
	if m.Kind == backend.MessageToken {
		return t.ByToken(m)
	}
	return t.BySignal(m)
}

// ByToken returns the attempt whose token a message is about; nil if the attempt is over.
func (t *Table) ByToken(m *storage.Message) *Attempt {
	if a := t.open[m.Path]; a != nil && a.Token.ID == m.Name {
		return a
	}
	return nil
}

// BySignal returns an attempt that a signal can end; nil if none awaits it. The store refuses most signals that cannot
// end their attempt. One whose type only the code of the flow knows stays in the inbox, as does one for an atom that
// has not started, and the run keeps waiting.
func (t *Table) BySignal(m *storage.Message) *Attempt {
	if m.Kind != grow.MessageSignal {
		return nil
	}
	for _, a := range t.open {
		if a.signal != "" && a.signal == m.Name && a.Early == nil &&
			(m.Failure != nil || t.CheckResult(a, m.Body) == nil) {
			return a
		}
	}
	return nil
}

// Awaited reports whether the scheduler waits for the end of an attempt, because its call has ended.
func (a *Attempt) Awaited() bool { return a.Revert || a.Unit != nil && a.Awaits() }

// EndOf turns a message that ends an attempt into an event. If the result does not fit the task, the attempt fails.
func (t *Table) EndOf(a *Attempt, m *storage.Message) scheduler.Event {
	ev := a.Ended()
	ev.Revert, ev.Failure, ev.ByToken = a.Revert, m.Failure, true
	if ev.Result = m.Body; ev.Failure != nil {
		return ev
	}
	if ev.Result = ValueOf(m.Body); a.Revert {
		return ev
	}
	if err := t.CheckResult(a, ev.Result); err != nil {
		ev.Result = nil
		ev.Failure = badResult(a.Unit,
			fmt.Sprintf("the %s that ended the attempt carries no result of it", m.Kind), err)
	}
	return ev
}

// badResult returns the failure of an attempt whose end has no result of its unit.
func badResult(u *scheduler.Unit, what string, err error) *atom.Failure {
	return &atom.Failure{
		Atom: u.Path, Attempt: int(u.Rec.Attempt), Code: atom.CodeBadResult,
		Message: clip.Text(what+": "+err.Error(), atom.MaxFailureText),
	}
}

// ValueOf returns the value that an attempt ends with; none is null.
func ValueOf(v atom.Value) atom.Value {
	if v == nil {
		return atom.Null
	}
	return v
}

// CheckResult returns an error if the value cannot be a result of what the attempt executes. A task of a language is
// checked if the language has it itself; other nodes take any value.
func (t *Table) CheckResult(a *Attempt, v atom.Value) error {
	if a.Planned != nil {
		return fits(a.Planned, v)
	}
	l, ok := t.language().(grow.TaskLanguage)
	if !ok {
		return nil
	}
	body, _ := l.Task(a.Node.Spec.Task)
	if typed, ok := body.(resultChecker); ok {
		return fits(typed, v)
	}
	return nil
}

type resultChecker interface{ CheckResult(v atom.Value) error }

// fits returns why a value is no result of a task. The type of the result may have code that decodes it.
func fits(task resultChecker, v atom.Value) (err error) {
	if broke := guard.Call(func() { err = task.CheckResult(ValueOf(v)) }); broke != nil {
		return broke
	}
	return err
}

// Expire ends an attempt that only a signal can end, because its time limit has passed.
func (t *Table) Expire(a *Attempt) scheduler.Event {
	ev, path := a.Ended(), a.Path
	ev.Failure = overdue(&a.Token, storage.ScheduleToClose)
	ev.Failure.Atom, ev.Failure.Attempt = path, int(a.Rec.Attempt)
	t.Close(path, true)
	return ev
}

// Overdue returns the failure of an attempt that has exceeded a limit of its token. It says whether any worker ever
// took the work of the task.
func (a *Attempt) Overdue(limit storage.TokenLimit) *atom.Failure {
	f := overdue(&a.Token, limit)
	f.Untaken = a.Rec.NoneBegunBefore() && a.Untaken()
	return f
}

// overdue returns the failure of an attempt whose token has exceeded the limit.
func overdue(t *storage.Token, limit storage.TokenLimit) *atom.Failure {
	f := &atom.Failure{Atom: t.Path, Attempt: t.Attempt, Details: t.Details}
	switch limit {
	case storage.ScheduleToStart:
		f.Code, f.Message = atom.CodeScheduleToStart,
			fmt.Sprintf("no worker took the work within %v", t.ScheduleToStart)
	case storage.StartToClose:
		f.Code, f.Message = atom.CodeStartToClose,
			fmt.Sprintf("worker %q took the work and did not end it within %v", t.Worker, t.StartToClose)
	case storage.HeartbeatLimit:
		f.Code, f.Message = atom.CodeHeartbeatLost, fmt.Sprintf("no heartbeat arrived for %v", t.Heartbeat)
	default:
		f.Code, f.Message = atom.CodeTimeout, "the attempt did not end before its deadline"
	}
	return f
}
