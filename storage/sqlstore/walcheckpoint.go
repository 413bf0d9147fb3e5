package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/sqlconn"
)

const (
	// checkpointPages is about the number of written pages after which the WAL is copied into the database: 16 MiB.
	// The WAL stays small, and its pages stay in the cache.
	checkpointPages = 4000
	// checkpointFrames bounds the WAL, in pages, if writers write faster than the pages are copied. The writers
	// then wait once, until the copy is complete and the WAL starts over.
	checkpointFrames = 16_000
	// checkpointRest is the number of pages for which the writers wait at the end of any other copy, so that the
	// WAL starts over. A disk syncs an overwritten file much faster than a growing file.
	checkpointRest = 500
	// checkpointRounds bounds how often pages that were written during a copy are copied before the writers wait
	// for the rest.
	checkpointRounds = 4
)

// pageSize is the size of SQLite's pages in bytes.
const pageSize = sqlconn.PageSize

// A walCheckpointer copies the WAL into the database on a connection of its own, concurrently with the writers. Commits
// do not wait for it.
type walCheckpointer struct {
	session *session
	writer  *writer
	at      int64 // pages that the writer's session had written at the last checkpoint
	wake    chan struct{}
	stop    chan struct{}
	done    sync.WaitGroup
}

func newWALCheckpointer(ctx context.Context, db *sqlx.DB, w *writer) (*walCheckpointer, error) {
	s, err := newSession(ctx, db, w.dialect)
	if err != nil {
		return nil, err
	}
	c := &walCheckpointer{session: s, writer: w, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	w.wal = c.committed
	c.done.Go(func() { c.loop(context.WithoutCancel(ctx)) })
	return c, nil
}

// committed wakes the WAL checkpointer if enough pages were written. The writer calls it after each
// commit.
func (c *walCheckpointer) committed() {
	if c.writer.session.Pages-c.at < checkpointPages {
		return
	}
	c.at = c.writer.session.Pages
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *walCheckpointer) loop(ctx context.Context) {
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		}
		// If a copy fails, for example because the disk is full, the next one repeats it: no page leaves the WAL
		// before it is safe in the database. If the last copy fails too, close returns its error.
		err := c.round(ctx)
		if dberr.Unsynced(err) {
			c.writer.breakDown(fmt.Errorf("%w: %w", ErrBroken, dberr.Failed(c.writer.place, "copy the WAL", err)))
		}
	}
}

// round copies the WAL while writers continue, until few pages are left. It copies the rest during the writers'
// turn, so that the WAL starts over with the next commit. If the writers are faster, the WAL grows up to
// checkpointFrames.
func (c *walCheckpointer) round(ctx context.Context) error {
	for range checkpointRounds {
		wal, err := c.copy(ctx, c.session)
		if err != nil {
			return err
		}
		if rest := wal.Log - wal.Checkpointed; rest <= checkpointRest || wal.Log > checkpointFrames {
			return c.writer.run(ctx, &write{bare: true, do: func(ctx context.Context, w *session) error {
				_, err := c.copy(ctx, w)
				return err
			}})
		}
	}
	return nil
}

// copy copies the pages that it can copy without making readers or writers wait.
func (c *walCheckpointer) copy(ctx context.Context, s *session) (walState, error) {
	if err := c.writer.files.Check(); err != nil { // the WAL may be another file's by now
		return walState{}, err
	}
	commits := c.writer.counts.commits.Load()
	wal, err := checkpoint(ctx, s, copyWAL)
	if err == nil {
		c.writer.counts.copy(commits, wal)
	}
	return wal, err
}

const (
	copyWAL  = "PRAGMA wal_checkpoint(PASSIVE)"
	emptyWAL = "PRAGMA wal_checkpoint(TRUNCATE)"
)

// walState is SQLite's answer to a checkpoint of the WAL.
type walState struct {
	Busy         bool // a reader or a writer blocked the checkpoint
	Log          int64
	Checkpointed int64
}

func checkpoint(ctx context.Context, s *session, pragma string) (wal walState, err error) {
	failpoint.Hit("sqlstore.walcheckpoint.before")
	err = s.Get(ctx, &wal, pragma)
	failpoint.Hit("sqlstore.walcheckpoint.after")
	return wal, err
}

// settle copies the pages that a dead process left in the WAL into the database, and empties the WAL, before any
// process writes behind them. The WAL may contain a commit whose sync failed: every process reads it from the
// kernel's memory, but it is not on the disk. If the next commit followed this hole, it would be synced and
// acknowledged, and lost after a power cut. If an owner is alive, there is no hole: that owner ran settle itself,
// and a commit that it failed to sync does not show.
func (s *store) settle(ctx context.Context, w *session) error {
	if s.resting() {
		return nil
	}
	if lives, err := s.anyoneLives(); err != nil || lives {
		return err
	}
	wal, err := checkpoint(ctx, w, emptyWAL)
	if err == nil && wal.Busy {
		err = fmt.Errorf("sqlstore: %s: another program reads the database and blocks the recovery of the WAL: end that "+
			"program", s.file)
	}
	return err
}

// close empties the WAL, unless another process blocks that.
func (c *walCheckpointer) close(ctx context.Context) error {
	close(c.stop)
	c.done.Wait()
	if err := c.writer.files.Taken(); err != nil {
		return err // the connection stays open
	}
	if c.writer.files.LogReplaced() {
		return errors.Join(c.session.KeepLog(), c.session.Close())
	}
	// Do this even if the database was replaced: the WAL belongs to the open file, and a process that opens the
	// other file must not find it.
	_, err := checkpoint(ctx, c.session, emptyWAL)
	if dberr.Busy(err) {
		err = nil
	}
	return errors.Join(err, c.session.Close())
}
