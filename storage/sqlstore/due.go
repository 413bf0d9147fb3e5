package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

var (
	selectDue = statement{
		onSQLite:   loadRuns + isDue + withOffersSQLite + outsideBuckets,
		onPostgres: loadRuns + isDue + withOffersPostgres + outsideBuckets,
	}
	selectDueIn = statement{
		onSQLite:   loadRuns + isDue + withOffersSQLite + insideBucket,
		onPostgres: loadRuns + isDue + withOffersPostgres + insideBucket,
	}
	selectCrashLoops = statement{
		onSQLite:   loadRuns + isDue + withOffersSQLite + blamedFirst,
		onPostgres: loadRuns + isDue + withOffersPostgres + blamedFirst,
	}
)

// The parts of these statements. dueAsk.args returns their arguments.
const (
	// The kinds are those of backend.ReachesHeld.
	isDue = `
WHERE r.owner = '' AND r.due <= $1 AND (NOT r.hold OR EXISTS (SELECT 1 FROM messages m WHERE m.run = r.n
  AND m.kind IN ('resume', 'cancel', 'revert', 'revert-to', 'retry', 'retry-revert', 'skip')))`
	// These parts leave out runs of flows that the caller does not want, and runs that the caller excludes. They also
	// leave out runs with a label needs.KEY that no offer of the caller matches.
	withOffersSQLite = `
  AND ($2 = '[]' OR o.flow IN (SELECT value FROM json_each($2)))
  AND o.id NOT IN (SELECT value FROM json_each($3))
  AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.run = r.n AND l.key >= 'needs.' AND l.key < 'needs/'
    AND NOT EXISTS (SELECT 1 FROM json_each($5) offer WHERE l.key = 'needs.' || offer.key AND l.value = offer.value))`
	withOffersPostgres = `
  AND ($2 = '[]' OR o.flow IN (SELECT value FROM json_array_elements_text(CAST($2 AS JSON))))
  AND o.id NOT IN (SELECT value FROM json_array_elements_text(CAST($3 AS JSON)))
  AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.run = r.n AND l.key >= 'needs.' AND l.key < 'needs/'
    AND NOT EXISTS (SELECT 1 FROM json_each_text(CAST($5 AS JSON)) offer WHERE l.key = 'needs.' || offer.key
    AND l.value = offer.value))`
	outsideBuckets = ` AND r.lost < 2 AND r.bucket IS NULL ORDER BY r.due, r.n LIMIT $4 + 0`
	insideBucket   = ` AND r.lost < 2 AND r.bucket = $6 ORDER BY r.due, r.n LIMIT $4 + 0`
	// A run in a crash loop has a Lost of at least backend.CrashLoopDeaths.
	blamedFirst = ` AND r.lost > 1 ORDER BY r.proof DESC, r.trial DESC, r.lost DESC, r.due, r.n LIMIT $4 + 0`
)

const selectNextDue = `SELECT min(due) FROM runs WHERE bucket IS NULL AND due > $1`

// dueAsk is a backend.DueQuery in the form that the database needs.
type dueAsk struct {
	by                    time.Time
	named                 []string // flows; empty is every flow
	flows, except, offers string   // JSON
	limit                 int
}

func dueAskOf(q *backend.DueQuery) (*dueAsk, error) {
	ask := &dueAsk{
		by: q.By, named: q.Flows, flows: "[]", except: "[]", offers: "{}",
		limit: cmp.Or(q.Limit, math.MaxInt32),
	}
	set := func(to *string, n int, value any) error {
		if n == 0 {
			return nil
		}
		text, err := json.Marshal(value)
		*to = string(text)
		return err
	}
	return ask, errors.Join(
		set(&ask.flows, len(q.Flows), q.Flows), set(&ask.except, len(q.Except), q.Except),
		set(&ask.offers, len(q.Offers), q.Offers))
}

// args returns the arguments of selectDue and selectCrashLoops. The arguments of selectDueIn are the same and the
// bucket.
func (a *dueAsk) args(limit int) []any {
	return []any{a.by.UnixMicro(), a.flows, a.except, limit, a.offers}
}

// Due implements [backend.Driver.Due].
func (s *store) Due(ctx context.Context, q backend.DueQuery) (due []backend.Due, next time.Time, err error) {
	if err := s.evictDead(ctx); err != nil {
		return nil, time.Time{}, dberr.Failed(s.place, "read", err)
	}
	ask, err := dueAskOf(&q)
	if err != nil {
		return nil, time.Time{}, err
	}
	look, find := ask.rows, s.later
	var known []*claimed
	if q.CrashLoops {
		look = ask.crashLoops
	}
	if q.RunsOnly {
		find = runOnly
	}
	all := func(ctx context.Context, r *session) error {
		if s.server == nil { // otherwise database/sql starts two goroutines for each of many short statements
			ctx = context.WithoutCancel(ctx)
		}
		rows, at, err := look(ctx, r)
		if err != nil {
			return err
		}
		next = at
		due, known = make([]backend.Due, 0, len(rows)), known[:0]
		loads, err := startLoadings(ctx, r, rows, !q.RunsOnly)
		if err != nil {
			return err
		}
		for i := range rows {
			one, err := find(ctx, r, &loads[i])
			if err != nil {
				return err
			}
			if one.Run != "" {
				due = append(due, one)
				known = append(known, claimedOf(&rows[i]))
			}
		}
		return nil
	}
	if q.Take {
		find = s.takeDue
		err = s.update(ctx, &write{alone: true, do: all, then: func() {
			for i := range due {
				if due[i].Claim.ID != "" && due[i].Claim.Begins == 0 {
					s.claims.put(due[i].Claim.ID, known[i])
				}
			}
		}})
	} else {
		err = s.view(ctx, func(r *session) error { return all(ctx, r) })
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	return due, next, nil
}

// rows returns the rows that are due, and when the next run is due.
func (a *dueAsk) rows(ctx context.Context, r *session) (rows []runRow, next time.Time, err error) {
	if rows, err = each[runRow](ctx, r, selectDue[r.dialect.db], a.args(a.limit)...); err != nil {
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
		slices.SortFunc(rows,
			func(a, b runRow) int { return cmp.Or(cmp.Compare(a.Due.Int64, b.Due.Int64), cmp.Compare(a.N, b.N)) })
		rows = rows[:min(len(rows), a.limit)]
	}
	if len(rows) == a.limit { // more runs may be due
		return rows, a.by, nil
	}
	at, err := r.earliest(ctx, selectNextDue, a.by)
	if next.IsZero() || !at.IsZero() && at.Before(next) {
		next = at
	}
	return rows, next, err
}

// crashLoops returns the rows of due runs in a crash loop.
func (a *dueAsk) crashLoops(ctx context.Context, r *session) (rows []runRow, _ time.Time, err error) {
	rows, err = each[runRow](ctx, r, selectCrashLoops[r.dialect.db], a.args(a.limit)...)
	return rows, time.Time{}, err
}

// later loads a run that is due and creates its claim. If the run's records are damaged, the error is in the Due,
// so that other runs are still driven.
func (s *store) later(ctx context.Context, r *session, l *loading) (backend.Due, error) {
	snap, err := l.snapshot(ctx, r)
	if errors.Is(err, storage.ErrCorrupt) {
		return backend.Due{Run: l.ID, Err: err}, nil
	}
	if err != nil {
		return backend.Due{}, err
	}
	claim := rules.ClaimLater(&snap.Run)
	s.claims.putLater(claim.ID, claimedOf(l.runRow))
	return backend.Due{Run: l.ID, Claim: claim, Snapshot: snap}, nil
}

// Load implements [backend.Driver.Load].
func (s *store) Load(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	for try := 1; ; try++ {
		var one backend.Due
		var owner string
		var owned error
		err := s.view(ctx, func(r *session) error {
			row, err := findRun(ctx, r, run)
			if err != nil {
				return err
			}
			owned = nil
			if owner = row.Owner; owner != "" {
				owned = s.owned(ctx, r, row)
				return nil
			}
			l, err := startLoading(ctx, r, row)
			if err == nil {
				one, err = s.later(ctx, r, l)
			}
			return err
		})
		switch {
		case err == nil && owned != nil && try == 1: // the owner may be dead
			err = dberr.Failed(s.place, "read", s.evictOwner(ctx, owner))
			if err == nil {
				continue
			}
		case err == nil && owned != nil:
			err = owned
		case err == nil:
			err = one.Err
		}
		if err != nil {
			return backend.Claim{}, nil, err
		}
		return one.Claim, one.Snapshot, nil
	}
}

const takeDueRun = `UPDATE runs SET fence = fence + 1, claim = $1, owner = $2, due = NULL, trial = trial - trial % 2
WHERE n = $3 AND fence = $4 AND wakeups = $5 AND owner = ''`

// takeDue loads a run that is due and takes it over. If the run changed meanwhile, takeDue returns nothing: if the
// run is still due, the next call of Due finds it.
func (s *store) takeDue(ctx context.Context, w *session, l *loading) (backend.Due, error) {
	if l.Bucket != 0 {
		return s.later(ctx, w, l)
	}
	snap, err := l.snapshot(ctx, w)
	if errors.Is(err, storage.ErrCorrupt) {
		return backend.Due{Run: l.ID, Err: err}, nil
	}
	if err != nil {
		return backend.Due{}, err
	}
	claim := backend.Claim{Run: l.ID, Fence: l.Fence + 1, ID: uuid.NewString()}
	taken, err := w.Exec(ctx, takeDueRun, claim.ID, s.owner.ID, l.N, l.Fence, l.Wakeups)
	if taken == 0 || err != nil {
		return backend.Due{}, err
	}
	snap.Run.Fence, snap.Run.ClaimID, snap.Run.Owner, snap.Run.Due = claim.Fence, claim.ID, s.owner.ID, time.Time{}
	return backend.Due{Run: l.ID, Claim: claim, Snapshot: snap}, nil
}

// runOnly reads the record of a run that is due, without the rest of its snapshot.
func runOnly(ctx context.Context, r *session, l *loading) (backend.Due, error) {
	run, err := l.record(ctx, r)
	if errors.Is(err, storage.ErrCorrupt) {
		return backend.Due{Run: l.ID, Err: err}, nil
	}
	return backend.Due{Run: l.ID, Snapshot: &backend.Snapshot{Run: run}}, err
}
