package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// claims remembers of each claim that this store handed out what spares its
// commits looks and writes.
type claims struct {
	mu    sync.Mutex
	byID  map[string]*claimed
	later map[string]*claimed // of those that begin with their first commit, perhaps never
}

// maxLater is how many claims are remembered that have not begun.
const maxLater = 10_000

// claimed is a run under a claim. It is not changed.
type claimed struct {
	n      int64
	bucket int64  // 0 when no limit counts it
	rest   ending // what the row says
	has    parts  // in which tables there may be atoms
	recent inline.Records
}

func claimedOf(row *runRow) *claimed {
	return &claimed{n: row.N, bucket: row.Bucket, rest: row.ending(), has: row.Has, recent: row.Recent}
}

func (c *claims) put(id string, is *claimed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[string]*claimed{}
	}
	delete(c.later, id)
	c.byID[id] = is
}

// putLater is put for a claim that has not begun.
func (c *claims) putLater(id string, is *claimed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.later == nil || len(c.later) >= maxLater {
		c.later = map[string]*claimed{}
	}
	c.later[id] = is
}

// get returns nil when nothing is known, which costs a commit no more than time.
func (c *claims) get(id string) *claimed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if is := c.byID[id]; is != nil {
		return is
	}
	return c.later[id]
}

func (c *claims) drop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
	delete(c.later, id)
}

const takeRun = `UPDATE runs SET fence = fence + 1, claim = ?, owner = ?, due = ?, trial = trial - trial % 2 + ? WHERE n = ?`

// take raises the fence of a run without a live owner, for the new owner, which may
// be none. The row is changed likewise. When it had a dead owner, all that the
// dead one had is freed, and its lock is returned, to be removed after the commit.
func (s *Store) take(ctx context.Context, w *session, row *runRow, owner string, trial storage.Trial) (dead *filelock.Lock, err error) {
	if row.Owner != "" {
		var alive bool
		dead, alive, err = s.inherit(ctx, w, row.Owner)
		if err != nil {
			return dead, err
		}
		if alive {
			return nil, s.owned(ctx, w, row)
		}
	}
	row.Fence++
	row.Claim, row.Owner = uuid.NewString(), owner
	if owner != "" {
		row.Due = moment{}
	}
	_, err = w.exec(ctx, takeRun, row.Claim, owner, micros(row.Due.time()), int64(trial), row.N)
	return dead, err
}

// inherit frees what an owner had, unless it is alive.
func (s *Store) inherit(ctx context.Context, w *session, owner string) (dead *filelock.Lock, alive bool, err error) {
	if s.server != nil {
		alive, err = s.inheritExpired(ctx, w, owner)
		return nil, alive, err
	}
	dead, alive, err = s.probe(owner)
	if alive || err != nil {
		return nil, alive, err
	}
	if err := s.evict(ctx, w, owner); err != nil {
		return dead, false, err
	}
	_, err = w.exec(ctx, w.dialect.markDead, owner)
	return dead, false, err
}

// owned returns the error that names the owner of a run.
func (s *Store) owned(ctx context.Context, w *session, row *runRow) error {
	var owner ownerRow
	err := w.get(ctx, &owner, w.dialect.owners+thisOwner, row.Owner)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	o := owner.owner()
	o.ID, o.Alive = row.Owner, true
	return &storage.OwnedError{Run: row.ID, Owner: o}
}

// Begin takes the run over, if there is a place for it, and loads it.
func (s *Store) Begin(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	claim, snap, err := s.takeOver(ctx, run, true, 0)
	if errors.Is(err, storage.ErrLimited) { // perhaps only runs of dead owners reach the limit
		if err := s.evictDead(ctx); err != nil {
			return claim, nil, dberr.Failed(s.file, "read", err)
		}
		return s.takeOver(ctx, run, true, 0)
	}
	return claim, snap, err
}

// Seize takes the run over whatever the limits, and loads it.
func (s *Store) Seize(ctx context.Context, run string) (storage.Claim, *storage.Snapshot, error) {
	return s.takeOver(ctx, run, false, 0)
}

func (s *Store) takeOver(ctx context.Context, run string, limited bool, trial storage.Trial) (storage.Claim, *storage.Snapshot, error) {
	for by := time.Now().Add(dying); ; {
		claim, snap, err := s.begin(ctx, run, limited, trial)
		owned, is := errors.AsType[*storage.OwnedError](err)
		pause := 5 * time.Millisecond
		switch {
		case !is:
			return claim, snap, err
		case s.ahead(&owned.Owner): // it is watched: if it lives it shows itself, else its lease ends
			pause = 100 * time.Millisecond
		case !s.gone(&owned.Owner) || time.Now().After(by):
			return claim, snap, err
		}
		if wait(ctx, pause) != nil {
			return claim, snap, err
		}
	}
}

// ahead reports whether an owner was last seen at a time that the server's clock has
// not come to: the clock was set back since.
func (s *Store) ahead(o *storage.Owner) bool {
	return s.leaseRenewer != nil && o.ID != s.owner.ID && o.Seen.After(s.leaseRenewer.watch.Now())
}

func (s *Store) begin(ctx context.Context, run string, limited bool, trial storage.Trial) (storage.Claim, *storage.Snapshot, error) {
	var (
		row  *runRow
		snap *storage.Snapshot
		dead *filelock.Lock
	)
	err := s.update(ctx, &write{
		runs: []string{run},
		do: func(ctx context.Context, w *session) (err error) {
			if dead != nil { // from a batch that was spoilt
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
			if dead, err = s.take(ctx, w, row, s.owner.ID, trial); err == nil {
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
	if snap.Atoms, err = liveAtoms(ctx, s, row); err != nil {
		return nil, err
	}
	for _, part := range [...]struct {
		is   parts
		read func() error
	}{
		{hasMessages, func() (err error) {
			snap.Messages, err = readMessages(ctx, s, row.N, row.ID, 0, math.MaxInt)
			return err
		}},
		{hasTokens, func() (err error) { snap.Tokens, err = readTokens(ctx, s, selectOpenTokens, row.N); return err }},
		{hasTimers, func() (err error) { snap.Timers, err = readTimers(ctx, s, row.N, row.ID); return err }},
	} {
		if row.Has&part.is != 0 {
			if err := part.read(); err != nil {
				return nil, err
			}
		}
	}
	return snap, nil
}

const releaseRun = `UPDATE runs SET owner = '', due = ?, ` + endTrial + ` WHERE n = ? AND fence = ? AND claim = ? AND owner <> '' AND wakeups = ?`

// Release gives up the run.
func (s *Store) Release(ctx context.Context, claim storage.Claim, wakeups int64, due time.Time) error {
	return s.update(ctx, &write{
		runs: []string{claim.Run},
		do: func(ctx context.Context, w *session) error {
			if err := w.hold(ctx, claim.Run); err != nil {
				return err
			}
			row, err := findRun(ctx, w, claim.Run)
			if err != nil {
				return err
			}
			done, err := w.exec(ctx, releaseRun, micros(due), row.N, claim.Fence, claim.ID, wakeups)
			switch {
			case err != nil || done == 1:
				return err
			case row.Fence != claim.Fence || row.Claim != claim.ID || row.Owner == "":
				return fmt.Errorf("%w: run %q", storage.ErrFenced, claim.Run)
			default:
				return storage.ErrNewMessages
			}
		},
		then:     func() { s.claims.drop(claim.ID) },
		arrivals: wakeup.Moves,
	})
}

// Step takes a run without an owner through one event.
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
		arrivals: wakeup.Moves,
	})
	if dead != nil {
		err = errors.Join(err, dead.Remove())
	}
	return err
}

func (s *Store) step(ctx context.Context, w *session, run string, step func(*storage.Snapshot) (*storage.Checkpoint, error)) (*filelock.Lock, error) {
	if err := w.hold(ctx, run); err != nil {
		return nil, err
	}
	row, err := findRun(ctx, w, run)
	if err != nil {
		return nil, err
	}
	dead, err := s.take(ctx, w, row, "", 0)
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
	if err := rules.Continues(cp, &snap.Run); err != nil {
		return dead, err
	}
	return dead, writeStep(ctx, w, row, cp)
}
