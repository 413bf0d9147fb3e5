package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/usertx"
)

var _ backend.Transactor = (*store)(nil)

const (
	selectClaim    = `SELECT r.n, r.fence, r.claim, r.owner FROM origins o JOIN runs r ON r.n = o.n WHERE o.id = $1`
	selectTransact = `SELECT result FROM transactions WHERE run = $1 AND key = $2`
	insertTransact = `INSERT INTO transactions (run, key, result) VALUES ($1, $2, $3)`
)

// Transact implements [backend.Transactor.Transact]. It waits for its turn as every other write does, and does not
// share the transaction.
func (s *store) Transact(ctx context.Context, claim backend.Claim, key string,
	fn func(*sql.Tx) (atom.Value, error),
) (atom.Value, error) {
	if err := rules.CheckKey(key); err != nil {
		return nil, err
	}
	t := transaction{claim: claim, key: key, fn: fn}
	err := s.update(ctx, &write{
		alone: true, checkpoint: true, runs: []string{claim.Run},
		do: func(whole context.Context, w *session) error {
			return t.write(whole, ctx, w)
		},
	})
	if t.own != nil {
		return nil, t.own
	}
	if err != nil {
		return nil, err
	}
	return t.result, nil
}

// A transaction is a call of Transact.
type transaction struct {
	claim backend.Claim
	key   string
	fn    func(*sql.Tx) (atom.Value, error)

	result atom.Value
	own    error // error of fn, not of the store
}

// errOwn rolls a transaction back because fn failed. Transact returns the error of fn unchanged.
var errOwn = errors.New("sqlstore: the function failed")

// write runs in ctx, and calls fn with limited.
func (t *transaction) write(ctx, limited context.Context, w *session) error {
	t.result, t.own = nil, nil // reset the results of an attempt that found the database busy
	var run struct {
		N     int64
		Fence int64
		Claim string
		Owner string
	}
	if err := w.hold(ctx, t.claim.Run); err != nil {
		return err
	}
	if err := w.Get(ctx, &run, selectClaim, t.claim.Run); err != nil {
		return notFound(err, "run", t.claim.Run)
	}
	if run.Fence != t.claim.Fence || run.Claim != t.claim.ID || run.Owner == "" {
		return fmt.Errorf("%w: run %q", storage.ErrFenced, t.claim.Run)
	}
	var done []byte
	err := w.Get(ctx, &done, selectTransact, run.N, t.key)
	if err == nil {
		t.result = done
		return nil
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if err := t.call(ctx, limited, w); err != nil {
		return err
	}
	if len(t.result) > atom.MaxValue {
		return atom.ErrValueTooLarge
	}
	return w.Post(ctx, nil, insertTransact, run.N, t.key, []byte(t.result))
}

// call calls fn. If a savepoint that call set before is gone afterwards, fn has ended the transaction by a method
// or a statement. Even then the store does not commit the writes of fn, see lend.
func (t *transaction) call(ctx, limited context.Context, w *session) error {
	savepoint := "ebb_" + uuid.NewString()[:8]
	if _, err := w.SQL.ExecContext(ctx, "SAVEPOINT "+savepoint); err != nil {
		return err
	}
	ended, err := w.lend(limited, func(tx *sql.Tx) error {
		t.result, t.own = t.fn(tx)
		return t.own
	})
	if t.own == nil && limited.Err() != nil || dberr.OfDatabase(t.own) && limited.Err() != nil {
		t.own = limited.Err()
	}
	if t.own != nil {
		return errOwn
	}
	if err != nil {
		return err
	}
	if _, err := w.SQL.ExecContext(ctx, "RELEASE "+savepoint); err != nil || ended {
		return fmt.Errorf("%w: %s", storage.ErrInvalid, usertx.MustNotEnd)
	}
	return nil
}
