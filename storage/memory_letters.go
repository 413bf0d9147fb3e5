package storage

import (
	"context"
	"time"
)

// Send puts letters into the boxes of runs.
func (m *MemoryStore) Send(ctx context.Context, letters ...Letter) error {
	for i := range letters {
		if err := letters[i].Check(); err != nil {
			return err
		}
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for i := range letters {
		if _, err := m.find(letters[i].Run); err != nil {
			return err
		}
	}
	for i := range letters {
		m.deliver(m.runs[letters[i].Run], letters[i])
	}
	return nil
}

// deliver puts the letter into the run's box, unless one of its key came before.
func (m *memory) deliver(r *memoryRun, l Letter) {
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
	r.head.Bell++
	l.N, l.Run, l.Failure = r.head.Bell, r.head.ID, copyFailure(l.Failure)
	if l.Sent.IsZero() {
		l.Sent = now
	}
	r.letters = append(r.letters, l)
	m.ringing(r, l.N)
	if r.head.Owner == "" && (r.head.Due.IsZero() || r.head.Due.After(now)) {
		r.head.Due = now
		m.wants(r)
	}
	m.rang()
}

// Bell returns the run's bell and letters.
func (m *MemoryStore) Bell(ctx context.Context, run string) (int64, []Letter, error) {
	if err := m.enter(ctx); err != nil {
		return 0, nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return 0, nil, err
	}
	return r.head.Bell, r.listLetters(), nil
}
