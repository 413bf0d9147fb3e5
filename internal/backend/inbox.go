package backend

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
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
	Send(ctx context.Context, messages ...storage.Message) error
	// EndToken ends an open token. In the same transaction it sends the token's run a message of kind MessageToken. If
	// the token is not open, it returns ErrGone. If the token does not exist, it returns ErrNotFound. If end.Take does
	// not fit, it changes nothing and returns ErrTaken. If end.Result is not of the type of a flow's atom, the token
	// stays open, and EndToken returns an error that wraps ErrInvalid and shows what fits.
	EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error)
	// TakeToken gives a worker the work that has waited longest in any of the queues. The token then belongs to
	// that worker, and its heartbeat starts now. If the lease of a worker expires, another worker can take the
	// work; it counts as waiting since the lease expired. TakeToken sends the run a message of kind MessageTaken or
	// MessageRetaken in two cases: when work without a Work of its own is taken for the first time, and whenever a
	// limit runs from then on, see Token.Due. If there is no work, TakeToken returns ErrNotFound.
	TakeToken(ctx context.Context, t storage.WorkRequest) (storage.Token, error)
	// KeepToken is the heartbeat of a worker: it extends the worker's lease, renews the token's heartbeat, and stores
	// what the worker reports. It returns the token, see [storage.Token.GiveUp]. It succeeds even if the lease has
	// expired, unless another worker has taken the token since; then it returns ErrTaken. It also returns the errors of
	// Beat.
	KeepToken(ctx context.Context, id string, k storage.Heartbeat) (storage.Token, error)
	// Beat renews an open token's heartbeat. If the token is not open, it returns ErrGone. If the token does not
	// exist, it returns ErrNotFound.
	Beat(ctx context.Context, id string) (storage.Token, error)
	// Received reports whether the run has had a message with that key, which is not "". A run that was purged has not.
	Received(ctx context.Context, run, key string) (bool, error)
	// Stopping returns the ids of the run and of its ancestors, the run first, up to the nearest of these runs that has a
	// MessageCancel or MessageRevert in its inbox. It looks at the run and at so many ancestors. If none of them has such
	// a message, it returns nil. It is one query.
	Stopping(ctx context.Context, run string, ancestors int) ([]string, error)
	// Messages returns the run's wakeup counter, and a page of the messages in its inbox: messages with numbers
	// above after, oldest first, up to MaxMessages. If a page is full, read the next page with the number of its
	// last message.
	Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error)
	// Unread returns how many messages are in the run's inbox, and the first ones, oldest first, without what they
	// carry: up to most.
	Unread(ctx context.Context, run string, most int) (all int64, first []storage.Message, err error)
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
//limit:storage messages read at once (`backend.MaxMessages`) | {} | the next page
const MaxMessages = 500

// Limits of the messages that a run has not read. Commands have another tenth of the number, so that a run with a full
// inbox can be cancelled.
const (
	//limit:storage signals and events that a run has not read (`backend.MaxInbox`, `MaxInboxBytes`) | {}, and
	//limit:and {MaxInboxBytes B} of data | the next one is refused
	MaxInbox      = 10_000   // number of messages
	MaxInboxBytes = 64 << 20 // bytes of their bodies
)

// AllMessages returns all messages in the inbox of a run, and the run's wakeup counter. An inbox may not fit in
// memory: where that matters, read it page by page with [Inbox].
func AllMessages(ctx context.Context, s Inbox, run string) (wakeups int64, all []storage.Message, err error) {
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

// CheckWorkRequest returns an error that wraps ErrInvalid and names the problem if [Inbox.TakeToken] cannot serve the
// request.
func CheckWorkRequest(t *storage.WorkRequest) error {
	if len(t.Queues) == 0 || len(t.Queues) > MaxQueues {
		return fmt.Errorf("%w: want 1 to %d queues to take work from", storage.ErrInvalid, MaxQueues)
	}
	if slices.Contains(t.Queues, "") {
		return fmt.Errorf("%w: queue name is empty", storage.ErrInvalid)
	}
	if t.Worker == "" || len(t.Worker) > MaxID || t.Lease < 0 {
		return fmt.Errorf("%w: want a worker name of 1 to %d bytes and a lease that is not negative",
			storage.ErrInvalid, MaxID)
	}
	return checkTexts(append(slices.Clip(t.Queues), t.Worker)...)
}

// CheckHeartbeat returns an error that wraps ErrInvalid and names the problem if [Inbox.KeepToken] cannot serve the
// request.
func CheckHeartbeat(k *storage.Heartbeat) error {
	if k.Take < 0 || k.Lease < 0 || !(k.Progress >= 0 && k.Progress <= 1) || k.GiveBack && k.Take == 0 {
		return fmt.Errorf("%w: want a lease that is not negative, a progress from 0 to 1, and a number of a take that is "+
			"not negative, and not 0 to give the work back", storage.ErrInvalid)
	}
	if len(k.Details) > atom.MaxFailureDetails {
		return fmt.Errorf("%w: the details of a heartbeat have at most %d bytes", storage.ErrInvalid, atom.MaxFailureDetails)
	}
	return nil
}

// An Arrival names a run that received messages.
type Arrival struct {
	Run     string // id of the run
	Wakeups int64  // the run's wakeup counter after the last of these messages
}

// MessageTaken is the kind of the message that tells a run that a worker took the work of a token, see [Inbox].
// Name is the token's id, Path and Incarnation identify the atom. Body is the worker's name, as a JSON string.
const MessageTaken grow.MessageKind = "taken"

// MessageRetaken is the kind sent in place of MessageTaken when the work was taken before.
const MessageRetaken grow.MessageKind = "retaken"

// MessageToken is the kind of the message that tells a run that a token ended. Name is the token's id, Path and
// Incarnation identify the atom. Body is the result, unless Failure is set.
const MessageToken grow.MessageKind = "token"

// MessageReceipt is the kind of the message that tells a run what became of a message that it had sent. Name is the
// Receipt of that message, and Note its Note. Body is the id of the run that received it, a JSON string, unless Failure
// is set. The store sends it if no open run has the address. The process that drives the addressed run sends it in all
// other cases. A run that has ended gets no receipt.
const MessageReceipt grow.MessageKind = "receipt"

// Returned returns the message that tells the sender that no run received the message; why completes the sentence "the
// message was not delivered: ".
func Returned(m *storage.Message, why string) storage.Message {
	return storage.Message{
		Run: m.From, Kind: MessageReceipt, Name: m.Receipt, Note: m.Note, Sent: m.Sent,
		Failure: &atom.Failure{Code: atom.CodeUndelivered, Message: "the message was not delivered: " + why},
	}
}

// Received returns the message that tells the sender that a run received the message.
func Received(m *storage.Message, run string) storage.Message {
	return storage.Message{Run: m.From, Kind: MessageReceipt, Name: m.Receipt, Note: m.Note, Body: atom.MustEncode(run)}
}

// NeedsOpen reports whether only a run that has not ended gets the message.
func NeedsOpen(m *storage.Message) bool { return m.Receipt != "" || m.Kind == MessageReceipt }

// CheckMessage returns an error that wraps ErrInvalid and names the problem if the message cannot be sent.
func CheckMessage(m *storage.Message) error {
	switch {
	case len(m.Key) > MaxID:
		return fmt.Errorf("%w: the message's key %.20q… is longer than %d bytes", storage.ErrInvalid, m.Key, MaxID)
	case len(m.Receipt) > MaxID:
		return fmt.Errorf("%w: the message's receipt %.20q… is longer than %d bytes", storage.ErrInvalid, m.Receipt, MaxID)
	case m.Issuer != nil && len(m.Issuer.Name) > MaxID:
		return fmt.Errorf("%w: the name %.20q… of who gives a command is longer than %d bytes", storage.ErrInvalid,
			m.Issuer.Name, MaxID)
	case m.Receipt != "" && m.From == "":
		return fmt.Errorf("%w: a message with the receipt %q needs a sender", storage.ErrInvalid, m.Receipt)
	}
	if err := checkKey(m.ToKey); err != nil {
		return err
	}
	if err := checkValue("data of the message", m.Body); err != nil {
		return err
	}
	return checkTexts(m.Run, string(m.Kind), m.Path, m.Name, m.Key, m.From, m.Receipt, m.Issuer.Text())
}
