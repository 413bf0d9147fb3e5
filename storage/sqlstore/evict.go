package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/ebbflow/ebb/internal/filelock"
)

const (
	freeRuns = `UPDATE runs SET owner = '', due = $1, ` + endIsolation + ` WHERE owner = $2 AND owner <> ''`
	freeJobs = `UPDATE jobs SET lease = 0 WHERE owner = $1 AND state = ` + jobClaimed + ` AND lease > 0`
)

// free releases all runs and jobs of a dead owner. Its runs are due now.
func free(ctx context.Context, w *session, id string) error {
	if _, err := w.Exec(ctx, freeRuns, micros(w.dialect.Now()), id); err != nil {
		return err
	}
	_, err := w.Exec(ctx, freeJobs, id)
	return err
}

// dies releases all runs and jobs of this store's owner, and records that the owner has ended.
func (s *store) dies(ctx context.Context, w *session) error {
	if err := free(ctx, w, s.owner.ID); err != nil {
		return err
	}
	if s.leaseRenewer != nil {
		return s.leaseRenewer.resign(ctx, w)
	}
	_, err := w.Exec(ctx, deleteOwner, s.owner.ID)
	return err
}

// evictDead releases all runs and jobs of dead owners.
func (s *store) evictDead(ctx context.Context) error {
	if s.leaseRenewer != nil {
		return s.evictExpired(ctx)
	}
	var rows []ownerRow
	err := s.glance(ctx, func(r *session) (err error) {
		rows, err = each[ownerRow](context.WithoutCancel(ctx), r, selectOwners[r.dialect.db])
		return err
	})
	if err != nil {
		return err
	}
	for i := range rows {
		if err := s.evictOwner(ctx, rows[i].ID); err != nil && !unjudged(err) {
			return err
		}
	}
	return nil
}

// unjudged reports whether the lock of an owner cannot be read, so that nobody knows whether the owner lives. It keeps
// what it has, and does not keep others from judging the next owner.
func unjudged(err error) bool {
	_, is := errors.AsType[*fs.PathError](err)
	return is
}

// evictOwner releases all runs and jobs of an owner, unless it is alive.
func (s *store) evictOwner(ctx context.Context, id string) error {
	if s.leaseRenewer != nil {
		return s.evictOwnerExpired(ctx, id)
	}
	dead, alive, err := s.probe(lockFile(s.file, id))
	if alive || err != nil {
		return err
	}
	err = s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		if err := s.evict(ctx, w, id); err != nil {
			return err
		}
		_, err := w.Exec(ctx, deleteOwner, id)
		return err
	}})
	return errors.Join(err, remove(dead))
}

// sweep deletes the lock files of processes that died before they were registered.
func (s *store) sweep() error {
	names, err := filepath.Glob(globEscape(s.file) + "-owner-*")
	if err != nil {
		return err
	}
	for _, name := range names {
		dead, _, err := s.probe(name)
		if err := errors.Join(err, remove(dead)); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the lock file of a dead owner; dead may be nil.
func remove(dead *filelock.Lock) error {
	if dead == nil {
		return nil
	}
	return dead.Remove()
}

// inherit releases all runs and jobs of an owner, unless the owner is alive. It returns the lock of a dead owner.
// The caller removes the lock after the commit.
func (s *store) inherit(ctx context.Context, w *session, owner string) (dead *filelock.Lock, alive bool, err error) {
	if s.server != nil {
		alive, err = s.inheritExpired(ctx, w, owner)
		return nil, alive, err
	}
	dead, alive, err = s.probe(lockFile(s.file, owner))
	if alive || err != nil {
		return nil, alive, err
	}
	if err := s.evict(ctx, w, owner); err != nil {
		return dead, false, err
	}
	_, err = w.Exec(ctx, deleteOwner, owner)
	return dead, false, err
}
