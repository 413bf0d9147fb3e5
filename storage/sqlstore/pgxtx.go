package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"

	"github.com/ebbflow/ebb/storage"
)

// Pgx returns a transaction of pgx for jobs.Board.PostTx.
func Pgx(tx pgx.Tx) storage.UserTx { return pgxTx{tx} }

type pgxTx struct{ tx pgx.Tx }

// ExecContext implements [storage.UserTx].
func (p pgxTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	done, err := p.tx.Exec(ctx, query, args...)
	return driver.RowsAffected(done.RowsAffected()), err
}

// Rollback implements [storage.UserTx].
func (p pgxTx) Rollback() error { return p.tx.Rollback(context.Background()) }
