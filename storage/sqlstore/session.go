package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/ebbflow/ebb/storage"
)

// A session is a connection with the statements prepared on it, each once. It
// is for one goroutine at a time.
type session struct {
	conn     *sqlx.Conn
	prepared map[string]statement
	changed  int64 // rows changed so far
	pages    int64 // about so many pages of the WAL were filled
}

// A statement lives as long as its session.
type statement struct{ *sqlx.Stmt }

func newSession(ctx context.Context, db *sqlx.DB) (*session, error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, prepared: map[string]statement{}}, nil
}

func (s *session) close() error {
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

func (s *session) stmt(ctx context.Context, query string) (statement, error) {
	if stmt, there := s.prepared[query]; there {
		return stmt, nil
	}
	stmt, err := s.conn.PreparexContext(ctx, query)
	if err != nil {
		return statement{}, err
	}
	s.prepared[query] = statement{stmt}
	return s.prepared[query], nil
}

// exec runs a statement and returns how many rows it changed.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	s.changed += n
	s.pages += n
	for _, arg := range args {
		if b, ok := arg.([]byte); ok && n > 0 {
			s.pages += int64(len(b) / pageSize)
		}
	}
	return n, err
}

// pageSize is SQLite's own choice.
const pageSize = 4096

// run runs a statement that changes no rows, such as BEGIN: SQLite would count
// those of the statement before.
func (s *session) run(ctx context.Context, query string) error {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx)
	return err
}

// get reads one row into dest. It returns storage.ErrNotFound when there is none.
func (s *session) get(ctx context.Context, dest any, query string, args ...any) error {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	err = stmt.GetContext(ctx, dest, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return err
}

// all reads all rows into the slice dest.
func (s *session) all(ctx context.Context, dest any, query string, args ...any) error {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	return stmt.SelectContext(ctx, dest, args...)
}

// each calls f for each row until it returns false or an error.
func (s *session) each(ctx context.Context, query string, args []any, f func(*sqlx.Rows) (bool, error)) (err error) {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryxContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		more, err := f(rows)
		if err != nil || !more {
			return err
		}
	}
	return rows.Err()
}

// micros returns the form in which times are stored.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// orNow returns t, or the present when it is zero.
func orNow(t time.Time) time.Time {
	if t.IsZero() {
		return time.Now()
	}
	return t
}

// moment is a time as it is stored.
type moment sql.NullInt64

// Scan implements sql.Scanner.
func (m *moment) Scan(v any) error { return (*sql.NullInt64)(m).Scan(v) }

func (m *moment) time() time.Time {
	if !m.Valid {
		return time.Time{}
	}
	return time.UnixMicro(m.Int64).UTC()
}
