package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
)

// Inbox is the part of a [Store] with which a process that does not own a run reaches the run.
type Inbox interface {
	// Send inserts messages into the inboxes of runs and increments their wakeup counters. A run without an owner
	// is due at once. If a message has a Key that an earlier message to the run had, Send drops it. If one of the
	// runs does not exist, or no run holds the key of ToKey, Send sends nothing and returns ErrNotFound. It also sends
	// nothing if a run does not take its message:
	//
	//   - ErrEnded if a signal or an event is for a run that has ended
	//   - ErrFull if the inbox is full, see [MaxInbox]
	//   - an error that wraps ErrInvalid and shows what fits, if the body of a signal is not of the type of an atom that
	//     awaits the signal. If the run's flow awaits no signal of that name, the message stays in the inbox
	Send(ctx context.Context, messages ...Message) error
	// EndToken ends an open token. In the same transaction it sends the token's run a message of kind MessageToken. If
	// the token is not open, it returns ErrGone. If the token does not exist, it returns ErrNotFound. If end.Take does
	// not fit, it changes nothing and returns ErrTaken. If end.Result is not of the type of a flow's atom, the token stays
	// open, and EndToken returns an error that wraps ErrInvalid and shows what fits.
	EndToken(ctx context.Context, id string, end TokenEnd) (Token, error)
	// TakeToken gives a worker the work that has waited longest in any of the queues. The token then belongs to
	// that worker, and its heartbeat starts now. If the lease of a worker expires, another worker can take the
	// work; it counts as waiting since the lease expired. TakeToken sends the run a message of kind MessageTaken or
	// MessageRetaken in two cases: when work without a Work of its own is taken for the first time, and whenever a
	// limit runs from then on, see Token.Due. If there is no work, TakeToken returns ErrNotFound.
	TakeToken(ctx context.Context, t WorkRequest) (Token, error)
	// KeepToken is the heartbeat of a worker: it extends the worker's lease, renews the token's heartbeat, and stores
	// what the worker reports. It returns the token, see [Token.GiveUp]. It succeeds even if the lease has expired, unless
	// another worker has taken the token since; then it returns ErrTaken. It also returns the errors of Beat.
	KeepToken(ctx context.Context, id string, k Heartbeat) (Token, error)
	// Beat renews an open token's heartbeat. If the token is not open, it returns ErrGone. If the token does not
	// exist, it returns ErrNotFound.
	Beat(ctx context.Context, id string) (Token, error)
	// Received reports whether the run has had a message with that key, which is not "". A run that was purged has not.
	Received(ctx context.Context, run, key string) (bool, error)
	// Messages returns the run's wakeup counter, and a page of the messages in its inbox: messages with numbers
	// above after, oldest first, up to MaxMessages. If a page is full, read the next page with the number of its
	// last message.
	Messages(ctx context.Context, run string, after int64) (int64, []Message, error)
	// Unread returns how many messages are in the run's inbox, and the first ones, oldest first, without what they carry:
	// up to most.
	Unread(ctx context.Context, run string, most int) (all int64, first []Message, err error)
	// Changed returns a channel that the store closes when a message or a job may have arrived for one of its runs,
	// sent by any process. The channel is only a hint. To miss nothing, take the channel first, then read the rows,
	// then wait.
	Changed() <-chan struct{}
	// Version returns a number that rises when messages may have arrived or runs may have become due. It rises
	// before the channel of Changed is closed. It may stay the same when only jobs arrive or runs end. While the
	// number is unchanged, another call of RunsWithMessages or Due would return nothing new, except runs that
	// became due with time. Version does not query a database.
	Version() int64
	// RunsWithMessages returns the runs of this store's owner that received messages after the number since, and
	// the number to pass next time; 0 selects all runs that have messages. Its cost grows with the messages that
	// arrived, not with the runs that the owner drives. The run with the latest message comes last. A run may be
	// returned twice. It is not returned if its messages were processed meanwhile. An owner of many runs takes the
	// channel of Changed, calls RunsWithMessages once, calls Messages for the runs that it returns, and waits.
	RunsWithMessages(ctx context.Context, since int64) (changed []Arrival, now int64, err error)
}

// MaxMessages is the number of messages in a full page of an inbox, see [Inbox].
//
//limit:storage messages read at once (`storage.MaxMessages`) | {} | the next page
const MaxMessages = 500

// Limits of the messages that a run has not read. Commands have another tenth of the number, so that a run with a full
// inbox can be cancelled.
const (
	//limit:storage signals and events that a run has not read (`storage.MaxInbox`, `MaxInboxBytes`) | {}, and
	//limit:and {MaxInboxBytes B} of data | the next one is refused
	MaxInbox      = 10_000   // number of messages
	MaxInboxBytes = 64 << 20 // bytes of their bodies
)

// AllMessages returns all messages in the inbox of a run, and the run's wakeup counter. An inbox may not fit in
// memory: where that matters, read it page by page with [Inbox].
func AllMessages(ctx context.Context, s Inbox, run string) (wakeups int64, all []Message, err error) {
	for after := int64(0); ; after = all[len(all)-1].N {
		wakeups, page, err := s.Messages(ctx, run, after)
		if all = append(all, page...); err != nil || len(page) < MaxMessages {
			if len(all) > 0 {
				wakeups = max(wakeups, all[len(all)-1].N) // the wakeup counter is read before the messages
			}
			return wakeups, all, err
		}
	}
}

// MaxQueues is the number of task queues from which one [Inbox.TakeToken] can take work.
const MaxQueues = 100

// Check returns an error that wraps ErrInvalid and names the problem if [Inbox.TakeToken] cannot serve the request.
func (t *WorkRequest) Check() error {
	if len(t.Queues) == 0 || len(t.Queues) > MaxQueues {
		return fmt.Errorf("%w: want 1 to %d queues to take work from", ErrInvalid, MaxQueues)
	}
	if slices.Contains(t.Queues, "") {
		return fmt.Errorf("%w: queue name is empty", ErrInvalid)
	}
	if t.Worker == "" || len(t.Worker) > MaxID || t.Lease < 0 {
		return fmt.Errorf("%w: want a worker name of 1 to %d bytes and a lease that is not negative", ErrInvalid, MaxID)
	}
	return checkTexts(append(slices.Clip(t.Queues), t.Worker)...)
}

// A WorkRequest asks for work of a task queue for a worker, see [Inbox.TakeToken].
type WorkRequest struct {
	Queues []string      // task queues to take work from, 1 to [MaxQueues]
	Worker string        // name of the worker, for people; need not be unique, must not be ""
	Lease  time.Duration // how long the worker keeps the work unless it extends the lease; 0 means without end
}

// A Heartbeat says that a worker is alive, see [Inbox.KeepToken].
type Heartbeat struct {
	Take     int64         // number under which the worker took the token; 0 applies in any case, and keeps the lease
	Lease    time.Duration // how long the worker keeps the work from now on; 0 means without end
	Progress float64       // from 0 to 1; 0 keeps the last progress
	Details  atom.Value    // nil keeps the last details; at most [atom.MaxFailureDetails] bytes
}

// Check returns an error that wraps ErrInvalid and names the problem if [Inbox.KeepToken] cannot serve the request.
func (k *Heartbeat) Check() error {
	if k.Take < 0 || k.Lease < 0 || !(k.Progress >= 0 && k.Progress <= 1) {
		return fmt.Errorf("%w: want a number of a take and a lease that are not negative, and a progress from 0 to 1",
			ErrInvalid)
	}
	if len(k.Details) > atom.MaxFailureDetails {
		return fmt.Errorf("%w: the details of a heartbeat have at most %d bytes", ErrInvalid, atom.MaxFailureDetails)
	}
	return nil
}

// A Message is durable input to a run, such as a signal. Any process may send one. The process that drives the run
// reads and processes it.
type Message struct {
	N           int64            // number in the inbox, given by the store; later messages have larger numbers
	Run         string           // id of the run; for a new message with ToKey it may be ""
	Kind        flow.MessageKind // kind of input
	Path        string           // path of the atom, or of the growing flow, that receives it; "" means the run
	Incarnation int              // incarnation of that atom
	Name        string           // name of the signal or event
	Key         string           // deduplication key: the run processes one message per key; "" means no deduplication
	Body        atom.Value       // value that the message carries
	Failure     *atom.Failure    // failure with which the token was ended; nil otherwise
	Sent        time.Time        // when the store received it
	// ToKey, in a new message, addresses the run that holds the key, see [Keys]; with Run, only if it is that run. It is
	// "" in messages that a store returns.
	ToKey   string     `json:",omitempty"`
	From    string     `json:",omitempty"` // id of the run that sent the message; "" if no run did
	Receipt string     `json:",omitempty"` // name of the receipt that From gets, see [MessageReceipt]; "" for none
	Note    atom.Value `json:",omitempty"` // data of the sender, which the receipt returns; or of the end of a child run
	// Issuer is who gave the command that the message is. The history of the run says so when the run takes the
	// message. If it is nil, the history does not mention the message.
	Issuer *Issuer `json:",omitempty"`
}

// An Arrival names a run that received messages.
type Arrival struct {
	Run     string // id of the run
	Wakeups int64  // the run's wakeup counter after the last of these messages
}

// MessageTaken is the kind of the message that tells a run that a worker took the work of a token, see [Inbox].
// Name is the token's id, Path and Incarnation identify the atom. Body is the worker's name, as a JSON string.
const MessageTaken flow.MessageKind = "taken"

// MessageRetaken is the kind sent in place of MessageTaken when the work was taken before.
const MessageRetaken flow.MessageKind = "retaken"

// MessageToken is the kind of the message that tells a run that a token ended. Name is the token's id, Path and
// Incarnation identify the atom. Body is the result, unless Failure is set.
const MessageToken flow.MessageKind = "token"

// MessageReceipt is the kind of the message that tells a run what became of a message that it had sent. Name is the
// Receipt of that message, and Note its Note. Body is the id of the run that received it, a JSON string, unless Failure
// is set. The store sends it if no open run has the address. The process that drives the addressed run sends it in all
// other cases. A run that has ended gets no receipt.
const MessageReceipt flow.MessageKind = "receipt"

// Returned returns the message that tells the sender that no run received the message; why completes the sentence "the
// message was not delivered: ".
func (l *Message) Returned(why string) Message {
	return Message{
		Run: l.From, Kind: MessageReceipt, Name: l.Receipt, Note: l.Note, Sent: l.Sent,
		Failure: &atom.Failure{Code: atom.CodeUndelivered, Message: "the message was not delivered: " + why},
	}
}

// Received returns the message that tells the sender that a run received the message.
func (l *Message) Received(run string) Message {
	return Message{Run: l.From, Kind: MessageReceipt, Name: l.Receipt, Note: l.Note, Body: atom.MustEncode(run)}
}

// NeedsOpen reports whether only a run that has not ended gets the message.
func (l *Message) NeedsOpen() bool { return l.Receipt != "" || l.Kind == MessageReceipt }

// Check returns an error that wraps ErrInvalid and names the problem if the message cannot be sent.
func (l *Message) Check() error {
	switch {
	case len(l.Key) > MaxID:
		return fmt.Errorf("%w: the message's key %.20q… is longer than %d bytes", ErrInvalid, l.Key, MaxID)
	case len(l.Receipt) > MaxID:
		return fmt.Errorf("%w: the message's receipt %.20q… is longer than %d bytes", ErrInvalid, l.Receipt, MaxID)
	case l.Issuer != nil && len(l.Issuer.Name) > MaxID:
		return fmt.Errorf("%w: the name %.20q… of who gives a command is longer than %d bytes", ErrInvalid,
			l.Issuer.Name, MaxID)
	case l.Receipt != "" && l.From == "":
		return fmt.Errorf("%w: a message with the receipt %q needs a sender", ErrInvalid, l.Receipt)
	}
	if err := checkKey(l.ToKey); err != nil {
		return err
	}
	if err := checkValue("data of the message", l.Body); err != nil {
		return err
	}
	return checkTexts(l.Run, string(l.Kind), l.Name, l.Key, l.From, l.Receipt, l.Issuer.Text())
}
