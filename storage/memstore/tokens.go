package memstore

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// token returns a copy of an existing token.
func (m *memory) token(id string) storage.Token {
	t := *m.tokens[id]
	t.Failure = rules.CopyFailure(t.Failure)
	return t
}

// setToken adds a token, or changes an open token.
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
		m.queue(&t)
	case there.State == storage.TokenOpen && there.Run == t.Run:
		t.Progress, t.Details, t.GiveUp = there.Progress, there.Details, there.GiveUp
		*there = t
		if t.State != storage.TokenOpen {
			r.shut(t.ID)
		}
	}
}

// queue puts a token that a worker can take into its queue.
func (m *memory) queue(t *storage.Token) {
	if t.Queue == "" || !takeable(t) {
		return
	}
	if m.queues == nil {
		m.queues = map[string][]string{}
	}
	m.queues[t.Queue] = append(m.queues[t.Queue], t.ID)
}

// shut removes a token from the list of open tokens.
func (r *runRecord) shut(id string) {
	r.open = slices.DeleteFunc(r.open, func(open string) bool { return open == id })
}

// openToken returns the token with that id if it is open.
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

// takenToken returns the token with that id if it is open and still belongs to the worker that took it under the
// number take.
func (m *memory) takenToken(id string, take int64) (*storage.Token, error) {
	t, err := m.openToken(id)
	if err == nil && !rules.Has(t, take) {
		return nil, storage.ErrTaken
	}
	return t, err
}

// EndToken implements [backend.Inbox.EndToken].
func (m *store) EndToken(ctx context.Context, id string, end storage.TokenEnd) (storage.Token, error) {
	if err := backend.CheckTokenEnd(&end); err != nil {
		return storage.Token{}, err
	}
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.takenToken(id, end.Take)
	if err != nil {
		return storage.Token{}, err
	}
	if !end.Beat.IsZero() && !end.Beat.Equal(t.Beat) {
		return storage.Token{}, storage.ErrTaken
	}
	r := m.runs[t.Run]
	if end.Failure == nil {
		if err := rules.CheckResult(t.Run, t.Path, t.Work, m.awaited(r), end.Result); err != nil {
			return storage.Token{}, err
		}
	}
	t.State, t.Work, t.Result, t.Failure = storage.TokenCompleted, nil, end.Result, nil
	if end.Failure != nil {
		t.State, t.Result, t.Failure = storage.TokenFailed, nil, rules.CopyFailure(end.Failure)
	}
	r.shut(id)
	m.deliver(r, rules.EndedMessage(t, end.Issuer))
	return m.token(id), nil
}

// TakeToken implements [backend.Inbox.TakeToken].
func (m *store) TakeToken(ctx context.Context, q storage.WorkRequest) (storage.Token, error) {
	if err := backend.CheckWorkRequest(&q); err != nil {
		return storage.Token{}, err
	}
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	now := time.Now()
	var longest *storage.Token
	for t := range m.queued(q.Queues, now) {
		if longest == nil || comesBefore(t, longest) {
			longest = t
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

// Beat implements [backend.Inbox.Beat].
func (m *store) Beat(ctx context.Context, id string) (storage.Token, error) {
	return m.KeepToken(ctx, id, storage.Heartbeat{})
}

// KeepToken implements [backend.Inbox.KeepToken].
func (m *store) KeepToken(ctx context.Context, id string, k storage.Heartbeat) (storage.Token, error) {
	if err := backend.CheckHeartbeat(&k); err != nil {
		return storage.Token{}, err
	}
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	t, err := m.takenToken(id, k.Take)
	if err != nil {
		return storage.Token{}, err
	}
	queued := takeable(t)
	if rules.Keep(t, &k, time.Now()); !queued && !slices.Contains(m.queues[t.Queue], id) { // it may have got a lease
		m.queue(t)
	}
	return m.token(id), nil
}

// queued yields the tokens of some queues that a worker can take now, those of one queue in the order in which they
// were queued. It drops entries of tokens that can no longer be taken.
func (m *memory) queued(queues []string, now time.Time) iter.Seq[*storage.Token] {
	return func(yield func(*storage.Token) bool) {
		for _, queue := range queues {
			waiting := slices.DeleteFunc(m.queues[queue], func(id string) bool {
				t := m.tokens[id]
				return t == nil || t.State != storage.TokenOpen || !takeable(t)
			})
			if delete(m.queues, queue); len(waiting) > 0 {
				m.queues[queue] = waiting
			}
			for _, id := range waiting {
				if t := m.tokens[id]; rules.FreeBy(t, now) && !yield(t) {
					return
				}
			}
		}
	}
}

// QueuedTokens implements [backend.Queues.QueuedTokens].
func (m *store) QueuedTokens(ctx context.Context, queues []string, most int) (ids []string, err error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	found := slices.SortedStableFunc(m.queued(queues, time.Now()), func(a, b *storage.Token) int {
		switch {
		case comesBefore(a, b):
			return -1
		case comesBefore(b, a):
			return 1
		}
		return 0
	})
	for _, t := range found[:min(most, len(found))] {
		ids = append(ids, t.ID)
	}
	return ids, nil
}

// CountQueued implements [backend.Queues.CountQueued].
func (m *store) CountQueued(ctx context.Context, queue string, most int64) (n int64, err error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	for range m.queued([]string{queue}, time.Now()) {
		if n == most {
			break
		}
		n++
	}
	return n, nil
}

// comesBefore reports whether TakeToken gives out the token's work before the other's.
func comesBefore(t, other *storage.Token) bool {
	return t.Priority > other.Priority ||
		t.Priority == other.Priority && waitsSince(t).Before(waitsSince(other))
}

func waitsSince(t *storage.Token) time.Time {
	if t.Lease.IsZero() {
		return t.Beat
	}
	return t.Lease
}

// takeable reports whether a worker can take the token's work now or when its lease expires.
func takeable(t *storage.Token) bool { return t.Worker == "" || !t.Lease.IsZero() }
