package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/usertx"
)

var _ storage.Transactor = (*Store)(nil)

const (
	selectClaim    = `SELECT r.n, r.fence, r.claim, r.owner FROM origins o JOIN runs r ON r.n = o.n WHERE o.id = ?`
	selectTransact = `SELECT result FROM transactions WHERE run = ? AND key = ?`
	insertTransact = `INSERT INTO transactions (run, key, result) VALUES (?, ?, ?)`
)

// Transact calls fn in a write transaction, and commits what it did together
// with its result. It waits for its turn as every other write, and shares the
// transaction with none.
func (s *Store) Transact(ctx context.Context, claim storage.Claim, key string, fn func(*sql.Tx) (atom.Value, error)) (atom.Value, error) {
	if err := rules.CheckKey(key); err != nil {
		return nil, err
	}
	t := transaction{claim: claim, key: key, fn: fn}
	err := s.update(ctx, &write{alone: true, checkpoint: true, runs: []string{claim.Run}, do: func(whole context.Context, w *session) error {
		return t.write(whole, ctx, w)
	}})
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
	claim storage.Claim
	key   string
	fn    func(*sql.Tx) (atom.Value, error)

	result atom.Value
	own    error // of the function, not of the store
}

// errOwn undoes a transaction on account of the function's own error, which is
// not to be dressed up.
var errOwn = errors.New("sqlstore: the function failed")

// write does it: in ctx, but for the function, whose time is limited.
func (t *transaction) write(ctx, limited context.Context, w *session) error {
	t.result, t.own = nil, nil // of a try that found the database busy
	var run struct {
		N     int64
		Fence int64
		Claim string
		Owner string
	}
	if err := w.hold(ctx, t.claim.Run); err != nil {
		return err
	}
	if err := w.get(ctx, &run, selectClaim, t.claim.Run); err != nil {
		return notFound(err, "run", t.claim.Run)
	}
	if run.Fence != t.claim.Fence || run.Claim != t.claim.ID || run.Owner == "" {
		return fmt.Errorf("%w: run %q", storage.ErrFenced, t.claim.Run)
	}
	var done []byte
	err := w.get(ctx, &done, selectTransact, run.N, t.key)
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
	return w.post(ctx, nil, insertTransact, run.N, t.key, []byte(t.result))
}

// call calls the function. That it ended the transaction, by a method or a
// statement, shows in that a savepoint from before it is gone; nothing of what
// it wrote is committed even then, see userTx.
func (t *transaction) call(ctx, limited context.Context, w *session) error {
	savepoint := "ebb_" + uuid.NewString()[:8]
	if _, err := w.conn.ExecContext(ctx, "SAVEPOINT "+savepoint); err != nil {
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
	if _, err := w.conn.ExecContext(ctx, "RELEASE "+savepoint); err != nil || ended {
		return fmt.Errorf("%w: %s", storage.ErrInvalid, usertx.MustNotEnd)
	}
	return nil
}
