package executor

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/failpoint"
	"github.com/ebbflow/ebb/storage"
)

var _ atom.Host = (*Call)(nil) // for Progress see there

// Logger implements [atom.Host].
func (c *Call) Logger() hclog.Logger {
	about := &c.About
	l := c.of.Log.Named(about.Path).With("run", about.Run, "path", about.Path,
		"incarnation", about.Incarnation, "attempt", about.Attempt)
	if about.Revert {
		l = l.With("revert", true)
	}
	return l
}

// Scope implements [atom.Host].
func (c *Call) Scope() string {
	return c.of.Store.Database() + " " + strconv.FormatInt(c.of.host.Created.UnixMicro(), 10)
}

// transactTries is how often a transaction is tried whose end the store cannot
// tell. The key tells.
const transactTries = 4

// Transact implements [atom.Host].
func (c *Call) Transact(ctx context.Context, fn func(tx *sql.Tx) (atom.Value, error)) (atom.Value, error) {
	store, ok := c.of.Store.(storage.Transactor)
	if !ok {
		return nil, atom.ErrNoTransactions
	}
	key := c.About.Key() + "/tx" + strconv.Itoa(int(c.transactions.Add(1)))
	for try := 1; ; try++ {
		var own error
		result, err := store.Transact(ctx, c.of.host.Claim, key, func(tx *sql.Tx) (v atom.Value, _ error) {
			v, own = fn(tx)
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

// isCallers reports whether an error of a store is about what it was asked to do.
func isCallers(err error) bool {
	return errors.Is(err, storage.ErrInvalid) || errors.Is(err, atom.ErrValueTooLarge)
}
