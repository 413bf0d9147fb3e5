package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite" // the driver "sqlite"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/inline"
)

// A session is a connection with the statements prepared on it, each once. It
// is for one goroutine at a time.
type session struct {
	conn       *sqlx.Conn
	dialect    *dialect
	prepared   map[string]statement
	direct     map[string]directStmt // on SQLite: those that are only executed, see directly
	values     []driver.NamedValue   // of the one that is being executed
	args       []any                 // see emptyArgs
	texts      map[string]string     // of statements that were sent together, as they are spelt
	posted     []queued              // not sent yet
	wrong      error                 // of what was sent in this transaction: it can only be undone
	held       []string              // runs whose rows this transaction has locked
	userTxPath string                // on a server: the search path of users' own statements
	userTxIdle string                // and how long their transactions may do nothing; "" as long as all others
	freed      bool                  // jobs whose time has come were looked for in this transaction
	moment     time.Time             // in which it is, by the database's clock; zero when it was not asked
	heard      bool                  // the database has answered in this transaction
	many       bool                  // several writes share this transaction
	numbers    []int64               // that runs will have which it makes
	limits     []storage.Limit       // as this transaction has read them; nil when it has not
	born       map[string]int64      // runs that this transaction has created, by their roots
	changed    int64                 // rows changed so far
	pages      int64                 // about so many pages of the WAL were filled
	written    int64                 // bytes in the arguments of what changed rows
	scratch    inline.Scratch
}

// A statement lives as long as its session. SQLite prepares one anew for each
// use whose LIMIT is a bare parameter, so that is an expression.
type statement struct{ *sqlx.Stmt }

// A directStmt is a statement of the driver's own.
type directStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

var errDriver = errors.New("sqlstore: the driver has no prepared statements: was its version changed?")

func newSession(ctx context.Context, db *sqlx.DB, d *dialect) (*session, error) {
	conn, err := db.Connx(ctx)
	if err != nil {
		return nil, err
	}
	return &session{
		conn: conn, dialect: d, prepared: map[string]statement{}, direct: map[string]directStmt{}, texts: map[string]string{},
	}, nil
}

func (s *session) close() error {
	if s.conn == nil { // it was never connected
		return nil
	}
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	for _, stmt := range s.direct {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

// keepLog keeps SQLite from deleting the log when the last connection is closed: it
// would delete what has that name now, which is another database's.
func (s *session) keepLog() error {
	return s.conn.Raw(func(conn any) error {
		c, controls := conn.(sqlite.FileControl)
		if !controls {
			return errDriver
		}
		_, err := c.FileControlPersistWAL("main", 1)
		return err
	})
}

// stmt returns the statement, prepared, once those before it were sent.
func (s *session) stmt(ctx context.Context, query string) (statement, error) {
	if err := s.flush(ctx); err != nil {
		return statement{}, err
	}
	if stmt, there := s.prepared[query]; there {
		return stmt, nil
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	stmt, err := s.conn.PreparexContext(ctx, s.dialect.spell(query))
	if err != nil {
		return statement{}, err
	}
	s.prepared[query] = statement{stmt}
	return s.prepared[query], nil
}

// limit bounds how long an answer is waited for where it may never come.
func (s *session) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.dialect.patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.dialect.patience)
}

// exec runs a statement and returns how many rows it changed.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := s.result(ctx, query, args)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	s.count(n, args)
	return n, err
}

// result runs a statement that returns no rows.
func (s *session) result(ctx context.Context, query string, args []any) (driver.Result, error) {
	if !s.dialect.posts {
		return s.directly(ctx, query, args)
	}
	var rows int64
	err := s.exchange(ctx, &queued{query: query, args: args, check: func(n int64) error { rows = n; return nil }}, false)
	return driver.RowsAffected(rows), err
}

// directly runs a statement on the driver's own connection, which is the
// session's alone: database/sql would look for a free one, and allocate the
// arguments, each time. What SQLite executes is most of what a run costs.
func (s *session) directly(ctx context.Context, query string, args []any) (driver.Result, error) {
	stmt, err := s.prepareArgs(ctx, query, args)
	if err != nil {
		return nil, err
	}
	defer func() { clear(s.values) }() // or what was written would be kept
	return stmt.ExecContext(ctx, s.values)
}

// number is directly for a statement that returns one whole number, or no row. It
// returns storage.ErrNotFound when there is none. It is done sooner than a goroutine is
// begun that watches for the end of ctx, as the driver would.
func (s *session) number(ctx context.Context, query string, args []any) (n int64, err error) {
	stmt, err := s.prepareArgs(ctx, query, args)
	if err != nil {
		return 0, err
	}
	defer func() { clear(s.values) }()
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), s.values)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row [1]driver.Value
	switch err := rows.Next(row[:]); {
	case errors.Is(err, io.EOF):
		return 0, storage.ErrNotFound
	case err != nil:
		return 0, err
	}
	n, is := row[0].(int64)
	if !is {
		return 0, fmt.Errorf("%w: %v is no whole number: %s", storage.ErrCorrupt, row[0], query)
	}
	return n, nil
}

// prepareArgs returns a statement of the driver's own, and puts its arguments into
// s.values.
func (s *session) prepareArgs(ctx context.Context, query string, args []any) (directStmt, error) {
	stmt, there := s.direct[query]
	if !there {
		var err error
		if stmt, err = s.prepareDirect(ctx, query); err != nil {
			return nil, err
		}
		s.direct[query] = stmt
	}
	s.values = s.values[:0]
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, fmt.Errorf("argument %d of %s: %w", i+1, query, err)
		}
		s.values = append(s.values, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return stmt, nil
}

func (s *session) prepareDirect(ctx context.Context, query string) (stmt directStmt, err error) {
	err = s.conn.Raw(func(conn any) error {
		c, prepares := conn.(driver.ConnPrepareContext)
		if !prepares {
			return errDriver
		}
		made, err := c.PrepareContext(ctx, s.dialect.spell(query))
		if err != nil {
			return err
		}
		if stmt, prepares = made.(directStmt); !prepares {
			return errors.Join(errDriver, made.Close())
		}
		return nil
	})
	return stmt, err
}

// count counts what a statement wrote.
func (s *session) count(rows int64, args []any) {
	if rows == 0 {
		return
	}
	s.changed += rows
	s.pages += rows
	for _, arg := range args {
		switch arg := arg.(type) {
		case []byte:
			s.pages += int64(len(arg) / pageSize)
			s.written += int64(len(arg))
		case string:
			s.written += int64(len(arg))
		default:
			s.written += 8
		}
	}
}

// A queued statement is to be sent together with others.
type queued struct {
	query string
	spelt bool // query is as the database wants it
	args  []any
	check func(rows int64) error // of how many rows it changed; nil when that does not matter
	read  func(*answer) error    // reads what it selects; nil when it selects nothing
}

// post runs a statement without waiting for its outcome. If the round trip to the
// database is long, post sends it with the next statement that needs an answer, or with
// the COMMIT. Its error, and that of check, which may be nil, then comes only there.
// The arguments must not change until then.
func (s *session) post(ctx context.Context, check func(rows int64) error, query string, args ...any) error {
	if s.dialect.posts {
		s.posted = append(s.posted, queued{query: query, args: args, check: check})
		s.changed++ // as far as is known
		return nil
	}
	n, err := s.exec(ctx, query, args...)
	if err == nil && check != nil {
		err = check(n)
	}
	return err
}

// postQuery is post for a query: read is called once dest has its rows, and with the error
// when they cannot be read. What the transaction does comes to pass all the same, if the
// rows are read with the COMMIT.
func (s *session) postQuery(ctx context.Context, dest any, read func(error) error, query string, args ...any) error {
	if !s.dialect.posts {
		return read(s.all(ctx, dest, query, args...))
	}
	s.posted = append(s.posted, queued{query: query, args: args, read: func(rows *answer) error {
		err := rows.all(dest)
		if dberr.OfDatabase(err) {
			return err
		}
		_ = read(err)
		return nil
	}})
	s.changed++ // as far as is known
	return nil
}

// emptyArgs returns an empty list for the arguments of one posted statement: the same
// list for each statement, where arguments are not kept.
func (s *session) emptyArgs() []any {
	if s.dialect.posts || s.args == nil {
		s.args = make([]any, 0, 40)
	}
	return s.args
}

// flush sends what was posted, and returns the first error.
func (s *session) flush(ctx context.Context) error { return s.exchange(ctx, nil, false) }

// insert runs a statement that inserts one row or none, and returns how many and
// what it returns, its number.
func (s *session) insert(ctx context.Context, query string, args ...any) (rows, number int64, err error) {
	err = s.get(ctx, &number, query, args...)
	if errors.Is(err, storage.ErrNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	s.count(1, args)
	return 1, number, nil
}

// pageSize is SQLite's own choice.
const pageSize = 4096

// run runs a statement that changes no rows, such as BEGIN: SQLite would count
// those of the statement before.
func (s *session) run(ctx context.Context, query string) error {
	_, err := s.result(ctx, query, nil)
	return err
}

// get reads one row into dest. It returns storage.ErrNotFound when there is none.
func (s *session) get(ctx context.Context, dest any, query string, args ...any) error {
	if n, is := dest.(*int64); is && !s.dialect.posts {
		found, err := s.number(ctx, query, args)
		if err == nil {
			*n = found
		}
		return err
	}
	if s.dialect.posts {
		return s.ask(ctx, query, args, func(rows *answer) error { return rows.one(dest) })
	}
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	err = stmt.GetContext(ctx, dest, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return err
}

// all reads all rows into the slice dest.
func (s *session) all(ctx context.Context, dest any, query string, args ...any) error {
	if s.dialect.posts {
		return s.ask(ctx, query, args, func(rows *answer) error { return rows.all(dest) })
	}
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	return stmt.SelectContext(ctx, dest, args...)
}

// once is all for statements that are put together for one use, and not worth
// preparing.
func (s *session) once(ctx context.Context, dest any, query string, args ...any) error {
	if s.dialect.posts {
		return s.all(ctx, dest, query, args...)
	}
	return s.conn.SelectContext(ctx, dest, s.dialect.spell(query), args...)
}

// each calls f for each row until it returns false or an error.
func (s *session) each(ctx context.Context, query string, args []any, f func(*sqlx.Rows) (bool, error)) (err error) {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
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

const (
	lockRun  = `SELECT r.n FROM runs r JOIN origins o ON o.n = r.n WHERE o.id = ? FOR UPDATE OF r`
	lockRuns = `SELECT o.id FROM runs r JOIN origins o ON o.n = r.n
WHERE r.n = ANY (ARRAY(SELECT n FROM origins WHERE id IN (SELECT value FROM json_each(?)))) ORDER BY r.n FOR UPDATE OF r`
	lockFreeRuns = lockRuns + ` SKIP LOCKED`
	// lockFreeNumbers is given the form in which PostgreSQL writes arrays.
	lockFreeNumbers = `SELECT n, fence FROM runs WHERE n = ANY (CAST(? AS BIGINT[])) ORDER BY n FOR UPDATE SKIP LOCKED`
)

// lockNumbers locks the rows of runs that are known by their numbers. It skips rows that
// another transaction has locked, and returns the fences of the rows that it locked.
func (s *session) lockNumbers(ctx context.Context, runs map[int64]string) (fences map[int64]int64, err error) {
	fences = make(map[int64]int64, len(runs))
	if len(runs) == 0 {
		return fences, nil
	}
	list, err := json.Marshal(slices.Sorted(maps.Keys(runs)))
	if err != nil {
		return nil, err
	}
	var locked []struct{ N, Fence int64 }
	if err := s.all(ctx, &locked, lockFreeNumbers, "{"+string(list[1:len(list)-1])+"}"); err != nil {
		return nil, err
	}
	for _, row := range locked {
		s.held = append(s.held, runs[row.N])
		fences[row.N] = row.Fence
	}
	return fences, nil
}

// lockRuns locks the rows of runs. With free it skips the rows that another transaction has
// locked.
func (s *session) lockRuns(ctx context.Context, runs []string, free bool) error {
	if len(runs) == 0 {
		return nil
	}
	list, err := json.Marshal(runs)
	if err != nil {
		return err
	}
	query := lockRuns
	if free {
		query = lockFreeRuns
	}
	var locked []string
	err = s.all(ctx, &locked, query, string(list))
	s.held = append(s.held, locked...)
	return err
}

// hold locks the row of a run until the end of the transaction, where others may
// write at the same time: what is read of the run afterwards stays so. A run that
// is not there is no error.
func (s *session) hold(ctx context.Context, run string) error {
	if !s.dialect.locks || slices.Contains(s.held, run) {
		return nil
	}
	var n int64
	err := s.get(ctx, &n, lockRun, run)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	s.held = append(s.held, run)
	return err
}

// now returns the time of the database in this transaction, by which leases are kept: on one machine
// that is the machine's.
func (s *session) now(ctx context.Context) (time.Time, error) {
	if s.dialect.clock == "" {
		return time.Now(), nil
	}
	if !s.moment.IsZero() {
		return s.moment, nil
	}
	var micros int64
	if err := s.get(ctx, &micros, s.dialect.clock); err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", err)
	}
	s.moment = time.UnixMicro(micros).UTC()
	return s.moment, nil
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
