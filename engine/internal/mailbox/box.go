package mailbox

import (
	"maps"
	"slices"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A Box holds the messages that a driver has read from the inbox of its run, and that the run has not received.
type Box struct {
	wakeups  int64     // wakeup counter up to which messages were read: the number of the last message
	inTime   int64     // number of the last command that is not late, though the run receives it after other messages
	ends     []Message // the first rank: ends of attempts that are given up
	queue    []Message // the second rank, in the order in which they were committed, see Queue
	stop     int64     // number of a command that stops the run, and waits for the ends of calls
	later    []Message // cancel the run when its language has answered what follows from an end
	unread   []storage.Message
	received int64 // number of messages that the run has received

	failures []scheduler.Event         // of calls, see Hold
	receipts map[int64]storage.Message // by number: messages whose senders want a receipt
}

// A Message is a message that the run is to receive.
type Message struct {
	storage.Message

	Command *inbox.Command // nil if it is not a command
	End     bool           // it ends an attempt that is given up
}

// Read returns the wakeup counter up to which messages were read.
func (b *Box) Read() int64 { return b.wakeups }

// SetRead sets the wakeup counter up to which messages were read.
func (b *Box) SetRead(wakeups int64) { b.wakeups = wakeups }

// InTime records that the run allowed the command with number n when the run was loaded, and receives it after other
// messages. What these change does not make it late.
func (b *Box) InTime(n int64) { b.inTime = n }

// Add takes in a page of messages that was read, with the wakeup counter of the run. It reports whether the page is
// full, so that there may be more.
func (b *Box) Add(wakeups int64, page []storage.Message) (full bool) {
	n := len(page)
	switch full = n == backend.MaxMessages; {
	case full:
		wakeups = page[n-1].N
	case n > 0:
		wakeups = max(wakeups, page[n-1].N)
	}
	b.wakeups = wakeups
	b.Note(page)
	b.Queue(page)
	return full
}

// Queue queues messages that were read. A failure may make the run give up other attempts, and its language does not
// hear of their ends afterwards. So the failed ends between two commands come after the other messages there.
func (b *Box) Queue(messages []storage.Message) {
	from := len(b.queue)
	for i := range messages {
		m := Message{Message: messages[i]}
		if c, is := inbox.CommandOf(&m.Message); is {
			if m.N <= b.inTime {
				c.Next = 0
			}
			m.Command = &c
			b.failuresLast(from)
			from = len(b.queue) + 1
		}
		b.queue = append(b.queue, m)
	}
	b.failuresLast(from)
}

// failuresLast moves the failed ends of the queue from an index on behind the other messages.
func (b *Box) failuresLast(from int) {
	failed := func(m *Message) int {
		if m.Kind == backend.MessageToken && m.Failure != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(b.queue[from:], func(x, y Message) int { return failed(&x) - failed(&y) })
}

// Empty reports whether nothing is queued.
func (b *Box) Empty() bool { return len(b.ends)+len(b.queue) == 0 }

// StopWaits reports whether the next message stops the run, and waits for the ends of calls.
func (b *Box) StopWaits() bool { return len(b.queue) > 0 && b.queue[0].N == b.stop }

// Received returns how many messages the run has received.
func (b *Box) Received() int64 { return b.received }

// LastCommand returns the number of the last queued command that is not a request to suspend the run; 0 if there is
// none.
func (b *Box) LastCommand() int64 {
	for _, m := range slices.Backward(b.queue) {
		if m.Command != nil && m.Command.Kind != inbox.Suspend {
			return m.N
		}
	}
	return 0
}

// Advance moves the queued messages that end given-up attempts to the first rank.
func (b *Box) Advance(ends func(*storage.Message) bool) {
	b.queue = slices.DeleteFunc(b.queue, func(m Message) bool {
		m.End = m.Command == nil && ends(&m.Message)
		if m.End {
			b.ends = append(b.ends, m)
		}
		return m.End
	})
}

// AddEnd adds the end of a given-up attempt to the first rank.
func (b *Box) AddEnd(m *storage.Message) { b.ends = append(b.ends, Message{Message: *m, End: true}) }

// Transition makes the messages due that cancel the run when its language has answered what follows from an end.
func (b *Box) Transition() {
	if len(b.later) == 0 {
		return
	}
	for i := range b.later {
		c := inbox.Due(&b.later[i].Message)
		b.later[i].Command = &c
	}
	b.queue = append(b.later, b.queue...)
	b.later = nil
}

// Defer keeps a message that nothing in the run waits for yet.
func (b *Box) Defer(m *storage.Message) { b.unread = append(b.unread, *m) }

// Deferred reports whether there are messages that nothing in the run waited for.
func (b *Box) Deferred() bool { return len(b.unread) > 0 }

// TakeDeferred removes and returns the messages that nothing in the run waited for.
func (b *Box) TakeDeferred() (messages []storage.Message) {
	messages, b.unread = b.unread, nil
	return messages
}

// Hold keeps the failure of a call until no attempt that another party has ended awaits the end of its own call. The
// failure may make the run give up such an attempt.
func (b *Box) Hold(failure *scheduler.Event) { b.failures = append(b.failures, *failure) }

// Held removes and returns the failures that were kept, unless the run still awaits such a call.
func (b *Box) Held(run Run) (failures []scheduler.Event) {
	if len(b.failures) == 0 || run.AwaitsCalls() {
		return nil
	}
	failures, b.failures = b.failures, nil
	return failures
}

// Released returns the wakeup counter with which a run is released: messages that it has not received make it due. If
// the run has ended, so do those that it will not await any longer.
func (b *Box) Released(ended bool) int64 {
	known := b.wakeups
	for _, m := range slices.Concat(b.ends, b.queue) {
		known = min(known, m.N-1)
	}
	if !ended {
		return known
	}
	for i := range b.later {
		known = min(known, b.later[i].N-1)
	}
	for i := range b.unread {
		if m := &b.unread[i]; !inbox.Outlasts(m) && b.receipts[m.N].N == 0 {
			known = min(known, m.N-1)
		}
	}
	return known
}

// Note remembers the messages whose senders want a receipt, before the run handles the first of them: it may end the
// run.
func (b *Box) Note(messages []storage.Message) {
	for i := range messages {
		if messages[i].Receipt == "" {
			continue
		}
		if b.receipts == nil {
			b.receipts = map[int64]storage.Message{}
		}
		b.receipts[messages[i].N] = messages[i]
	}
}

// Receipt returns the message whose sender is to learn whether the run has received it; false if its sender does not
// want to. It returns each message once.
func (b *Box) Receipt(n int64) (m storage.Message, wanted bool) {
	m, wanted = b.receipts[n]
	delete(b.receipts, n)
	return m, wanted
}

// Unreceived returns the numbers of the messages whose senders still want a receipt.
func (b *Box) Unreceived() []int64 { return slices.Sorted(maps.Keys(b.receipts)) }
