package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
)

const (
	// expireOwner marks an owner as dead, unless the owner has renewed its lease since the caller read it.
	expireOwner = `UPDATE owners SET lease = 0 WHERE id = $1 AND lease = $2`
	// selectExpired lists the owners that may have died, and the dead owners that still have runs or jobs. OFFSET
	// makes the server look for one row of each owner; without it, the server reads all rows that have an owner.
	selectExpired = serverOwners +
		` WHERE owners.lease > 0 OR EXISTS (SELECT 1 FROM runs WHERE owner = owners.id AND owner <> '' OFFSET 0)
  OR EXISTS (SELECT 1 FROM jobs WHERE owner = owners.id AND state = ` + jobClaimed + ` AND lease > 0 OFFSET 0)`
)

// inheritExpired is inherit on a server.
func (s *store) inheritExpired(ctx context.Context, w *session, id string) (alive bool, err error) {
	if id == s.owner.ID {
		return true, nil
	}
	var row ownerRow
	asked := time.Now()
	err = w.Get(ctx, &row, selectOwner[w.dialect.db], id)
	if errors.Is(err, storage.ErrNotFound) {
		return false, s.evict(ctx, w, id)
	}
	if err != nil || s.leaseRenewer.holds(&row, asked, time.Now()) {
		return true, err
	}
	struck, err := w.Exec(ctx, expireOwner, id, row.Lease)
	if err != nil || struck == 0 { // the owner has renewed its lease
		return true, err
	}
	return false, s.evict(ctx, w, id)
}

// evictExpired is evictDead on a server. Because many calls use it, it asks the server only when looksForDead
// allows.
func (s *store) evictExpired(ctx context.Context) error {
	if !s.leaseRenewer.looksForDead() {
		return nil
	}
	var rows []ownerRow
	var asked, answered time.Time
	err := s.view(ctx, func(r *session) error {
		asked = time.Now()
		err := r.All(ctx, &rows, selectExpired)
		answered = time.Now()
		return err
	})
	if err != nil {
		return err
	}
	for i := range rows {
		if s.leaseRenewer.holds(&rows[i], asked, answered) {
			continue
		}
		if err := s.inheritAlone(ctx, rows[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// evictOwnerExpired is evictOwner on a server.
func (s *store) evictOwnerExpired(ctx context.Context, id string) error {
	var row ownerRow
	var asked, answered time.Time
	err := s.view(ctx, func(r *session) error {
		asked = time.Now()
		err := r.Get(ctx, &row, selectOwner[r.dialect.db], id)
		answered = time.Now()
		return err
	})
	if err == nil && s.leaseRenewer.holds(&row, asked, answered) {
		return nil
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return s.inheritAlone(ctx, id)
}

// inheritAlone releases the runs and jobs of an owner, unless it is alive, in a transaction of its own.
func (s *store) inheritAlone(ctx context.Context, id string) error {
	err := s.update(ctx, &write{alone: true, do: func(ctx context.Context, w *session) error {
		_, err := s.inheritExpired(ctx, w, id)
		return err
	}})
	if err != nil {
		return fmt.Errorf("take over runs and jobs of %s: %w", id, err)
	}
	return nil
}

func (k *leaseRenewer) looksForDead() bool {
	k.evicting.Lock()
	defer k.evicting.Unlock()
	if time.Since(k.looked) < min(k.lease/10, time.Second) {
		return false
	}
	k.looked = time.Now()
	return true
}

// holds reports whether an owner on a server must keep its runs. asked and answered are the times of the query for
// its row. An owner that resigned, or was declared dead, has no lease above 0.
func (k *leaseRenewer) holds(r *ownerRow, asked, answered time.Time) bool {
	k.compare(asked, answered, r.Clock)
	silent := k.watch.Silent(r.kept(), asked, answered)
	switch {
	case r.Lease <= 0 || r.gone():
		return false
	case k.leaves():
		return true
	case silent: // even if the server's clock says otherwise
		return false
	default:
		return r.Leased || k.watch.Set(r.kept())
	}
}

// leaves reports whether an outage may be the reason why a lease expired: this process lost the server too, and
// since then a living owner has had less than the duration of a lease to renew.
func (k *leaseRenewer) leaves() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost || !k.back.IsZero() && time.Since(k.back) < k.lease
}

// kept returns the lease of an owner on a server.
func (r *ownerRow) kept() liveness.Lease {
	return liveness.Lease{Owner: r.ID, Until: r.Lease, Seen: r.Seen.Int64}
}
