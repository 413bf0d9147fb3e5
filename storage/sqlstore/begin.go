package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

const takeRun = `UPDATE runs SET fence = fence + 1, claim = $1, owner = $2, due = $3,
	trial = trial - trial % 2 + $4 WHERE n = $5`

// take raises the fence of a run without a live owner, sets the new owner, "" for none, and changes row
// accordingly. If the run had a dead owner, take releases all runs and jobs of that owner, which are due now, and
// returns the owner's lock. The caller removes the lock after the commit.
func (s *store) take(ctx context.Context, w *session, row *runRow, owner string,
	isolation storage.Isolation,
) (dead *filelock.Lock, err error) {
	if row.Owner != "" {
		var alive bool
		dead, alive, err = s.inherit(ctx, w, row.Owner)
		if err != nil {
			return dead, err
		}
		if alive {
			return nil, s.owned(ctx, w, row)
		}
		row.Due = moment{w.dialect.Now().UnixMicro(), true}
	}
	row.Fence++
	row.Claim, row.Owner = uuid.NewString(), owner
	if owner != "" {
		row.Due = moment{}
	}
	_, err = w.Exec(ctx, takeRun, row.Claim, owner, micros(row.Due.time()), int64(isolation), row.N)
	return dead, err
}

// Begin implements [backend.Driver.Begin].
func (s *store) Begin(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	claim, snap, err := s.takeOver(ctx, run, true, 0)
	if errors.Is(err, storage.ErrLimited) { // runs of dead owners may count toward the limit
		if err := s.evictDead(ctx); err != nil {
			return claim, nil, dberr.Failed(s.file, "read", err)
		}
		return s.takeOver(ctx, run, true, 0)
	}
	return claim, snap, err
}

// Seize implements [backend.Limiter.Seize].
func (s *store) Seize(ctx context.Context, run string) (backend.Claim, *backend.Snapshot, error) {
	return s.takeOver(ctx, run, false, 0)
}

func (s *store) takeOver(ctx context.Context, run string, limited bool,
	isolation storage.Isolation,
) (backend.Claim, *backend.Snapshot, error) {
	for by := time.Now().Add(dying); ; {
		claim, snap, err := s.begin(ctx, run, limited, isolation)
		owned, is := errors.AsType[*storage.OwnedError](err)
		pause := 5 * time.Millisecond
		switch {
		case !is:
			return claim, snap, err
		case s.ahead(&owned.Owner): // wait: the owner renews its lease, or the lease expires
			pause = 100 * time.Millisecond
		case !s.gone(&owned.Owner) || time.Now().After(by):
			return claim, snap, err
		}
		if wait(ctx, pause) != nil {
			return claim, snap, err
		}
	}
}

// ahead reports whether an owner was last seen in the future of the server's clock, which means that the clock was
// set back.
func (s *store) ahead(o *storage.Owner) bool {
	return s.leaseRenewer != nil && o.ID != s.owner.ID && o.Seen.After(s.watch.Now())
}

func (s *store) begin(ctx context.Context, run string, limited bool,
	isolation storage.Isolation,
) (backend.Claim, *backend.Snapshot, error) {
	var (
		row  *runRow
		snap *backend.Snapshot
		dead *filelock.Lock
	)
	err := s.update(ctx, &write{
		runs: []string{run},
		do: func(ctx context.Context, w *session) (err error) {
			if dead != nil { // left by an attempt that was rolled back
				err, dead = dead.Close(), nil
				if err != nil {
					return err
				}
			}
			if err := w.hold(ctx, run); err != nil {
				return err
			}
			if row, err = findRun(ctx, w, run); err != nil {
				return err
			}
			if limited && row.Owner == "" {
				if err := admit(ctx, w, run, row.N, row.Bucket); err != nil {
					return err
				}
			}
			if dead, err = s.take(ctx, w, row, s.owner.ID, isolation); err == nil {
				snap, err = load(ctx, w, row)
			}
			if err != nil && dead != nil {
				err = errors.Join(err, dead.Close())
				dead = nil
			}
			return err
		},
		then: func() { s.claims.put(row.Claim, claimedOf(row)) },
	})
	if dead != nil {
		err = errors.Join(err, dead.Remove())
	}
	if err != nil {
		return backend.Claim{}, nil, err
	}
	return backend.Claim{Run: run, Fence: row.Fence, ID: row.Claim}, snap, nil
}
