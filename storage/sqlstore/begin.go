package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
)

// claims remembers of each claim that this store handed out what spares its
// commits a look and a write.
type claims struct {
	mu   sync.Mutex
	byID map[string]*claimed
}

// claimed is a run under a claim. It is not changed.
type claimed struct {
	n    int64
	rest ending // what the row says
}

func (c *claims) put(id string, n int64, rest ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[string]*claimed{}
	}
	c.byID[id] = &claimed{n: n, rest: rest}
}

// get returns nil when nothing is known, which costs a commit no more than time.
func (c *claims) get(id string) *claimed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

func (c *claims) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}

const takeRun = `UPDATE runs SET fence = fence + 1, claim = ?, owner = ?, due = ? WHERE n = ?`

// take raises the fence of a run that nobody alive owns, for the owner, who may
// be nobody. The row is changed likewise. When it had a dead owner, all that the
// dead one had is freed, and its lock is returned, to be removed after the commit.
func (s *Store) take(ctx context.Context, w *session, row *runRow, owner string) (dead *filelock.Lock, err error) {
	if row.Owner != "" {
		var alive bool
		dead, alive, err = s.probe(row.Owner)
		if err != nil {
			return nil, err
		}
		if alive {
			return nil, s.owned(ctx, w, row)
		}
		if err := bury(ctx, w, row.Owner); err != nil {
			return dead, err
		}
	}
	row.Fence++
	row.Claim, row.Owner = uuid.NewString(), owner
	if owner != "" {
		row.Due = moment{}
	}
	_, err = w.exec(ctx, takeRun, row.Claim, owner, micros(row.Due.time()), row.N)
	return dead, err
}

// owned returns the error that names the owner of a run.
func (s *Store) owned(ctx context.Context, w *session, row *runRow) error {
	var owner ownerRow
	err := w.get(ctx, &owner, selectOwner, row.Owner)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	o := owner.owner()
	o.ID, o.Alive = row.Owner, true
	return &storage.OwnedError{Run: row.ID, Owner: o}
}

// Begin takes the run over and loads it.
func (s *Store) Begin(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	var (
		row  *runRow
		snap *storage.Snapshot
		dead *filelock.Lock
	)
	err := s.update(ctx, &write{
		do: func(ctx context.Context, w *session) (err error) {
			if dead != nil { // from a batch that was spoilt
				err, dead = dead.Close(), nil
				if err != nil {
					return err
				}
			}
			if row, err = findRun(ctx, w, run); err != nil {
				return err
			}
			if dead, err = s.take(ctx, w, row, s.owner.ID); err == nil {
				snap, err = load(ctx, w, row)
			}
			if err != nil && dead != nil {
				err = errors.Join(err, dead.Close())
				dead = nil
			}
			return err
		},
		then: func() { s.claims.put(row.Claim, row.N, row.ending()) },
	})
	if dead != nil {
		err = errors.Join(err, dead.Remove())
	}
	if err != nil {
		return storage.Claim{}, nil, err
	}
	return storage.Claim{Run: run, Fence: row.Fence, ID: row.Claim}, snap, nil
}

// load reads what is needed to go on with a run.
func load(ctx context.Context, s *session, row *runRow) (*storage.Snapshot, error) {
	run, err := row.record(ctx, s)
	if err != nil {
		return nil, err
	}
	snap := &storage.Snapshot{Run: run}
	if snap.Atoms, err = readAtoms(ctx, s, row.N, selectLiveAtoms); err != nil {
		return nil, err
	}
	if snap.Letters, err = readLetters(ctx, s, row.N, row.ID); err != nil {
		return nil, err
	}
	snap.Tokens, err = readTokens(ctx, s, selectOpenTokens, row.N)
	return snap, err
}

const releaseRun = `UPDATE runs SET owner = '', due = ? WHERE n = ? AND fence = ? AND claim = ? AND owner <> '' AND bell = ?`

// Release lets go of the run.
func (s *Store) Release(ctx context.Context, claim storage.Claim, bell int64, due time.Time) error {
	return s.update(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			row, err := findRun(ctx, w, claim.Run)
			if err != nil {
				return err
			}
			done, err := w.exec(ctx, releaseRun, micros(due), row.N, claim.Fence, claim.ID, bell)
			switch {
			case err != nil || done == 1:
				return err
			case row.Fence != claim.Fence || row.Claim != claim.ID || row.Owner == "":
				return fmt.Errorf("%w: run %q", storage.ErrFenced, claim.Run)
			default:
				return storage.ErrRung
			}
		},
		then: func() { s.claims.drop(claim.ID); s.bell.rang() },
	})
}

// Step takes a run that nobody owns through one event.
func (s *Store) Step(ctx context.Context, run string, step func(*storage.Snapshot) (*storage.Checkpoint, error)) error {
	var dead *filelock.Lock
	err := s.update(ctx, &write{
		alone: true, checkpoint: true,
		do: func(ctx context.Context, w *session) (err error) {
			dead, err = s.step(ctx, w, run, step)
			if err != nil && dead != nil {
				err = errors.Join(err, dead.Close())
				dead = nil
			}
			return err
		},
		then: s.bell.rang,
	})
	if dead != nil {
		err = errors.Join(err, dead.Remove())
	}
	return err
}

func (s *Store) step(ctx context.Context, w *session, run string, step func(*storage.Snapshot) (*storage.Checkpoint, error)) (*filelock.Lock, error) {
	row, err := findRun(ctx, w, run)
	if err != nil {
		return nil, err
	}
	dead, err := s.take(ctx, w, row, "")
	if err != nil {
		return dead, err
	}
	snap, err := load(ctx, w, row)
	if err != nil {
		return dead, err
	}
	cp, err := step(snap)
	if cp == nil || err != nil {
		return dead, err
	}
	if err := cp.Check(); err != nil {
		return dead, err
	}
	if err := cp.Continues(&snap.Run); err != nil {
		return dead, err
	}
	return dead, writeStep(ctx, w, row, cp)
}
