package sqlstore

import (
	"context"
	"errors"
	"sync"

	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/failpoint"
)

const (
	// checkpointPages is after about how many pages the WAL is copied into the
	// database: 16 MiB, so that it stays small and its pages warm.
	checkpointPages = 4000
	// checkpointFrames is how long the WAL may become, in pages, while writers
	// outrun the copying: then they wait once, until the copy is complete and the
	// WAL begins anew.
	checkpointFrames = 16_000
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
	s, err := newSession(ctx, db)
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
		// What fails is done again next time: nothing leaves the WAL before it is
		// safe in the database. At the end close reports what is still wrong.
		frames, err := checkpoint(ctx, c.session, copyWAL)
		if err == nil && frames > checkpointFrames {
			_ = c.writer.run(ctx, &write{bare: true, do: func(ctx context.Context, w *session) error {
				_, err := checkpoint(ctx, w, copyWAL)
				return err
			}})
		}
	}
}

const (
	copyWAL  = "PRAGMA wal_checkpoint(PASSIVE)"
	emptyWAL = "PRAGMA wal_checkpoint(TRUNCATE)"
)

// checkpoint returns how many frames were in the WAL.
func checkpoint(ctx context.Context, s *session, pragma string) (frames int64, err error) {
	failpoint.Hit("sqlstore.walcheckpoint.before")
	var row struct{ Busy, Log, Checkpointed int64 }
	err = s.get(ctx, &row, pragma)
	failpoint.Hit("sqlstore.walcheckpoint.after")
	return row.Log, err
}

// close empties the WAL, if no other process is in the way.
func (c *checkpointer) close(ctx context.Context) error {
	close(c.stop)
	c.done.Wait()
	_, err := checkpoint(ctx, c.session, emptyWAL)
	if busy(err) {
		err = nil
	}
	return errors.Join(err, c.session.close())
}
