package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
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
	if r.head.Owner == "" && (r.head.Due.IsZero() || r.head.Due.After(now)) {
		r.head.Due = now
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

// token returns a copy of a token that is there.
func (m *memory) token(id string) Token {
	t := *m.tokens[id]
	t.Failure = copyFailure(t.Failure)
	return t
}

// setToken adds a token, or ends one that is open.
func (m *memory) setToken(r *memoryRun, t Token) {
	t.Run, t.Failure = r.head.ID, copyFailure(t.Failure)
	there := m.tokens[t.ID]
	switch {
	case there == nil:
		m.tokens[t.ID] = &t
		r.tokens = append(r.tokens, t.ID)
		if t.State == TokenOpen {
			r.open = append(r.open, t.ID)
		}
	case there.State == TokenOpen && there.Run == t.Run:
		*there = t
		if t.State != TokenOpen {
			r.shut(t.ID)
		}
	}
}

// shut takes a token off the list of open ones.
func (r *memoryRun) shut(id string) {
	r.open = slices.DeleteFunc(r.open, func(open string) bool { return open == id })
}

// openToken returns the token of that id, if it is open.
func (m *memory) openToken(id string) (*Token, error) {
	t := m.tokens[id]
	if t == nil {
		return nil, fmt.Errorf("%w: token %q", ErrNotFound, id)
	}
	if t.State != TokenOpen {
		return nil, ErrGone
	}
	return t, nil
}

// EndToken completes or fails an open token, and tells its run.
func (m *MemoryStore) EndToken(ctx context.Context, id string, result atom.Value, failure *atom.Failure) (Token, error) {
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.openToken(id)
	if err != nil {
		return Token{}, err
	}
	t.State, t.Result, t.Failure = TokenCompleted, result, nil
	if failure != nil {
		t.State, t.Result, t.Failure = TokenFailed, nil, copyFailure(failure)
	}
	r := m.runs[t.Run]
	r.shut(id)
	m.deliver(r, t.Letter())
	return m.token(id), nil
}

// Letter returns what the token's run is told of its end. For those who write
// stores.
func (t *Token) Letter() Letter {
	return Letter{
		Run: t.Run, Kind: LetterToken, Path: t.Path, Incarnation: t.Incarnation,
		Name: t.ID, Body: t.Result, Failure: t.Failure,
	}
}

// Beat renews an open token's heartbeat.
func (m *MemoryStore) Beat(ctx context.Context, id string) (Token, error) {
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.openToken(id)
	if err != nil {
		return Token{}, err
	}
	t.Beat = time.Now()
	return m.token(id), nil
}

// Outgoing returns what wants to be sent.
func (m *MemoryStore) Outgoing(ctx context.Context, now time.Time, limit int) ([]Outgoing, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	type lane struct{ run, target string }
	seen := map[lane]bool{}
	var out []Outgoing
	for _, o := range m.outbox {
		if len(out) == limit && limit > 0 {
			break
		}
		if l := (lane{o.Run, o.Target}); !seen[l] {
			seen[l] = true
			if !o.Parked && !o.NotUntil.After(now) {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// Sent deletes what was sent.
func (m *MemoryStore) Sent(ctx context.Context, n ...int64) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.outbox = slices.DeleteFunc(m.outbox, func(o Outgoing) bool { return slices.Contains(n, o.N) })
	return nil
}

// Unsent stores that sending failed.
func (m *MemoryStore) Unsent(ctx context.Context, out Outgoing) error {
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
	return fmt.Errorf("%w: outgoing %d", ErrNotFound, out.N)
}
