package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A death happens at a commit of its process, counted from 1, before or after it is made. At commit 0, there is none.
type death struct {
	commit int
	after  bool
}

// of returns the store of a process that dies this death.
func (d death) of(s backend.Store) *mortal {
	m := dies(s, forever)
	if d.commit > 0 {
		m.left.Store(int64(d.commit - 1))
	}
	m.lost = d.after
	return m
}

// once is [death.of], for a process that drives several runs. It sets a death that happens to none. A nil death is none.
func once(d *death, s backend.Store, died func()) *mortal {
	if d == nil {
		return dies(s, forever)
	}
	m := d.of(s)
	m.died = func() { d.commit = 0; died() }
	return m
}

// mortal is the store of a process that dies after a number of commits. Later commits fail.
type mortal struct {
	backend.Store

	left atomic.Int64 // negative after the death
	lost bool         // the commit of the death is made, and its answer is lost
	died func()       // called at the death; may be nil
}

// forever is more commits than any test makes.
const forever = 1 << 40

var errDied = fmt.Errorf("%w: the process has died", storage.ErrClosed)

// dies returns a store whose process makes a number of commits.
func dies(s backend.Store, after int) *mortal {
	m := &mortal{Store: s}
	m.left.Store(int64(after))
	return m
}

// dead reports whether the process has died.
func (m *mortal) dead() bool { return m.left.Load() < 0 }

func (m *mortal) Commit(ctx context.Context, c backend.Claim, cp *backend.Checkpoint) error {
	left := m.left.Add(-1)
	if left >= 0 {
		return m.Store.Commit(ctx, c, cp)
	}
	if left == -1 {
		if m.died != nil {
			defer m.died()
		}
		if m.lost {
			if err := m.Store.Commit(ctx, c, cp); err != nil {
				return err
			}
		}
	}
	return errDied
}
