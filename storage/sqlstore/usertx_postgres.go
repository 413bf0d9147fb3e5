package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/usertx"
)

// A server has no hook that refuses a COMMIT. In its place a row is written that
// refers to nothing, which the server notices at COMMIT and not before; once the
// guest is done the row is deleted. A ROLLBACK shows in the state that the server
// reports with each answer, and nothing more is admitted. So that neither can
// hide behind another statement, each statement goes by itself.
const (
	enterUserTx = `INSERT INTO user_transactions (nowhere) VALUES (0)`
	leaveUserTx = `DELETE FROM user_transactions`
)

// usersPlanning gives users' own statements the server's settings, see planBy.
var usersPlanning = "SET LOCAL " + strings.Join(planning, " TO DEFAULT; SET LOCAL ") + " TO DEFAULT"

// lendServer is lend on a server.
func (s *session) lendServer(ctx context.Context, f func(*sql.Tx) error) (ended bool, err error) {
	var conn *stdlib.Conn
	if err := s.conn.Raw(func(c any) error { conn, _ = c.(*stdlib.Conn); return nil }); err != nil || conn == nil {
		return false, errors.Join(err, driver.ErrBadConn)
	}
	if _, err := s.exec(ctx, enterUserTx); err != nil {
		return false, err
	}
	if _, err := s.conn.ExecContext(ctx, "SELECT set_config('search_path', $1, TRUE)", s.userTxPath); err != nil {
		return false, err
	}
	if _, err := s.conn.ExecContext(ctx, usersPlanning); err != nil {
		return false, err
	}
	if s.userTxIdle != "" {
		if _, err := s.conn.ExecContext(ctx, "SELECT set_config($1, $2, TRUE)", idleTimeout, s.userTxIdle); err != nil {
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
		err = fmt.Errorf("%w: a statement of the function failed, and it went on: return such errors, as the server has undone all", storage.ErrInvalid)
	}
	if err != nil {
		return false, err
	}
	if _, err := s.conn.ExecContext(ctx, "SELECT set_config('search_path', $1, TRUE)", conn.Conn().Config().RuntimeParams["search_path"]); err != nil {
		return false, err
	}
	_, err = s.exec(ctx, leaveUserTx)
	return false, err
}
