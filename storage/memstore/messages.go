package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// Send implements [backend.Inbox.Send].
func (m *store) Send(ctx context.Context, messages ...storage.Message) error {
	for i := range messages {
		if err := backend.CheckMessage(&messages[i]); err != nil {
			return err
		}
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for i := range messages {
		l := &messages[i]
		r := m.receiver(l)
		switch {
		case r != nil:
			if err := m.takes(r, l, messages[:i]); err != nil {
				return err
			}
		case !backend.NeedsOpen(l):
			return fmt.Errorf("%w: run %q", storage.ErrNotFound, cmp.Or(l.Run, l.ToKey))
		}
	}
	for i := range messages {
		m.send(messages[i])
	}
	return nil
}

// takes returns why a run does not take a message that somebody sends after others.
func (m *memory) takes(r *runRecord, l *storage.Message, before []storage.Message) error {
	if l.Key != "" && r.keys[l.Key] {
		return nil // it is dropped
	}
	of := rules.Receiver{Run: r.head.ID, State: r.head.State, Messages: int64(len(r.messages)), Awaited: m.awaited(r)}
	for i := range r.messages {
		of.Bytes += int64(len(r.messages[i].Body))
	}
	for i := range before {
		if m.receiver(&before[i]) == r {
			of.Messages++
			of.Bytes += int64(len(before[i].Body))
		}
	}
	return of.Takes(l)
}

// awaited returns the record of what the atoms of the run's plan take from outside.
func (m *memory) awaited(r *runRecord) atom.Value {
	return m.records.kinds[awaited.RecordKind][r.head.Structure].Body
}

// Received implements [backend.Inbox.Received].
func (m *store) Received(ctx context.Context, run, key string) (bool, error) {
	if err := m.enter(ctx); err != nil {
		return false, err
	}
	defer m.mu.Unlock()
	r := m.runs[run]
	return r != nil && r.keys[key], nil
}

// Stopping implements [backend.Inbox.Stopping].
func (m *store) Stopping(ctx context.Context, run string, ancestors int) (line []string, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	for r := m.runs[run]; r != nil && len(line) <= ancestors; r = m.runs[r.head.Parent] {
		line = append(line, r.head.ID)
		if slices.ContainsFunc(r.messages, func(l storage.Message) bool {
			return l.Kind == backend.MessageCancel || l.Kind == backend.MessageRevert
		}) {
			return line, nil
		}
	}
	return nil, nil
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

// Unread implements [backend.Inbox.Unread].
func (m *store) Unread(ctx context.Context, run string, most int) (all int64, first []storage.Message, err error) {
	if err := m.enter(ctx); err != nil {
		return 0, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return 0, nil, err
	}
	for _, l := range r.listMessages(0, most) {
		l.Body, l.Failure, l.Note = nil, nil, nil
		first = append(first, l)
	}
	return int64(len(r.messages)), first, nil
}

// Messages implements [backend.Inbox.Messages].
func (m *store) Messages(ctx context.Context, run string, after int64) (int64, []storage.Message, error) {
	if err := m.enter(ctx); err != nil {
		return 0, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return 0, nil, err
	}
	return r.head.Wakeups, r.listMessages(after, backend.MaxMessages), nil
}
