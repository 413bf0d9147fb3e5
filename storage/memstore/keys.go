package memstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// keyFree returns a *[storage.KeyTakenError] if another run than this one holds the key.
func (m *memory) keyFree(key, run string) error {
	if holder := m.keys[key]; key != "" && holder != "" && holder != run {
		return &storage.KeyTakenError{Key: key, Run: holder}
	}
	return nil
}

// childKeyFree returns a *[storage.KeyTakenError] if child i of a checkpoint cannot have its key.
func (m *memory) childKeyFree(run string, cp *backend.Checkpoint, i int) error {
	child := &cp.Children[i]
	if child.Key == "" {
		return nil
	}
	for _, before := range cp.Children[:i] {
		if before.Key == child.Key {
			return &storage.KeyTakenError{Key: child.Key, Run: before.ID}
		}
	}
	if cp.Head.State.Ended() && m.keys[child.Key] == run { // this checkpoint releases it
		return nil
	}
	return m.keyFree(child.Key, child.ID)
}

// takeKey makes the run the holder of its key, which is free.
func (m *memory) takeKey(r *runRecord) {
	if r.head.Key == "" {
		return
	}
	if m.keys == nil {
		m.keys = map[string]string{}
	}
	m.keys[r.head.Key] = r.head.ID
}

// releaseKey makes the key of a run that ends free.
func (m *memory) releaseKey(r *runRecord) {
	if m.keys[r.head.Key] == r.head.ID {
		delete(m.keys, r.head.Key)
	}
}

// receiver returns the run that receives a message; nil if there is none.
func (m *memory) receiver(l *storage.Message) *runRecord {
	id := l.Run
	if l.ToKey != "" {
		if id = m.keys[l.ToKey]; l.Run != "" && l.Run != id {
			return nil
		}
	}
	r := m.runs[id]
	if r == nil || backend.NeedsOpen(l) && r.head.State.Ended() {
		return nil
	}
	return r
}

// send delivers a message. If no run can receive it, it returns the message to its sender if it has a receipt, and
// drops it otherwise.
func (m *memory) send(l storage.Message) {
	to := m.receiver(&l)
	if to == nil && l.Receipt != "" {
		l = backend.Returned(&l, "no open run has its address")
		to = m.receiver(&l)
	}
	if to != nil {
		m.deliver(to, l)
	}
}

// owes reports whether the run still has to return a message to its sender.
func (r *runRecord) owes() bool {
	return slices.ContainsFunc(r.messages, func(l storage.Message) bool { return l.Receipt != "" })
}

// OpenRun implements [backend.Keys.OpenRun].
func (m *store) OpenRun(ctx context.Context, key string) (id string, err error) {
	if err := m.enter(ctx); err != nil {
		return "", err
	}
	defer m.mu.Unlock()
	id = m.keys[key]
	if m.runs[id] == nil {
		return "", fmt.Errorf("%w: open run with the key %q", storage.ErrNotFound, key)
	}
	return id, nil
}

// StrayKeys implements [backend.Keys.StrayKeys].
func (m *store) StrayKeys(ctx context.Context, _ int) ([]string, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	m.mu.Unlock()
	return nil, nil
}
