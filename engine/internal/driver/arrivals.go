package driver

import (
	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// FirstCommand returns the command with which a run must start, if one waits in its inbox, and the other messages.
// Commands that follow a message that the run awaits are among these, because they are applied after it. A command
// voids requests to suspend that arrived before it. FirstCommand also returns whether a command resumes the run: held
// says that the run is suspended, and that only a command resumes it.
func (d *Driver) FirstCommand(messages []storage.Message, held bool) (
	first *scheduler.OperatorCommand, others []storage.Message, resumed bool, err error,
) {
	d.Mode.Held = held
	awaited := d.goesForward() && d.attempts.Len() > 0
	if err := d.recall(messages); err != nil {
		return nil, nil, false, err
	}
	d.Draft.Issued(messages)
	for i := range messages { // others are without messages that were refused
		if messages[i].Kind == backend.MessageRefused {
			d.Draft.Take(messages[i].N)
			continue
		}
		cmd, ok := inbox.CommandOf(&messages[i])
		if !ok || cmd.Kind == inbox.Suspend && !d.State().Ended() {
			awaited, d.rests = awaited || !ok && d.awaits(&messages[i]), d.rests || ok
			others = append(others, messages[i])
			continue
		}
		if awaited && cmd.Kind != inbox.Resume {
			switch err := d.Refuse(&cmd); {
			case notOfRun(err):
				return nil, nil, false, err
			case err == nil:
				others, resumed = append(d.WithoutHolds(others), messages[i]), true
				d.mail.InTime(messages[i].N)
				continue
			case !held: // what is awaited may change what the run allows
				others = append(others, messages[i])
				continue
			}
		}
		rested := d.rests
		so, tell, err := d.accept(&cmd, messages[i].N)
		if tell || err != nil {
			return &so, append(d.WithoutHolds(others), messages[i+1:]...), true, err
		}
		if rested && !d.rests { // it was accepted
			others, resumed, d.Mode.Held = d.WithoutHolds(others), true, false
		}
	}
	return nil, others, resumed, nil
}

// awaits reports whether the run may await a message, and goes forward.
func (d *Driver) awaits(m *storage.Message) bool {
	if !d.goesForward() {
		return false
	}
	switch m.Kind {
	case messageChild:
		return true
	case messageCall:
		return false
	default:
		return d.Grows() || d.attempts.EndedBy(m) != nil || d.attempts.ByToken(m) != nil
	}
}

// goesForward reports whether the run has neither ended nor begun to end.
func (d *Driver) goesForward() bool {
	return !d.State().Ended() && !d.s.IsEnding() && !d.s.RevertFailed()
}

// recall finds the commands whose lines the history has, because a former owner of the run accepted them.
func (d *Driver) recall(messages []storage.Message) error {
	for i := range messages {
		if messages[i].Issuer == nil {
			continue
		}
		lines, err := d.env.Store.Audit(d.storing, backend.AuditQuery{Run: d.Claim.Run, Limit: backend.MaxMessages})
		for i := range lines {
			d.Draft.Listed(lines[i].Entry.Number)
		}
		return d.Wrap(err)
	}
	return nil
}

// WithoutHolds removes the requests to suspend the run from its inbox, and returns the
// other messages.
func (d *Driver) WithoutHolds(messages []storage.Message) []storage.Message {
	d.Draft.Issued(messages)
	var rest []storage.Message
	for i := range messages {
		if messages[i].Kind == inbox.Suspend {
			d.Draft.Take(messages[i].N)
		} else {
			rest = append(rest, messages[i])
		}
	}
	return rest
}

// Late takes in the messages that a run has when it has ended, and returns the commands, and what the run may await if
// it is reopened. It refuses calls, and returns a message that has a receipt to its sender. Everything else is about
// attempts that are over. If another run continues the run, Late passes a request to cancel to that run: the parent may
// have sent it before it heard of the successor. If no command follows, the caller must call ReleaseUnchanged.
func (d *Driver) Late(run *storage.Run, messages []storage.Message) (rest []storage.Message) {
	messages = d.VoidCalls(messages, ErrEnded)
	d.Draft.Issued(messages)
	for i := range messages {
		m := &messages[i]
		_, command := inbox.CommandOf(m)
		switch {
		case m.Receipt != "":
			d.Draft.Send(backend.Returned(m, "the run had ended"))
		case m.Kind == inbox.Cancel && run.Outcome == storage.Continued:
			forward := *m
			forward.N, forward.Name = 0, ""
			if err := run.Output.Data.Decode(&forward.Run); err != nil {
				rest = append(rest, *m)
				continue
			}
			d.Draft.Send(forward)
		case command || inbox.Outlasts(m):
			rest = append(rest, *m)
			continue
		case m.Kind != backend.MessageRefused:
			d.Draft.Judged(m.N, ErrEnded)
		}
		d.Draft.Take(m.N)
	}
	return rest
}

// HasTaken reports whether the next commit takes messages.
func (d *Driver) HasTaken() bool { return len(d.Draft.Taken) > 0 }

// ReleaseUnchanged commits which messages were taken, and releases a run that was not driven. Unless the run has ended,
// it is due at once, because another message may wait.
func (d *Driver) ReleaseUnchanged(run *storage.Run) error {
	h := &d.Draft.Head
	h.Ended, h.Hold, h.Release, h.Wakeups = run.Ended, run.Hold, true, d.mail.Read()
	if !run.State.Ended() {
		h.Due = d.Draft.Now
	}
	return d.flush()
}

// VoidCalls refuses the calls among messages, because the run could not answer them when they came, and returns the
// other messages. The callers have learned why from the state of the run.
func (d *Driver) VoidCalls(messages []storage.Message, why error) (rest []storage.Message) {
	for i := range messages {
		if messages[i].Kind == messageCall {
			d.acknowledge(&Request{receipt: messages[i].Name, message: messages[i].N, Err: why})
		} else {
			rest = append(rest, messages[i])
		}
	}
	return rest
}
