package memstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Send implements [storage.Inbox.Send].
func (m *store) Send(ctx context.Context, messages ...storage.Message) error {
	for i := range messages {
		if err := messages[i].Check(); err != nil {
			return err
		}
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for i := range messages {
		if l := &messages[i]; m.receiver(l) == nil && !l.NeedsOpen() {
			return fmt.Errorf("%w: run %q", storage.ErrNotFound, cmp.Or(l.Run, l.ToKey))
		}
	}
	for i := range messages {
		m.send(messages[i])
	}
	return nil
}

// Received implements [storage.Inbox.Received].
func (m *store) Received(ctx context.Context, run, key string) (bool, error) {
	if err := m.enter(ctx); err != nil {
		return false, err
	}
	defer m.mu.Unlock()
	r := m.runs[run]
	return r != nil && r.keys[key], nil
}

// deliver inserts the message into the run's inbox, unless the run has had a message with the same key.
func (m *memory) deliver(r *runRecord, l storage.Message) {
	if l.Key != "" {
		if r.keys[l.Key] {
			return
		}
		if r.keys == nil {
			r.keys = map[string]bool{}
		}
		r.keys[l.Key] = true
	}
	now := time.Now()
	r.head.Wakeups++
	l.ToKey = ""
	l.N, l.Run, l.Failure = r.head.Wakeups, r.head.ID, rules.CopyFailure(l.Failure)
	if l.Sent.IsZero() {
		l.Sent = now
	}
	r.messages = append(r.messages, l)
	m.logArrival(r, l.N)
	if r.head.Owner == "" && (r.head.Due.IsZero() || r.head.Due.After(now)) {
		r.head.Due = now
		m.wants(r)
	}
	m.notify()
}

// Messages implements [storage.Inbox.Messages].
func (m *store) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	if err := m.enter(ctx); err != nil {
		return 0, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return 0, nil, err
	}
	return r.head.Wakeups, r.listMessages(after, storage.MaxMessages), nil
}
