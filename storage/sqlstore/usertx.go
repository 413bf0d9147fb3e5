package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/usertx"
)

// lend calls f with a database/sql transaction that stands for the transaction of the session, and reports whether
// f ended it. After lend returns, f's references to the transaction are unusable.
func (s *session) lend(ctx context.Context, f func(*sql.Tx) error) (ended bool, err error) {
	if err := s.Flush(ctx); err != nil {
		return false, err
	}
	if s.dialect.Posts {
		return s.lendServer(ctx, f)
	}
	var lent usertx.Conn
	var hooks sqlite.HookRegisterer
	err = s.SQL.Raw(func(conn any) error {
		hooks, _ = conn.(sqlite.HookRegisterer)
		lent, _ = conn.(usertx.Conn)
		if lent == nil || hooks == nil {
			return errors.New("sqlstore: the SQLite driver has no hooks: check its version")
		}
		hooks.RegisterCommitHook(func() int32 { return 1 })
		return nil
	})
	if err != nil {
		return false, err
	}
	defer func() {
		err = errors.Join(err, s.SQL.Raw(func(any) error {
			hooks.RegisterCommitHook(nil)
			return nil
		}))
	}()
	return usertx.Host(ctx, lent, nil, f)
}
