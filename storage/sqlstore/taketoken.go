package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const (
	keepToken = `UPDATE tokens SET beat = $1, details = coalesce($5, details),
  lease = CASE WHEN CAST($2 AS BIGINT) = 0 THEN lease ELSE CAST($3 AS BIGINT) END,
  progress = CASE WHEN CAST($4 AS DOUBLE PRECISION) = 0 THEN progress ELSE CAST($4 AS DOUBLE PRECISION) END
WHERE id = $6 AND state = ` + tokenOpen + ` AND (CAST($2 AS BIGINT) = 0 OR take = CAST($2 AS BIGINT))` + returnToken

	// Tokens that can be taken are in an index. Of each priority, those with a lease that has not expired come last.
	queuedToken = `SELECT id, priority, coalesce(lease, beat, 0) AS since, place FROM tokens` + canBeTaken + inTurn
	countQueued = `SELECT count(*) FROM (SELECT 1 FROM tokens` + canBeTaken + ` LIMIT $3 + 0) q`
	canBeTaken  = `
WHERE queue = $1` + inQueue
	inQueue = ` AND queue <> '' AND state = ` + tokenOpen + ` AND (worker = '' OR lease IS NOT NULL)
AND ` + isFree
	isFree = `(worker = '' AND give_up = 0 OR lease <= $2)` // at the time $2
	inTurn = `
ORDER BY priority DESC, coalesce(lease, beat, 0), place, id LIMIT $3 + 0`
)

var takeToken = withRun(`UPDATE tokens SET worker = $1, beat = $2, since = $2, lease = $3, take = take + 1
WHERE id = $4 AND state = ` + tokenOpen + ` AND ` + isFree)

// TakeToken implements [storage.Inbox.TakeToken].
func (s *Store) TakeToken(ctx context.Context, q storage.WorkRequest) (t storage.Token, err error) {
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
	found, err := inTurns(ctx, r, queues, now, 1)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", rules.NoWork(queues)
	}
	return found[0].ID, nil
}

// A queuedRow is a token that can be taken, and its place in the order in which tokens are taken.
type queuedRow struct {
	ID       string
	Priority int32
	Since    int64
	Place    int64
}

func (q *queuedRow) compare(o *queuedRow) int {
	return cmp.Or(-cmp.Compare(q.Priority, o.Priority), cmp.Compare(q.Since, o.Since), cmp.Compare(q.Place, o.Place),
		cmp.Compare(q.ID, o.ID))
}

// inTurns returns up to most tokens of some queues that can be taken, in the order in which they are taken.
func inTurns(ctx context.Context, r *session, queues []string, now time.Time, most int) (found []queuedRow, err error) {
	for _, queue := range queues {
		var some []queuedRow
		if err := r.All(ctx, &some, queuedToken, queue, micros(now), most); err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	if len(queues) > 1 {
		slices.SortFunc(found, func(a, b queuedRow) int { return a.compare(&b) })
	}
	return found[:min(most, len(found))], nil
}

// QueuedTokens implements [storage.Queues.QueuedTokens].
func (s *Store) QueuedTokens(ctx context.Context, queues []string, most int) (ids []string, err error) {
	err = s.view(ctx, func(r *session) error {
		now, err := r.now(ctx)
		if err != nil {
			return err
		}
		found, err := inTurns(ctx, r, queues, now, most)
		if err != nil {
			return err
		}
		ids = make([]string, len(found))
		for i := range found {
			ids[i] = found[i].ID
		}
		return err
	})
	return ids, err
}

// CountQueued implements [storage.Queues.CountQueued].
func (s *Store) CountQueued(ctx context.Context, queue string, most int64) (n int64, err error) {
	err = s.view(ctx, func(r *session) error {
		now, err := r.now(ctx)
		if err != nil {
			return err
		}
		return r.Get(ctx, &n, countQueued, queue, micros(now), most)
	})
	return n, err
}

// takeFrom gives the work with the longest wait to the worker.
func takeFrom(ctx context.Context, w *session, q *storage.WorkRequest) (storage.Token, int64, error) {
	for {
		id, err := longestQueued(ctx, w, q.Queues)
		if err != nil {
			return storage.Token{}, 0, err
		}
		if err := w.holdRunOf(ctx, id); err != nil {
			return storage.Token{}, 0, err
		}
		now, err := w.now(ctx)
		if err != nil {
			return storage.Token{}, 0, err
		}
		taken, n, err := changeToken(ctx, w, id, takeToken[w.dialect.db], q.Worker, micros(now),
			micros(rules.Until(now, q.Lease)), id)
		if !errors.Is(err, storage.ErrGone) && !errors.Is(err, storage.ErrTaken) { // no other worker was faster
			return taken, n, err
		}
	}
}

// KeepToken implements [storage.Inbox.KeepToken].
func (s *Store) KeepToken(ctx context.Context, id string, k storage.Heartbeat) (t storage.Token, err error) {
	if err := k.Check(); err != nil {
		return t, err
	}
	err = s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		now, err := w.now(ctx)
		if err != nil {
			return err
		}
		t, _, err = changeToken(ctx, w, id, keepToken, micros(time.Now()), k.Take, micros(rules.Until(now, k.Lease)),
			k.Progress, []byte(k.Details), id)
		return err
	}})
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}
