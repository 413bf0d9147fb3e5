package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// Inbox is how a process that does not own a run reaches the run.
type Inbox interface {
	// Send inserts messages into the inboxes of runs, and increments their wakeup
	// counters. A run without an owner is due at once. Send drops a message with a Key
	// that the run has or had. If one of the runs does not exist, it sends no message
	// and returns ErrNotFound.
	Send(ctx context.Context, messages ...Message) error
	// EndToken completes (failure nil) or fails an open token, and sends its run
	// the message of MessageToken that says so, in one transaction. It returns
	// ErrGone or ErrNotFound.
	EndToken(ctx context.Context, id string, result atom.Value, failure *atom.Failure) (Token, error)
	// TakeToken gives the work that has waited longest in any of some queues to a
	// worker: the token is the worker's from now on, and is as if heard of just now.
	// Work whose lease has run out is there to be taken again; it waits since then.
	// The run is sent the message of MessageTaken, or MessageRetaken, when it is taken
	// for the first time and has no Work of its own, and whenever limits count from
	// then on, see Token.Due. It returns ErrNotFound when there is none.
	TakeToken(ctx context.Context, t Taking) (Token, error)
	// KeepToken is Beat by the worker to which TakeToken gave the token under that
	// number. The worker keeps the token for another lease, also when its lease had run
	// out and no other worker has taken the token since. If another worker has, it
	// returns ErrTaken. It also returns the errors of Beat.
	KeepToken(ctx context.Context, id string, take int64, lease time.Duration) (Token, error)
	// FinishToken is EndToken by that worker, or with Untaken while no worker has taken
	// the token. If another worker has taken it since, it changes nothing and returns
	// ErrTaken.
	FinishToken(ctx context.Context, id string, take int64, result atom.Value, failure *atom.Failure) (Token, error)
	// Beat renews an open token's heartbeat. It returns ErrGone or ErrNotFound.
	Beat(ctx context.Context, id string) (Token, error)
	// Messages returns the run's wakeup counter, and a page of the messages in its inbox:
	// those whose number is larger than after, oldest first, up to MaxMessages. To read the
	// page after a full page, pass the number of its last message.
	Messages(ctx context.Context, run string, after int64) (int64, []Message, error)
	// Changed returns a channel that is closed when something may have come for any
	// of this store's runs: a message, a job, by this process or another. It is
	// only a hint. Take the channel first, then read the rows, then wait.
	Changed() <-chan struct{}
	// Version returns a number that rises when messages may have come or runs may have
	// become due, before the channel of Changed is closed. It may stay the same when
	// only jobs came, or runs ended. While the number is the same as before a call of
	// RunsWithMessages or Due, another call would return nothing new, except for runs that
	// became due with time. Version does not query a database.
	Version() int64
	// RunsWithMessages returns those runs of this store's owner that have messages which
	// came since, and the number to pass next time; 0 asks for all that have messages. Its
	// cost grows with the messages that came since, not with the runs that are owned.
	// The run whose message came last is the last. A run may be returned again. It is
	// not returned when its messages were taken meanwhile. So an owner of many runs
	// takes the channel of Changed, calls RunsWithMessages once, calls Messages for the
	// runs it returned, and waits.
	RunsWithMessages(ctx context.Context, since int64) (changed []Arrival, now int64, err error)
}

// MaxMessages is how many messages a page of an inbox has, see [Inbox].
const MaxMessages = 500

// AllMessages returns the run's wakeup counter and all messages in its inbox, which may be
// very many.
func AllMessages(ctx context.Context, s Inbox, run string) (wakeups int64, all []Message, err error) {
	for after := int64(0); ; after = all[len(all)-1].N {
		wakeups, page, err := s.Messages(ctx, run, after)
		if all = append(all, page...); err != nil || len(page) < MaxMessages {
			if len(all) > 0 {
				wakeups = max(wakeups, all[len(all)-1].N) // it is read before the messages
			}
			return wakeups, all, err
		}
	}
}

// MaxQueues is how many queues work may be taken from at once.
const MaxQueues = 100

// Check returns ErrInvalid when work cannot be taken so.
func (t *Taking) Check() error {
	if len(t.Queues) == 0 || len(t.Queues) > MaxQueues {
		return fmt.Errorf("%w: work is taken from 1 to %d queues", ErrInvalid, MaxQueues)
	}
	if slices.Contains(t.Queues, "") {
		return fmt.Errorf("%w: a queue that work is taken from has a name", ErrInvalid)
	}
	if t.Worker == "" || len(t.Worker) > MaxID || t.Lease < 0 {
		return fmt.Errorf("%w: work is taken by a worker with a name of up to %d bytes, for a lease that is not negative", ErrInvalid, MaxID)
	}
	return checkTexts(append(slices.Clip(t.Queues), t.Worker)...)
}

// A Taking says whose work of which queues is to be.
type Taking struct {
	Queues []string
	Worker string        // a name for people, not unique; not ""
	Lease  time.Duration // after which the work is there to be taken again, unless it was kept; 0 is never
}

// A Message is durable input to a run, from a process that does not own it.
type Message struct {
	N           int64 // given by the store, rising within the run: the wakeup counter after this message incremented it
	Run         string
	Kind        string // token, event, signal, cancel, suspend, retry …
	Path        string // the atom it is for; "" is the run
	Incarnation int    // the incarnation it is for; a message for an older one is answered "gone"
	Name        string // of the event or signal
	Key         string // what makes a repeated message recognisable; "" when nothing does
	Body        atom.Value
	Failure     *atom.Failure // with what a token was failed; nil otherwise
	Sent        time.Time
}

// An Arrival says that a run has messages, and the value of its wakeup counter with
// the last of them.
type Arrival struct {
	Run     string
	Wakeups int64
}

// MessageTaken is the kind of the message that tells a run that a worker took the
// work of a token, see [Inbox]. Its Name is the token's id, its Path and
// Incarnation those of the atom, its Body the name of the worker, as a JSON string.
const MessageTaken = "taken"

// MessageRetaken is MessageTaken when it is not the first time.
const MessageRetaken = "retaken"

// MessageToken is the kind of the message that tells a run that a token was ended.
// Its Name is the token's id, its Path and Incarnation those of the atom. Body is
// the result, unless Failure is set.
const MessageToken = "token"

// MessageSignal is the kind of a message by which any process sends a signal to a run:
// Name is the name of the signal, Body its value.
const MessageSignal = "signal"

// Check returns ErrInvalid, with the reason, if the message cannot be sent as it is.
func (l *Message) Check() error {
	if len(l.Key) > MaxID {
		return fmt.Errorf("%w: the message's key %.20q… is longer than %d bytes", ErrInvalid, l.Key, MaxID)
	}
	return checkTexts(l.Run, l.Kind, l.Name, l.Key)
}
