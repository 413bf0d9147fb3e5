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
	there := m.tokens[t.ID]
	switch {
	case there == nil:
		m.tokens[t.ID] = &t
		r.tokens = append(r.tokens, t.ID)
		if t.State == TokenOpen {
			r.open = append(r.open, t.ID)
		}
		if t.Queue != "" && t.Worker == "" {
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

// TakeToken gives the work of the queue that has waited longest to a worker.
func (m *MemoryStore) TakeToken(ctx context.Context, queue, worker string) (Token, error) {
	if err := CheckTake(queue, worker); err != nil {
		return Token{}, err
	}
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	queued := m.queues[queue]
	for len(queued) > 0 {
		id := queued[0]
		queued = queued[1:]
		t, err := m.openToken(id)
		if err != nil || t.Worker != "" {
			continue
		}
		m.queues[queue] = queued
		t.Worker, t.Beat = worker, time.Now()
		m.deliver(m.runs[t.Run], t.TakenLetter())
		return m.token(id), nil
	}
	delete(m.queues, queue)
	return Token{}, fmt.Errorf("%w: work in queue %q", ErrNotFound, queue)
}

// CheckTake returns ErrInvalid when work cannot be taken so. Stores call it
// first.
func CheckTake(queue, worker string) error {
	if queue == "" || worker == "" || len(worker) > MaxID {
		return fmt.Errorf("%w: work is taken from a queue, by a worker with a name of up to %d bytes", ErrInvalid, MaxID)
	}
	return nil
}

// TakenLetter returns what the token's run is told when its work was taken. For
// those who write stores.
func (t *Token) TakenLetter() Letter {
	return Letter{
		Run: t.Run, Kind: LetterTaken, Path: t.Path, Incarnation: t.Incarnation,
		Name: t.ID, Body: atom.MustEncode(t.Worker),
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
