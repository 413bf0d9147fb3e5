package driver

import (
	"slices"

	"github.com/ebbflow/ebb/engine/internal/inbox"
	"github.com/ebbflow/ebb/storage"
)

// A box contains what others want of a driven run: the messages that the driver has read from the run's inbox, and the
// requests of callers.
type box struct {
	wakeups int64             // wakeup counter up to which messages were read: the number of the last message
	queue   []storage.Message // messages that were read and will be applied
	stalled bool              // the first of the queue waits for the end of a call, see awaitsCalls
	unread  []storage.Message // messages that were read and that no atom waited for yet
	awaited bool              // an atom has started to wait, perhaps for one of them
	moved   bool              // the language has answered what follows from an end
	resumes int64             // number of a command to resume the run, once it has come to rest; 0 for none

	requests requests
	receipts map[int64]storage.Message // by number: messages that were read and whose senders want a receipt
}

// released is the wakeup counter with which a run is released: messages that were not applied make it due. If the run
// has ended, so do those that it will not await any longer.
func (b *box) released(ended bool) int64 {
	known := b.wakeups
	if b.resumes > 0 {
		known = b.resumes - 1
	}
	if len(b.queue) > 0 {
		known = min(known, b.queue[0].N-1)
	}
	if !ended {
		return known
	}
	for i := range b.unread {
		if l := &b.unread[i]; !inbox.Outlasts(l) && b.receipts[l.N].N == 0 {
			known = min(known, l.N-1)
		}
	}
	for _, r := range slices.Concat(b.requests.passed, b.requests.list) {
		if r.message > 0 {
			known = min(known, r.message-1)
		}
	}
	return known
}

// note remembers the messages whose senders want a receipt, before the run handles the first of them: it may end the
// run.
func (b *box) note(messages []storage.Message) {
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

// answered sends the receipt of a message that the pending checkpoint takes, if its sender wants one. Received says
// whether the run has received it.
func (b *box) answered(r *run, n int64, received bool) {
	l, wanted := b.receipts[n]
	if !wanted {
		return
	}
	delete(b.receipts, n)
	if received {
		r.next.Send(l.Received(r.claim.Run))
	} else {
		r.next.Send(l.Returned("the run ended first"))
	}
}

// returnAll returns the messages that the run has not received when it ends.
func (b *box) returnAll(r *run) {
	for n := range b.receipts {
		b.answered(r, n, false)
		r.next.Take(n)
	}
}
