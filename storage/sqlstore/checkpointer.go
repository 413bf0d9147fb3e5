package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

const (
	// checkpointPages is after about how many pages the WAL is copied into the
	// database: 16 MiB, so that it stays small and its pages warm.
	checkpointPages = 4000
	// checkpointFrames is how long the WAL may become, in pages, while writers
	// outrun the copying: then they wait once, until the copy is complete and the
	// WAL begins anew.
	checkpointFrames = 16_000
	// checkpointRest is how many pages the writers wait for at the end of any other
	// copy. Where the WAL begins anew it overwrites itself, which a disk makes safe
	// much sooner than a file that grows.
	checkpointRest = 500
	// checkpointRounds is how often what was written during a copy is copied before
	// the writers wait for the rest.
	checkpointRounds = 4
)

// A checkpointer copies the WAL into the database beside the writers, on a
// connection of its own, so that no commit pays for it.
type checkpointer struct {
	session *session
	writer  *writer
	at      int64 // pages of the writer's session at the last checkpoint
	wake    chan struct{}
	stop    chan struct{}
	done    sync.WaitGroup
}

func newCheckpointer(ctx context.Context, db *sqlx.DB, w *writer) (*checkpointer, error) {
	s, err := newSession(ctx, db, fileDialect)
	if err != nil {
		return nil, err
	}
	c := &checkpointer{session: s, writer: w, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	w.wal = c.committed
	c.done.Go(func() { c.loop(context.WithoutCancel(ctx)) })
	return c, nil
}

// committed wakes the checkpointer when there is enough to do. The writer calls
// it.
func (c *checkpointer) committed() {
	if c.writer.session.pages-c.at < checkpointPages {
		return
	}
	c.at = c.writer.session.pages
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *checkpointer) loop(ctx context.Context) {
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		}
		// What fails in passing, as on a full disk, is done again next time: nothing
		// leaves the WAL before it is safe in the database. At the end close reports
		// what is still wrong.
		err := c.round(ctx)
		if dberr.Unsynced(err) {
			c.writer.breakDown(fmt.Errorf("%w: %w", ErrBroken, dberr.Failed(c.writer.place, "copy the log", err)))
		}
	}
}

// round copies the WAL beside the writers until little is left, and then that on
// the writers' turn, so that the WAL begins anew with the next commit. When they
// outrun it, the WAL grows on until it is too long.
func (c *checkpointer) round(ctx context.Context) error {
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

// copy copies what can be copied without making any reader or writer wait.
func (c *checkpointer) copy(ctx context.Context, s *session) (walState, error) {
	if err := c.writer.files.check(); err != nil { // the log may be another file's by now
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

// walState is what SQLite says of the WAL after a checkpoint.
type walState struct {
	Busy         bool // a reader or a writer was in the way
	Log          int64
	Checkpointed int64
}

func checkpoint(ctx context.Context, s *session, pragma string) (wal walState, err error) {
	failpoint.Hit("sqlstore.walcheckpoint.before")
	err = s.get(ctx, &wal, pragma)
	failpoint.Hit("sqlstore.walcheckpoint.after")
	return wal, err
}

// settle copies what a dead process left in the WAL into the database, and
// empties the WAL, before anything is written behind it. In the WAL may be a
// commit whose sync failed: every process reads it from the kernel's memory, but it
// is not on the disk. If the next commit followed this hole, it would be synced and
// acknowledged, and lost after a power cut. If an owner lives, there is no hole: that owner
// ran settle itself, and does not show a commit that it failed to sync.
func (s *Store) settle(ctx context.Context, w *session) error {
	if s.resting() {
		return nil
	}
	if lives, err := s.anyoneLives(); err != nil || lives {
		return err
	}
	wal, err := checkpoint(ctx, w, emptyWAL)
	if err == nil && wal.Busy {
		err = fmt.Errorf("sqlstore: %s: another program is reading in it, and keeps what the last process left from being made safe: end that program", s.file)
	}
	return err
}

// close empties the WAL, if no other process is in the way.
func (c *checkpointer) close(ctx context.Context) error {
	close(c.stop)
	c.done.Wait()
	if c.writer.files.logReplaced() {
		return errors.Join(c.session.keepLog(), c.session.close())
	}
	// Also when the database was replaced: the WAL belongs to the file that is open, and a process
	// that opens the other file must not find it.
	_, err := checkpoint(ctx, c.session, emptyWAL)
	if dberr.Busy(err) {
		err = nil
	}
	return errors.Join(err, c.session.close())
}
