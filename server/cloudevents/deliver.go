package cloudevents

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Tell inserts events into the inbox of a run, all or none. If the run does not exist, it returns an error that
// wraps [storage.ErrNotFound]. If its inbox is full, the error wraps
// [storage.ErrFull]; if it has ended, [storage.ErrEnded].
func Tell(ctx context.Context, store storage.Store, run string, events ...Event) error {
	messages := make([]storage.Message, len(events))
	for i, e := range events {
		messages[i] = e.message()
		messages[i].Run = run
	}
	return backend.Of(store).Send(ctx, messages...)
}

// message returns the message with which a run receives the event.
func (e Event) message() storage.Message {
	key := "event " + e.Attribute("source") + " " + e.Attribute("id")
	if len(key) > backend.MaxID {
		sum := sha256.Sum256([]byte(key))
		key = "event " + hex.EncodeToString(sum[:])
	}
	return storage.Message{
		Kind: grow.MessageEvent, Name: clip(e.Attribute("type")), Key: key, Body: e.Body(),
		Sent: time.Now(),
	}
}

// clip shortens a name to the limit of messages, between two characters.
func clip(name string) string {
	if len(name) <= backend.MaxID {
		return name
	}
	end := backend.MaxID
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// Limits of one delivery.
const (
	// maxTopics is the maximum number of different values of extension attributes in the events of one delivery.
	//
	//limit:cloudevents values of extension attributes in a batch | {} | 400
	maxTopics = 10_000

	//limit:cloudevents messages of an event in one transaction | {} of {maxMessagesBytes B} together | the next
	//limit:and transaction
	maxMessages      = 500
	maxMessagesBytes = 8 << 20 // bytes in one transaction, unless one message is larger
)

// Deliver inserts events into the inboxes of the runs that wait for them. A run waits if it has not ended and has a
// label (see [grow.CorrelationLabel]) for an attribute of the event with this value. Deliver returns the ids of the
// runs, ordered by id.
//
// Deliver makes one query, regardless of the number of events and attributes. Its cost grows with that number and
// with the number of waiting runs, not with the number of all runs. Deliver does not find a run that sets its label
// a moment later. If an event answers a run, send the event after the run has asked.
//
// If many runs wait, Deliver stores the messages in several transactions. After an error, some of the runs may have
// the events. Deliver them again: a run drops an event that it already has. If the inbox of a run is full, the others
// have the events, and Deliver returns an error that wraps [storage.ErrFull]. If the events have more than maxTopics
// values, Deliver returns an error that wraps [ErrInvalid].
func Deliver(ctx context.Context, opened storage.Store, events ...Event) ([]string, error) {
	store, wanted := backend.Of(opened), map[string]bool{}
	topics := make([][]string, len(events))
	for i, e := range events {
		topics[i] = e.topics()
		for _, topic := range topics[i] {
			wanted[topic] = true
		}
	}
	if len(wanted) > maxTopics {
		return nil, invalid("the events have %d different values of extension attributes; %d is the most: send smaller "+
			"batches", len(wanted), maxTopics)
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	waiting, err := store.Labeled(ctx, grow.Correlated, slices.Sorted(maps.Keys(wanted))...)
	if err != nil {
		return nil, err
	}
	told := map[string]bool{}
	out := delivery{store: store, told: told}
	for i, e := range events {
		var runs []string
		for _, topic := range topics[i] {
			runs = append(runs, waiting[topic]...)
		}
		if len(runs) == 0 {
			continue
		}
		slices.Sort(runs)
		message := e.message()
		for _, run := range slices.Compact(runs) {
			told[run], message.Run = true, run
			if err := out.add(ctx, message); err != nil {
				return nil, err
			}
		}
	}
	err = cmp.Or(out.send(ctx), out.full)
	return slices.Sorted(maps.Keys(told)), err
}

// topics returns the labels of the runs that wait for the event.
func (e Event) topics() []string {
	var out []string
	for name := range e {
		if value := e.Attribute(name); !core[name] && value != "" {
			out = append(out, grow.CorrelationLabel(name, value))
		}
	}
	return out
}

// A delivery sends messages in transactions of limited size.
type delivery struct {
	store    backend.Store
	messages []storage.Message
	bytes    int
	told     map[string]bool // the runs that have the events
	full     error           // of a run whose inbox is full
}

func (d *delivery) add(ctx context.Context, l storage.Message) error {
	if len(d.messages) == maxMessages || d.bytes+len(l.Body) > maxMessagesBytes {
		if err := d.send(ctx); err != nil {
			return err
		}
	}
	d.messages, d.bytes = append(d.messages, l), d.bytes+len(l.Body)
	return nil
}

func (d *delivery) send(ctx context.Context) error {
	if len(d.messages) == 0 {
		return nil
	}
	messages := d.messages
	d.messages, d.bytes = d.messages[:0], 0
	err := d.store.Send(ctx, messages...)
	if !isAboutRun(err) {
		return err
	}
	for _, l := range messages { // one run that does not take its message must not keep it from the others
		switch err := d.store.Send(ctx, l); {
		case errors.Is(err, storage.ErrFull):
			d.full = err
			delete(d.told, l.Run)
		case isAboutRun(err): // it ended meanwhile
			delete(d.told, l.Run)
		case err != nil:
			return err
		}
	}
	return nil
}

// isAboutRun reports whether an error is about one of the runs that messages are for.
func isAboutRun(err error) bool {
	return errors.Is(err, storage.ErrEnded) || errors.Is(err, storage.ErrFull) || errors.Is(err, storage.ErrNotFound)
}
