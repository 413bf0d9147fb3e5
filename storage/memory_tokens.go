package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// token returns a copy of a token that is there.
func (m *memory) token(id string) Token {
	t := *m.tokens[id]
	t.Failure = copyFailure(t.Failure)
	return t
}

// setToken adds a token, or ends one that is open.
func (m *memory) setToken(r *memoryRun, t Token) {
	t.Run, t.Failure = r.head.ID, copyFailure(t.Failure)
	if t.State != TokenOpen {
		t.Work = nil
	}
	there := m.tokens[t.ID]
	switch {
	case there == nil:
		m.tokens[t.ID] = &t
		r.tokens = append(r.tokens, t.ID)
		if t.State == TokenOpen {
			r.open = append(r.open, t.ID)
		}
		if t.Queue != "" && t.Free() {
			if m.queues == nil {
				m.queues = map[string][]string{}
			}
			m.queues[t.Queue] = append(m.queues[t.Queue], t.ID)
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

// takenToken returns the token of that id, if it is open and still is of who took
// it under that number.
func (m *memory) takenToken(id string, take int64) (*Token, error) {
	t, err := m.openToken(id)
	if err == nil && !t.Has(take) {
		return nil, ErrTaken
	}
	return t, err
}

// EndToken completes or fails an open token, and tells its run.
func (m *MemoryStore) EndToken(ctx context.Context, id string, result atom.Value, failure *atom.Failure) (Token, error) {
	return m.FinishToken(ctx, id, 0, result, failure)
}

// FinishToken is EndToken by the worker who took it.
func (m *MemoryStore) FinishToken(ctx context.Context, id string, take int64, result atom.Value, failure *atom.Failure) (Token, error) {
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.takenToken(id, take)
	if err != nil {
		return Token{}, err
	}
	t.State, t.Work, t.Result, t.Failure = TokenCompleted, nil, result, nil
	if failure != nil {
		t.State, t.Result, t.Failure = TokenFailed, nil, copyFailure(failure)
	}
	r := m.runs[t.Run]
	r.shut(id)
	m.deliver(r, t.Message())
	return m.token(id), nil
}

// TakeToken gives the work that has waited longest to a worker.
func (m *MemoryStore) TakeToken(ctx context.Context, q Taking) (Token, error) {
	if err := q.Check(); err != nil {
		return Token{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	var longest *Token
	for _, queue := range q.Queues {
		waiting := slices.DeleteFunc(m.queues[queue], func(id string) bool {
			t := m.tokens[id]
			return t == nil || t.State != TokenOpen || !t.Free()
		})
		if delete(m.queues, queue); len(waiting) > 0 {
			m.queues[queue] = waiting
		}
		for _, id := range waiting {
			if t := m.tokens[id]; t.FreeBy(now) && (longest == nil || t.waitsLonger(longest)) {
				longest = t
			}
		}
	}
	if longest == nil {
		return Token{}, NoWork(q.Queues)
	}
	longest.TakenBy(&q, now)
	if longest.Tells() {
		m.deliver(m.runs[longest.Run], longest.TakenMessage())
	}
	return m.token(longest.ID), nil
}

// Beat renews an open token's heartbeat.
func (m *MemoryStore) Beat(ctx context.Context, id string) (Token, error) {
	return m.KeepToken(ctx, id, 0, 0)
}

// KeepToken is Beat by the worker who took it.
func (m *MemoryStore) KeepToken(ctx context.Context, id string, take int64, lease time.Duration) (Token, error) {
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.takenToken(id, take)
	if err != nil {
		return Token{}, err
	}
	t.Beat = time.Now()
	if take != 0 {
		t.Lease = until(t.Beat, lease)
	}
	return m.token(id), nil
}
