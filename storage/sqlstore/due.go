package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

const (
	// isDue is true of what is due of what the asker takes up.
	isDue = `
WHERE r.owner = '' AND r.due <= ?1 AND NOT r.hold AND (?2 = '' OR o.flow = ?2) AND o.id NOT IN (SELECT value FROM json_each(?3))
  AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.run = r.n AND l.key >= 'needs.' AND l.key < 'needs/'
    AND NOT EXISTS (SELECT 1 FROM json_each(?5) offer WHERE l.key = 'needs.' || offer.key AND l.value = offer.value))
  AND `
	longestFirst = ` ORDER BY r.due, r.n LIMIT ?4 + 0`
	selectDue    = loadRuns + isDue + `r.lost < 2 AND r.bucket IS NULL` + longestFirst
	selectDueIn  = loadRuns + isDue + `r.lost < 2 AND r.bucket = ?6` + longestFirst
	// selectSuspects selects those whose Lost is at least storage.SuspectLost.
	selectSuspects = loadRuns + isDue + `r.lost > 1 ORDER BY r.proof DESC, r.trial DESC, r.lost DESC, r.due, r.n LIMIT ?4 + 0`
	selectNextDue  = `SELECT min(due) FROM runs WHERE bucket IS NULL AND due > ?`
)

// dueAsk is a storage.DueQuery as the database is asked it.
type dueAsk struct {
	by             time.Time
	flow           string
	except, offers string // JSON
	limit          int
}

func dueAskOf(q *storage.DueQuery) (*dueAsk, error) {
	ask := &dueAsk{by: q.By, flow: q.Flow, except: "[]", offers: "{}", limit: cmp.Or(q.Limit, math.MaxInt32)}
	if len(q.Except) > 0 {
		text, err := json.Marshal(q.Except)
		if err != nil {
			return nil, err
		}
		ask.except = string(text)
	}
	if len(q.Offers) > 0 {
		text, err := json.Marshal(q.Offers)
		if err != nil {
			return nil, err
		}
		ask.offers = string(text)
	}
	return ask, nil
}

// args are the arguments of isDue and longestFirst.
func (a *dueAsk) args(limit int) []any {
	return []any{a.by.UnixMicro(), a.flow, a.except, limit, a.offers}
}

// Due loads runs that want to be driven.
func (s *Store) Due(ctx context.Context, q storage.DueQuery) (due []storage.Due, next time.Time, err error) {
	if err := s.evictDead(ctx); err != nil {
		return nil, time.Time{}, dberr.Failed(s.place, "read", err)
	}
	ask, err := dueAskOf(&q)
	if err != nil {
		return nil, time.Time{}, err
	}
	err = s.view(ctx, func(r *session) error {
		ctx := ctx
		if s.server == nil { // or goroutines would watch for its end, two for each of many short statements
			ctx = context.WithoutCancel(ctx)
		}
		look := ask.rows
		if q.Suspects {
			look = ask.suspects
		}
		rows, at, err := look(ctx, r)
		if err != nil {
			return err
		}
		next = at
		due = make([]storage.Due, len(rows))
		find := s.later
		if q.RunsOnly {
			find = runOnly
		}
		for i := range rows {
			if due[i], err = find(ctx, r, &rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return due, next, nil
}

// rows returns what is due, and when the next run is.
func (a *dueAsk) rows(ctx context.Context, r *session) (rows []runRow, next time.Time, err error) {
	if err := r.all(ctx, &rows, selectDue, a.args(a.limit)...); err != nil {
		return nil, next, err
	}
	limits, err := readLimits(ctx, r)
	if err != nil {
		return nil, next, err
	}
	if len(limits) > 0 {
		var more []runRow
		if more, next, err = dueInBuckets(ctx, r, limits, a); err != nil {
			return nil, next, err
		}
		rows = append(rows, more...)
		slices.SortFunc(rows, func(a, b runRow) int { return cmp.Or(cmp.Compare(a.Due.Int64, b.Due.Int64), cmp.Compare(a.N, b.N)) })
		rows = rows[:min(len(rows), a.limit)]
	}
	if len(rows) == a.limit { // there may be more
		return rows, a.by, nil
	}
	var at moment
	err = r.get(ctx, &at, selectNextDue, a.by.UnixMicro())
	if at := at.time(); next.IsZero() || !at.IsZero() && at.Before(next) {
		next = at
	}
	return rows, next, err
}

// suspects returns the suspects that are due.
func (a *dueAsk) suspects(ctx context.Context, r *session) (rows []runRow, _ time.Time, err error) {
	err = r.all(ctx, &rows, selectSuspects, a.args(a.limit)...)
	return rows, time.Time{}, err
}

// later loads a run that is due, and hands out a claim. What is damaged concerns
// no other run.
func (s *Store) later(ctx context.Context, r *session, row *runRow) (storage.Due, error) {
	snap, err := load(ctx, r, row)
	if errors.Is(err, storage.ErrCorrupt) {
		return storage.Due{Run: row.ID, Err: err}, nil
	}
	if err != nil {
		return storage.Due{}, err
	}
	claim := rules.ClaimLater(&snap.Run)
	s.claims.putLater(claim.ID, claimedOf(row))
	return storage.Due{Run: row.ID, Claim: claim, Snapshot: snap}, nil
}

// runOnly reads a run that is due, without what its snapshot has beside it.
func runOnly(ctx context.Context, r *session, row *runRow) (storage.Due, error) {
	run, err := row.record(ctx, r)
	if errors.Is(err, storage.ErrCorrupt) {
		return storage.Due{Run: row.ID, Err: err}, nil
	}
	return storage.Due{Run: row.ID, Snapshot: &storage.Snapshot{Run: run}}, err
}
