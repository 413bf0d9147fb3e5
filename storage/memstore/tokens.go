package memstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// token returns a copy of a token that is there.
func (m *memory) token(id string) storage.Token {
	t := *m.tokens[id]
	t.Failure = rules.CopyFailure(t.Failure)
	return t
}

// setToken adds a token, or ends one that is open.
func (m *memory) setToken(r *runRecord, t storage.Token) {
	t.Run, t.Failure = r.head.ID, rules.CopyFailure(t.Failure)
	if t.State != storage.TokenOpen {
		t.Work = nil
	}
	there := m.tokens[t.ID]
	switch {
	case there == nil:
		m.tokens[t.ID] = &t
		r.tokens = append(r.tokens, t.ID)
		if t.State == storage.TokenOpen {
			r.open = append(r.open, t.ID)
		}
		if t.Queue != "" && takeable(&t) {
			if m.queues == nil {
				m.queues = map[string][]string{}
			}
			m.queues[t.Queue] = append(m.queues[t.Queue], t.ID)
		}
	case there.State == storage.TokenOpen && there.Run == t.Run:
		*there = t
		if t.State != storage.TokenOpen {
			r.shut(t.ID)
		}
	}
}

// shut takes a token off the list of open ones.
func (r *runRecord) shut(id string) {
	r.open = slices.DeleteFunc(r.open, func(open string) bool { return open == id })
}

// openToken returns the token of that id, if it is open.
func (m *memory) openToken(id string) (*storage.Token, error) {
	t := m.tokens[id]
	if t == nil {
		return nil, fmt.Errorf("%w: token %q", storage.ErrNotFound, id)
	}
	if t.State != storage.TokenOpen {
		return nil, storage.ErrGone
	}
	return t, nil
}

// takenToken returns the token of that id, if it is open and still belongs to the worker
// that took it under that number.
func (m *memory) takenToken(id string, take int64) (*storage.Token, error) {
	t, err := m.openToken(id)
	if err == nil && !rules.Has(t, take) {
		return nil, storage.ErrTaken
	}
	return t, err
}

// EndToken completes or fails an open token, and tells its run.
func (m *Store) EndToken(ctx context.Context, id string, result atom.Value, failure *atom.Failure) (storage.Token, error) {
	return m.FinishToken(ctx, id, 0, result, failure)
}

// FinishToken is EndToken by the worker that took the token.
func (m *Store) FinishToken(ctx context.Context, id string, take int64, result atom.Value, failure *atom.Failure) (storage.Token, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.takenToken(id, take)
	if err != nil {
		return storage.Token{}, err
	}
	t.State, t.Work, t.Result, t.Failure = storage.TokenCompleted, nil, result, nil
	if failure != nil {
		t.State, t.Result, t.Failure = storage.TokenFailed, nil, rules.CopyFailure(failure)
	}
	r := m.runs[t.Run]
	r.shut(id)
	m.deliver(r, rules.EndedMessage(t))
	return m.token(id), nil
}

// TakeToken gives the work that has waited longest to a worker.
func (m *Store) TakeToken(ctx context.Context, q storage.Taking) (storage.Token, error) {
	if err := q.Check(); err != nil {
		return storage.Token{}, err
	}
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	var longest *storage.Token
	for _, queue := range q.Queues {
		waiting := slices.DeleteFunc(m.queues[queue], func(id string) bool {
			t := m.tokens[id]
			return t == nil || t.State != storage.TokenOpen || !takeable(t)
		})
		if delete(m.queues, queue); len(waiting) > 0 {
			m.queues[queue] = waiting
		}
		for _, id := range waiting {
			if t := m.tokens[id]; rules.FreeBy(t, now) && (longest == nil || waitsLonger(t, longest)) {
				longest = t
			}
		}
	}
	if longest == nil {
		return storage.Token{}, rules.NoWork(q.Queues)
	}
	rules.Take(longest, &q, now)
	if rules.Tells(longest) {
		m.deliver(m.runs[longest.Run], rules.TakenMessage(longest))
	}
	return m.token(longest.ID), nil
}

// Beat renews an open token's heartbeat.
func (m *Store) Beat(ctx context.Context, id string) (storage.Token, error) {
	return m.KeepToken(ctx, id, 0, 0)
}

// KeepToken is Beat by the worker that took the token.
func (m *Store) KeepToken(ctx context.Context, id string, take int64, lease time.Duration) (storage.Token, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.takenToken(id, take)
	if err != nil {
		return storage.Token{}, err
	}
	t.Beat = time.Now()
	if take != 0 {
		t.Lease = rules.Until(t.Beat, lease)
	}
	return m.token(id), nil
}

// waitsLonger reports whether the token's work is to be taken before other's.
func waitsLonger(t, other *storage.Token) bool {
	return waitsSince(t).Before(waitsSince(other))
}

func waitsSince(t *storage.Token) time.Time {
	if t.Lease.IsZero() {
		return t.Beat
	}
	return t.Lease
}

// takeable reports whether the token's work may be taken, now or when its lease has
// run out.
func takeable(t *storage.Token) bool { return t.Worker == "" || !t.Lease.IsZero() }
