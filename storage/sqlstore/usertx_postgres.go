package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/usertx"
)

// PostgreSQL has no hook that refuses a COMMIT. Therefore, the store inserts a row that violates a deferred foreign
// key, which the server checks at COMMIT. After fn has returned, the store deletes the row. A ROLLBACK shows in the
// state that the server reports with each answer; the store then refuses further statements. The store sends each
// statement alone, so that a COMMIT or ROLLBACK cannot hide behind another statement.
const (
	enterUserTx = `INSERT INTO user_transactions (nowhere) VALUES (0)`
	leaveUserTx = `DELETE FROM user_transactions`
)

// lendServer is lend on a server.
func (s *session) lendServer(ctx context.Context, f func(*sql.Tx) error) (ended bool, err error) {
	var conn *stdlib.Conn
	if err := s.SQL.Raw(func(c any) error { conn, _ = c.(*stdlib.Conn); return nil }); err != nil || conn == nil {
		return false, errors.Join(err, driver.ErrBadConn)
	}
	if _, err := s.Exec(ctx, enterUserTx); err != nil {
		return false, err
	}
	if _, err := s.SQL.ExecContext(ctx, "SELECT set_config('search_path', $1, TRUE)", s.usersPath); err != nil {
		return false, err
	}
	if _, err := s.SQL.ExecContext(ctx, postgres.UsersPlanning); err != nil {
		return false, err
	}
	if s.usersIdle != "" {
		if _, err := s.SQL.ExecContext(ctx, "SELECT set_config($1, $2, TRUE)", postgres.IdleTimeout,
			s.usersIdle); err != nil {
			return false, err
		}
	}
	open := func() bool { return conn.Conn().PgConn().TxStatus() != 'I' }
	ended, err = usertx.Host(ctx, usertx.Singly{Conn: conn}, func() error {
		if open() {
			return nil
		}
		return errors.New("sqlstore: " + usertx.MustNotEnd)
	}, f)
	if ended || !open() {
		return true, err
	}
	if err == nil && conn.Conn().PgConn().TxStatus() == 'E' {
		err = fmt.Errorf("%w: a statement of the function failed and the server rolled everything back: return that error",
			storage.ErrInvalid)
	}
	if err != nil {
		return false, err
	}
	if _, err := s.SQL.ExecContext(ctx, "SELECT set_config('search_path', $1, TRUE)",
		conn.Conn().Config().RuntimeParams["search_path"]); err != nil {
		return false, err
	}
	_, err = s.Exec(ctx, leaveUserTx)
	return false, err
}
