package mailbox

import "github.com/ebbflow/ebb/engine/internal/inbox"

// A Run tells a mailbox what the order of its messages depends on.
type Run interface {
	// Stops reports whether the run allows a command that stops it, and has attempts that others may end.
	Stops(c *inbox.Command) bool
	// AwaitsCalls reports whether another party has ended an attempt whose own call has not ended. What stops the run
	// waits for the end of that call, because the language is told of the accepted end first.
	AwaitsCalls() bool
	// Suspends reports whether the run is coming to rest.
	Suspends() bool
}

// A Step says what comes next.
type Step uint8

// The steps of a turn.
const (
	Done    Step = iota // the run can receive nothing now
	Settle              // decide what follows from the messages before
	Seal                // let no other party end an attempt any more, and advance the ends that were accepted before
	Receive             // apply the message
)

// A Turn passes messages to the run, the first rank first, until one must wait.
type Turn struct {
	box       *Box
	last      int64 // number of the last message that may be received
	unsettled bool  // the run has received something, whose consequences come before a command
	sealed    int64 // number of the command before which the attempts were sealed
}

// Turn returns a turn in which the run can receive the ends of given-up attempts, and messages up to number last.
func (b *Box) Turn(last int64) Turn { return Turn{box: b, last: last} }

// Next returns what comes next, with the message to receive.
//
// What precedes a command has all its consequences first. Before a command that stops the run, the attempts that others
// may end are sealed. What stops the run, or makes it give up attempts, waits as long as AwaitsCalls. What resumes the
// run waits until it has come to rest, because what suspends it came before.
func (t *Turn) Next(run Run) (m *Message, s Step) {
	b := t.box
	if len(b.ends) > 0 {
		m, b.ends = &b.ends[0], b.ends[1:]
		return t.receive(m)
	}
	for len(b.queue) > 0 && b.queue[0].N <= t.last {
		m := &b.queue[0]
		if s := t.before(m, run); s != Receive {
			return nil, s
		}
		b.queue = b.queue[1:]
		if m.Kind != inbox.CancelNext || m.Command != nil {
			return t.receive(m)
		}
		b.later = append(b.later, *m)
	}
	return nil, Done
}

func (t *Turn) receive(m *Message) (*Message, Step) {
	t.unsettled = true
	t.box.received++
	return m, Receive
}

// before returns what comes before the run receives a message; Receive if nothing does.
func (t *Turn) before(m *Message, run Run) Step {
	c := m.Command
	switch {
	case c == nil:
		if m.Failure != nil && run.AwaitsCalls() {
			return Done
		}
		return Receive
	case c.Kind == inbox.Resume && run.Suspends():
		return Done
	case c.Kind == inbox.Suspend, c.Kind == inbox.Resume:
		return Receive
	case t.unsettled:
		t.unsettled = false
		return Settle
	case t.sealed == m.N:
	case c.Kind != inbox.Cancel && c.Kind != inbox.Revert, !run.Stops(c):
		return Receive
	default:
		t.sealed, t.unsettled = m.N, true
		return Seal
	}
	if run.AwaitsCalls() {
		t.box.stop = m.N
		return Done
	}
	return Receive
}
