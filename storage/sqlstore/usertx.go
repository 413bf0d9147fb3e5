package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/usertx"
)

// lend calls f with a transaction of database/sql that stands for the one which
// is open on the session, and reports whether f ended it. Nothing that f keeps
// can be used afterwards.
func (s *session) lend(ctx context.Context, f func(*sql.Tx) error) (ended bool, err error) {
	if err := s.flush(ctx); err != nil {
		return false, err
	}
	if s.dialect.posts {
		return s.lendServer(ctx, f)
	}
	var lent usertx.Conn
	var hooks sqlite.HookRegisterer
	err = s.conn.Raw(func(conn any) error {
		hooks, _ = conn.(sqlite.HookRegisterer)
		lent, _ = conn.(usertx.Conn)
		if lent == nil || hooks == nil {
			return errors.New("sqlstore: the driver has no hooks: was its version changed?")
		}
		hooks.RegisterCommitHook(func() int32 { return 1 })
		return nil
	})
	if err != nil {
		return false, err
	}
	defer func() {
		err = errors.Join(err, s.conn.Raw(func(any) error {
			hooks.RegisterCommitHook(nil)
			return nil
		}))
	}()
	return usertx.Host(ctx, lent, nil, f)
}
