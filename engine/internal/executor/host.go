package executor

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/storedlist"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/internal/guard"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

var _ atom.Host = (*Call)(nil) // Progress is in progress.go

// Logger implements [atom.Host].
func (c *Call) Logger() hclog.Logger {
	about := &c.About
	return c.of.Log.With(logevent.Attributes("run", about.Run, "path", about.Path, "attempt", about.Attempt,
		"incarnation", about.Incarnation, "revert", about.Revert)...)
}

// Scope implements [atom.Host].
func (c *Call) Scope() string {
	return c.of.Store.Database() + " " + strconv.FormatInt(c.of.host.Created.UnixMicro(), 10)
}

// Elements implements [atom.Host]. A call reads only lists of runs of its own family, because the list may come from
// the input of the run.
func (c *Call) Elements(ctx context.Context, of *atom.StoredList, from, n int) ([]atom.Value, error) {
	list, err := storedlist.Page(ctx, c.of.Store, of, from, n, c.of.host.Root)
	if err != nil && !isCallers(err) && ctx.Err() == nil && !errors.Is(err, storedlist.ErrForeign) {
		c.of.host.Driver.Broken(err)
	}
	return list, err
}

// transactTries is how often a transaction is tried if the store cannot tell whether it was committed. The key
// prevents a second execution.
const transactTries = 4

// Transact implements [atom.Host].
func (c *Call) Transact(ctx context.Context, fn func(tx *sql.Tx) (atom.Value, error)) (atom.Value, error) {
	store, ok := c.of.Store.(backend.Transactor)
	if !ok {
		return nil, atom.ErrNoTransactions
	}
	key := c.About.Key() + "/tx" + strconv.Itoa(int(c.transactions.Add(1)))
	for try := 1; ; try++ {
		var own error
		result, err := store.Transact(ctx, c.of.host.Claim, key, func(tx *sql.Tx) (v atom.Value, _ error) {
			// The store may call this for several runs on one goroutine, which holds the database.
			if broke := guard.Call(func() { v, own = fn(tx) }); broke != nil {
				own = broke
			}
			return v, own
		})
		switch {
		case err == nil:
			failpoint.Hit("engine.transacted")
			return result, nil
		case own != nil || isCallers(err) || ctx.Err() != nil:
			return nil, err
		case !errors.Is(err, storage.ErrUnsure) || try == transactTries:
			c.of.host.Driver.Broken(err)
			return nil, err
		}
	}
}

// isCallers reports whether an error of a store is about the caller's request.
func isCallers(err error) bool {
	return errors.Is(err, storage.ErrInvalid) || errors.Is(err, atom.ErrValueTooLarge)
}
