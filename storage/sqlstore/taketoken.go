package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	keepToken = `UPDATE tokens SET beat = $1, lease = $2 WHERE id = $3 AND state = ` + tokenOpen + ` AND take = $4`

	// Tokens that can be taken are in an index; those with a lease that has not expired are at its end.
	queuedToken = `SELECT id, coalesce(lease, beat, 0) AS since FROM tokens
WHERE queue = $1 AND queue <> '' AND state = ` + tokenOpen + ` AND (worker = '' OR lease IS NOT NULL)
AND (worker = '' OR lease <= $2)
ORDER BY coalesce(lease, beat, 0), id LIMIT 1`
	takeToken = `UPDATE tokens SET worker = $1, beat = $2, since = $2, lease = $3, take = take + 1 WHERE id = $4
		AND state = ` + tokenOpen + ` AND take = $5`
)

// TakeToken implements [storage.Inbox.TakeToken].
func (s *Store) TakeToken(ctx context.Context, q storage.Taking) (t storage.Token, err error) {
	if err := q.Check(); err != nil {
		return t, err
	}
	err = s.view(ctx, func(r *session) error { // read first, so that empty queues do not cost a turn to write
		_, err := longestQueued(ctx, r, q.Queues)
		return err
	})
	if err != nil {
		return t, err
	}
	err = s.update(ctx, &write{
		alone: s.dialect.locks,
		do: func(ctx context.Context, w *session) error {
			taken, n, err := takeFrom(ctx, w, &q)
			if err != nil {
				return err
			}
			if t = taken; !rules.Tells(&t) {
				return nil
			}
			message := rules.TakenMessage(&taken)
			return deliver(ctx, w, n, &message)
		},
		arrivals: wakeup.Moves,
	})
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}

// longestQueued returns the id of the token with the longest wait in some queues.
func longestQueued(ctx context.Context, r *session, queues []string) (string, error) {
	now, err := r.now(ctx)
	if err != nil {
		return "", err
	}
	type queued struct {
		ID    string
		Since int64
	}
	var longest queued
	for _, queue := range queues {
		var first queued
		if err := r.Get(ctx, &first, queuedToken, queue, micros(now)); errors.Is(err, storage.ErrNotFound) {
			continue
		} else if err != nil {
			return "", err
		}
		if longest.ID == "" || first.Since < longest.Since {
			longest = first
		}
	}
	if longest.ID == "" {
		return "", rules.NoWork(queues)
	}
	return longest.ID, nil
}

// takeFrom gives the work with the longest wait to the worker.
func takeFrom(ctx context.Context, w *session, q *storage.Taking) (storage.Token, int64, error) {
	for {
		id, err := longestQueued(ctx, w, q.Queues)
		if err != nil {
			return storage.Token{}, 0, err
		}
		if err := holdRunOf(ctx, w, id); err != nil {
			return storage.Token{}, 0, err
		}
		now, err := w.now(ctx)
		if err != nil {
			return storage.Token{}, 0, err
		}
		found, _, err := findToken(ctx, w, id)
		if err != nil {
			return storage.Token{}, 0, err
		}
		if found.State != storage.TokenOpen || !rules.FreeBy(&found, now) { // another worker was faster
			continue
		}
		before := found.Take
		rules.Take(&found, q, now)
		taken, n, err := changeToken(ctx, w, id, takeToken, found.Worker, micros(found.Beat), micros(found.Lease), id, before)
		if !errors.Is(err, storage.ErrGone) && !errors.Is(err, storage.ErrTaken) {
			return taken, n, err
		}
	}
}

// KeepToken implements [storage.Inbox.KeepToken].
func (s *Store) KeepToken(ctx context.Context, id string, take int64,
	lease time.Duration,
) (t storage.Token, err error) {
	err = s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		now, err := w.now(ctx)
		if err != nil {
			return err
		}
		var until time.Time
		if lease > 0 {
			until = now.Add(lease)
		}
		t, _, err = changeToken(ctx, w, id, keepToken, micros(time.Now()), micros(until), id, take)
		return err
	}})
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}
