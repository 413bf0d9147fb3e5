package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const keepToken = `UPDATE tokens SET beat = $1, details = coalesce($5, details),
  lease = CASE WHEN CAST($2 AS BIGINT) = 0 THEN lease ELSE CAST($3 AS BIGINT) END,
  progress = CASE WHEN CAST($4 AS DOUBLE PRECISION) = 0 THEN progress ELSE CAST($4 AS DOUBLE PRECISION) END,
  take = take + CAST($7 AS BIGINT)
WHERE id = $6 AND state = ` + tokenOpen + ` AND (CAST($2 AS BIGINT) = 0 OR take = CAST($2 AS BIGINT))` + returnToken

// Tokens that can be taken are in an index. Of each priority, those with a lease that has not expired come last.
var (
	queuedToken = statement{
		onSQLite:   queuedTokens + inQueue(`$2`) + inOrder + ` LIMIT $3 + 0`,
		onPostgres: queuedTokens + inQueue(serverNow) + inOrder + ` LIMIT $2 + 0`,
	}
	countQueued = statement{
		onSQLite:   `SELECT count(*) FROM (SELECT 1 FROM tokens WHERE queue = $1` + inQueue(`$3`) + ` LIMIT $2 + 0) q`,
		onPostgres: `SELECT count(*) FROM (SELECT 1 FROM tokens WHERE queue = $1` + inQueue(serverNow) + ` LIMIT $2 + 0) q`,
	}
	takeToken = withRun(giveToken + ` AND id = $4`)
	// takeQueued takes the next token of queue $4, on PostgreSQL. If another transaction has locked its run, it takes
	// none.
	takeQueued = `WITH next AS (SELECT id, run FROM tokens WHERE queue = $4` + inQueue(`$2`) + inOrder + ` LIMIT 1),
held AS (SELECT n FROM runs WHERE n = (SELECT run FROM next) FOR UPDATE` + skipLocked + `)
` + giveToken + ` AND id = (SELECT id FROM next) AND run = (SELECT n FROM held)` + returnToken

	giveToken = `UPDATE tokens SET worker = $1, beat = $2, since = $2, lease = $3, take = take + 1
WHERE state = ` + tokenOpen + ` AND ` + isFree(`$2`)
)

//nolint:gosec // no credentials: a token is the right to end an atom
const (
	queuedTokens = `SELECT id, priority, coalesce(lease, beat, 0) AS since, place FROM tokens WHERE queue = $1`
	inOrder      = `
ORDER BY priority DESC, coalesce(lease, beat, 0), place, id`
)

// inQueue is the condition that a worker can take a token of a queue.
func inQueue(now string) string {
	return ` AND queue <> '' AND state = ` + tokenOpen + ` AND (worker = '' OR lease IS NOT NULL)
AND ` + isFree(now)
}

// isFree is the condition that no worker has an open token.
func isFree(now string) string { return `(worker = '' AND give_up = 0 OR lease <= ` + now + `)` }

// TakeToken implements [backend.Inbox.TakeToken].
func (s *store) TakeToken(ctx context.Context, q storage.WorkRequest) (t storage.Token, err error) {
	if err := backend.CheckWorkRequest(&q); err != nil {
		return t, err
	}
	queued, err := s.inTurns(ctx, q.Queues, 1) // read first, so that empty queues do not cost a turn to write
	if err != nil {
		return t, err
	}
	if len(queued) == 0 {
		return t, rules.NoWork(q.Queues)
	}
	var damaged []string // tokens that cannot be read
	for {
		var tried string
		err = s.update(ctx, &write{
			do: func(ctx context.Context, w *session) error {
				taken, n, err := takeFrom(ctx, w, &q, damaged, &tried)
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
		if err = corrupt(err); tried == "" || len(damaged) == maxDamaged || !s.dialect.damage.leftOut(err) {
			break
		}
		damaged = append(damaged, tried)
	}
	if err != nil {
		return storage.Token{}, err
	}
	return t, nil
}

// A queuedRow is a token that can be taken, and its place in the order in which tokens are taken.
type queuedRow struct {
	unread

	ID       string
	Priority int32
	Since    int64
	Place    int64
}

func (q *queuedRow) queued() (queuedRow, error) { return *q, nil }

func (q *queuedRow) compare(o *queuedRow) int {
	return cmp.Or(-cmp.Compare(q.Priority, o.Priority), cmp.Compare(q.Since, o.Since), cmp.Compare(q.Place, o.Place),
		cmp.Compare(q.ID, o.ID))
}

// inTurns returns up to most tokens of some queues that can be taken, in the order in which they are taken.
func (s *store) inTurns(ctx context.Context, queues []string, most int) (found []queuedRow, err error) {
	read := s.view
	if len(queues) == 1 {
		read = s.glance
	}
	err = read(ctx, func(r *session) (err error) {
		found, err = inTurns(ctx, r, queues, most)
		return err
	})
	return found, err
}

func inTurns(ctx context.Context, r *session, queues []string, most int) (found []queuedRow, err error) {
	for _, queue := range queues {
		some, err := readableFirst(ctx, r, most, (*queuedRow).queued, queuedToken[r.dialect.db],
			r.dialect.untilNow(queue)...)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	if len(queues) > 1 {
		slices.SortFunc(found, func(a, b queuedRow) int { return a.compare(&b) })
	}
	return found[:min(most, len(found))], nil
}

// QueuedTokens implements [backend.Queues.QueuedTokens].
func (s *store) QueuedTokens(ctx context.Context, queues []string, most int) (ids []string, err error) {
	found, err := s.inTurns(ctx, queues, most)
	if err != nil {
		return nil, err
	}
	ids = make([]string, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	return ids, nil
}

// CountQueued implements [backend.Queues.CountQueued].
func (s *store) CountQueued(ctx context.Context, queue string, most int64) (n int64, err error) {
	err = s.glance(ctx, func(r *session) error {
		return r.Get(ctx, &n, countQueued[r.dialect.db], r.dialect.untilNow(queue, most)...)
	})
	return n, err
}

// takeFrom gives the work with the longest wait to the worker, but for the damaged one. It tells which it tries.
func takeFrom(ctx context.Context, w *session, q *storage.WorkRequest, damaged []string, tried *string,
) (storage.Token, int64, error) {
	if w.yields && len(q.Queues) == 1 && len(damaged) == 0 {
		return takeNext(ctx, w, q, tried)
	}
	for {
		found, err := inTurns(ctx, w, q.Queues, 1+len(damaged))
		if err != nil {
			return storage.Token{}, 0, err
		}
		found = slices.DeleteFunc(found, func(row queuedRow) bool { return slices.Contains(damaged, row.ID) })
		if len(found) == 0 {
			return storage.Token{}, 0, rules.NoWork(q.Queues)
		}
		id := found[0].ID
		*tried = id
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

// takeNext is takeFrom for one queue, in one round trip. If another transaction has locked the run, takeNext returns
// errHeld.
func takeNext(ctx context.Context, w *session, q *storage.WorkRequest, tried *string) (storage.Token, int64, error) {
	now, err := w.now(ctx)
	if err != nil {
		return storage.Token{}, 0, err
	}
	var rows []tokenRow
	err = w.All(ctx, &rows, takeQueued, q.Worker, micros(now), micros(rules.Until(now, q.Lease)), q.Queues[0])
	if err != nil {
		return storage.Token{}, 0, err
	}
	if len(rows) == 1 {
		w.Count(1, nil)
		*tried = rows[0].ID
		t, err := rows[0].token()
		return t, rows[0].N, err
	}
	found, err := inTurns(ctx, w, q.Queues, 1)
	switch {
	case err != nil:
		return storage.Token{}, 0, err
	case len(found) == 0:
		return storage.Token{}, 0, rules.NoWork(q.Queues)
	default:
		return storage.Token{}, 0, errHeld
	}
}

// KeepToken implements [backend.Inbox.KeepToken].
func (s *store) KeepToken(ctx context.Context, id string, k storage.Heartbeat) (storage.Token, error) {
	if err := backend.CheckHeartbeat(&k); err != nil {
		return storage.Token{}, err
	}
	return s.beat(ctx, id, keepToken, func(ctx context.Context, w *session) (args []any, err error) {
		var now time.Time
		if k.Lease > 0 || k.GiveBack {
			if now, err = w.now(ctx); err != nil {
				return nil, err
			}
		}
		until, givenBack := rules.Until(now, k.Lease), 0
		if k.GiveBack {
			until, givenBack = now, storage.GivenBack
		}
		return []any{micros(s.Now()), k.Take, micros(until), k.Progress, []byte(k.Details), id, givenBack}, nil
	})
}

// Beat implements [backend.Inbox.Beat].
func (s *store) Beat(ctx context.Context, id string) (t storage.Token, err error) {
	return s.beat(ctx, id, beatToken, func(context.Context, *session) ([]any, error) {
		return []any{micros(s.Now()), id}, nil
	})
}

// beat runs an update of an open token that nothing else in its transaction depends on. If it changes no token, beat
// says why.
func (s *store) beat(ctx context.Context, id, query string, args func(context.Context, *session) ([]any, error),
) (storage.Token, error) {
	var rows []tokenRow
	err := s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		with, err := args(ctx, w)
		if rows = nil; err != nil {
			return err
		}
		return w.PostQuery(ctx, &rows, func(err error) error {
			if err == nil && !w.dialect.Posts { // a posted statement is counted as it is posted
				w.Count(int64(len(rows)), with)
			}
			return err
		}, query, with...)
	}})
	switch {
	case err != nil:
		return storage.Token{}, err
	case len(rows) == 1:
		return rows[0].token()
	}
	t, err := s.Token(ctx, id)
	switch {
	case err != nil:
		return storage.Token{}, err
	case t.State != storage.TokenOpen:
		return storage.Token{}, storage.ErrGone
	default:
		return storage.Token{}, storage.ErrTaken
	}
}
