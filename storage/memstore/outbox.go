package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// Outgoing implements [backend.Outbox.Outgoing].
func (m *store) Outgoing(ctx context.Context, now time.Time, limit int) ([]storage.Outgoing, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	type bucket struct{ run, target string }
	seen := map[bucket]bool{}
	var out []storage.Outgoing
	for _, o := range m.outbox {
		if len(out) == limit && limit > 0 {
			break
		}
		if l := (bucket{o.Run, o.Target}); !seen[l] {
			seen[l] = true
			if !o.Parked && !o.NotUntil.After(now) {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// ParkedMessages implements [backend.Outbox.ParkedMessages].
func (m *store) ParkedMessages(ctx context.Context, limit int) ([]storage.Outgoing, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []storage.Outgoing
	for _, o := range m.outbox {
		if o.Parked && (limit == 0 || len(out) < limit) {
			o.Body = nil
			out = append(out, o)
		}
	}
	return out, nil
}

// RunOutbox implements [backend.Reader.RunOutbox].
func (m *store) RunOutbox(ctx context.Context, run string, limit int) ([]storage.Outgoing, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []storage.Outgoing
	for _, o := range m.outbox {
		if o.Run == run && (limit == 0 || len(out) < limit) {
			out = append(out, o)
		}
	}
	return out, nil
}

// Sent implements [backend.Outbox.Sent].
func (m *store) Sent(ctx context.Context, n ...int64) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.outbox = slices.DeleteFunc(m.outbox, func(o storage.Outgoing) bool { return slices.Contains(n, o.N) })
	return nil
}

// Unsent implements [backend.Outbox.Unsent].
func (m *store) Unsent(ctx context.Context, out storage.Outgoing) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for i := range m.outbox {
		if o := &m.outbox[i]; o.N == out.N {
			o.Attempts, o.NotUntil, o.Parked, o.Error = out.Attempts, out.NotUntil, out.Parked, out.Error
			return nil
		}
	}
	return fmt.Errorf("%w: outgoing %d", storage.ErrNotFound, out.N)
}
