package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/internal/hcslog"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A Store keeps runs in a SQLite database. It is safe for use by many
// goroutines, beside other stores on the same file in this process or others.
type Store struct {
	place        string // what failed messages name: the file, or the server and its database
	dialect      *dialect
	file         string  // "" on a server
	server       *server // nil for a file
	readOnly     bool
	steps        fs.FS // the migrations
	shared       bool  // a new file is for all users that may write to its folder
	log          hclog.Logger
	lease        time.Duration
	owner        storage.Owner
	lock         *filelock.Lock // the owner's
	turns        *turns.Queue
	files        *site    // what the file and those beside it were when they were opened; nil until then, and on a server
	db           *sqlx.DB // for writing
	writer       *writer
	readers      *readers
	wal          *checkpointer // nil on a server
	leaseRenewer *leaseRenewer // nil for a file
	notifier     *wakeup.Notifier
	claims       claims
	rising       sync.Mutex
	jobsFound    atomic.Bool  // when they were claimed last
	rated        atomic.Bool  // there were rates when jobs were claimed last
	evictions    atomic.Int64 // how often the owner was taken for dead
	deaths       atomic.Int64 // owners that were found dead
	closing      sync.Once
	closed       error
}

var _ storage.Store = (*Store)(nil)

// An Option changes how a store is opened.
type Option func(*Store)

// ReadOnly opens the database for looking at it: nothing is made or migrated,
// no owner is registered, and methods that write return [ErrReadOnly]. A
// database of an older Ebb is refused with [ErrOlder].
func ReadOnly() Option { return func(s *Store) { s.readOnly = true } }

// Log sets where the store logs what an operator has to see to, such as a process
// that keeps all others from writing; the default is nowhere.
func Log(log hclog.Logger) Option { return func(s *Store) { s.log = log } }

// Slog is [Log] for programs that log with [log/slog].
func Slog(log *slog.Logger) Option { return Log(hcslog.Logger(log.Handler())) }

// Open opens the database that the DSN names, "sqlite:PATH" or a bare path. It
// makes the file when it is not there and brings an older one to today's schema.
// It returns [ErrForeign] or [ErrNewer], having changed nothing, for files it
// must not write.
func Open(ctx context.Context, dsn string, opts ...Option) (*Store, error) {
	if isServer(dsn) {
		return openServer(ctx, dsn, opts)
	}
	file, err := fileOf(dsn)
	if err != nil {
		return nil, err
	}
	s := &Store{place: file, dialect: fileDialect, file: file, steps: migrations, log: hclog.NewNullLogger()}
	for _, opt := range opts {
		opt(s)
	}
	mode, err := s.look(ctx, !s.readOnly)
	if err != nil {
		return nil, dberr.Failed(file, "open", err)
	}
	if s.readOnly {
		s.notifier = wakeup.New(nil)
		s.readers, err = openReaders(file, mode)
		return s, err
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(dberr.Failed(file, "open", err), s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// look finds out in which mode the file can be opened, to write or not, and whether it
// may be.
func (s *Store) look(ctx context.Context, write bool) (mode string, err error) {
	err = s.inspect(ctx, "rw")
	if !write && dberr.Unwritable(err) && s.resting() {
		return frozen, s.inspect(ctx, frozen)
	}
	return "rw", err
}

// inspect looks at what is there without changing anything.
func (s *Store) inspect(ctx context.Context, mode string) error {
	info, err := os.Stat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.readOnly:
		return fmt.Errorf("sqlstore: there is no database %s: %w", s.file, fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("sqlstore: open: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no regular file: name another", ErrForeign, s.file)
	}
	if err := s.strangers(); err != nil {
		return err
	}
	found, err := s.schemaOf(ctx, mode)
	if err != nil {
		return err
	}
	texts, err := migrationTexts(s.steps)
	if err != nil {
		return err
	}
	newest := firstSchema - 1 + len(texts)
	if s.readOnly && found.empty() {
		return fmt.Errorf("%w: %s is empty", ErrForeign, s.file)
	}
	if err := found.check(s.file, newest); err != nil {
		return err
	}
	if s.readOnly && found.version < int64(newest) {
		return fmt.Errorf("%w: %s (schema %d; this one reads %d): open it once for writing", ErrOlder, s.file, found.version, newest)
	}
	return nil
}

// found returns what there is at a path where perhaps there is nothing.
func (s *Store) found(ctx context.Context) (schema, error) {
	mode, err := s.look(ctx, false)
	if err != nil {
		return schema{}, err
	}
	if _, err := os.Stat(s.file); errors.Is(err, fs.ErrNotExist) {
		return schema{}, nil
	}
	return s.schemaOf(ctx, mode)
}

// schemaOf asks the file for its schema: through SQLite, as closing a file of
// one's own would drop the locks that other stores in this process have on it; and
// not with mode=ro, as a process that opens a WAL database in that mode cannot tidy up behind itself.
func (s *Store) schemaOf(ctx context.Context, mode string) (found schema, err error) {
	db, err := connect(s.file, mode, "query_only(1)")
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Connx(ctx)
	if err != nil {
		return found, s.foreign(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	found, err = readSchema(ctx, conn)
	return found, s.foreign(err)
}

// resting reports whether every commit is in the file itself: no process writes, and
// the last process that did closed the store cleanly.
func (s *Store) resting() bool {
	info, err := os.Stat(s.file + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// foreign says what it means that a file cannot be read as a database.
func (s *Store) foreign(err error) error {
	if dberr.Code(err) == notADatabase {
		return fmt.Errorf("%w: %s is no database: name another file", ErrForeign, s.file)
	}
	return err
}

const notADatabase = 26 // SQLITE_NOTADB

func openReaders(file, mode string) (*readers, error) {
	db, err := connect(file, mode, "query_only(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxReaders)
	db.SetMaxIdleConns(maxReaders)
	return newReaders(db, fileDialect), nil
}

// open makes ready to write. What it has made when it fails, release undoes.
func (s *Store) open(ctx context.Context) (err error) {
	if err := s.reserve(ctx); err != nil {
		return err
	}
	if s.db, err = connect(s.file, "rwc", "cache_size(-32000)"); err != nil {
		return err
	}
	conn, err := newSession(ctx, s.db, s.dialect)
	if err != nil {
		return err
	}
	s.writer = newWriter(s.place, s.turns, conn)
	if err := s.prepare(ctx, conn); err != nil {
		return err
	}
	if s.files, err = siteOf(s.file); err != nil {
		return err
	}
	s.writer.files = s.files
	if s.readers, err = openReaders(s.file, "rw"); err != nil {
		return err
	}
	s.readers.files = s.files
	if s.wal, err = newCheckpointer(ctx, s.db, s.writer); err != nil {
		return err
	}
	s.notifier = wakeup.New(s.writer.othersVersion)
	s.writer.waiting = s.notifier.Notify
	s.notifier.Look(ctx) // what is there already is no news
	if s.owner, s.lock, err = s.newOwner(); err != nil {
		return fmt.Errorf("sqlstore: the folder of %s cannot be written: %w", s.file, err)
	}
	if err := s.writer.run(ctx, &write{do: func(ctx context.Context, w *session) error { return register(ctx, w, s.owner) }}); err != nil {
		return err
	}
	if err := s.evictDead(ctx); err != nil {
		return err
	}
	return s.sweep()
}

// reserve opens the gates and makes sure that there is a file, which only the intended
// users may use.
func (s *Store) reserve(ctx context.Context) error {
	if err := s.openGates(); err != nil {
		return err
	}
	return s.inTurn(ctx, s.create)
}

// openGates opens the gates, if the files are to be trusted.
func (s *Store) openGates() error {
	if err := s.trust(); err != nil {
		return err
	}
	like, err := s.likeness()
	if err == nil {
		s.turns, err = turns.Open(s.file, s.log, like)
	}
	if err != nil {
		return fmt.Errorf("sqlstore: the folder of %s cannot be written: %w", s.file, err)
	}
	return nil
}

// trust returns an error when another user may have made a file for this process to
// find it.
func (s *Store) trust() error {
	for _, name := range []string{"", "-wal", "-shm", "-turn-a", "-turn-b"} {
		if err := trust(s.file + name); err != nil {
			return err
		}
	}
	return nil
}

// inTurn calls f when this process has the turn to write.
func (s *Store) inTurn(ctx context.Context, f func() error) (err error) {
	if err := s.turns.Enter(ctx.Done()); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	defer func() {
		_, left := s.turns.Leave()
		err = errors.Join(err, left)
	}()
	return f()
}

// prepare puts in order what others left, and brings the file to today's schema,
// one process at a time.
func (s *Store) prepare(ctx context.Context, w *session) error {
	return s.inTurn(ctx, func() error {
		if err := s.settle(ctx, w); err != nil {
			return err
		}
		return migrate(ctx, s.file, w.conn, s.steps)
	})
}

// Close gives up this store's claims: its runs are due at once. It waits for
// calls that are under way.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = dberr.Failed(s.place, "close", s.release(context.Background())) })
	return s.closed
}

// farewell is how long closing waits for a turn to say that the owner has gone. The end
// of its lock says so, too.
const farewell = 5 * time.Second

// release undoes what open did, as far as it came.
func (s *Store) release(ctx context.Context) error {
	var errs []error
	if s.notifier != nil {
		s.notifier.Close()
	}
	if s.leaseRenewer != nil {
		s.leaseRenewer.close()
	}
	if s.writer != nil && s.owner.ID != "" {
		ctx, cancel := context.WithTimeout(ctx, farewell)
		defer cancel()
		errs = append(errs, s.writer.close(context.WithoutCancel(ctx), &write{
			do:   func(ctx context.Context, w *session) error { return s.dies(ctx, w) },
			done: ctx.Done(),
		}))
	}
	var ends []error // of connections
	if s.readers != nil {
		ends = append(ends, s.readers.close())
	}
	if s.wal != nil {
		errs = append(errs, s.wal.close(ctx))
	}
	if s.writer != nil {
		ends = append(ends, s.writer.hangUp())
	}
	if s.db != nil {
		ends = append(ends, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Remove())
	}
	if s.turns != nil {
		errs = append(errs, s.turns.Close())
	}
	if s.server != nil {
		_ = s.server.db.Close()
		return errors.Join(errs...) // all is committed: a connection that the server has closed before is no loss
	}
	return errors.Join(append(errs, ends...)...)
}

// view reads.
func (s *Store) view(ctx context.Context, f func(*session) error) error {
	return dberr.Failed(s.place, "read", s.readers.view(ctx, f))
}

// glance reads with one statement.
func (s *Store) glance(ctx context.Context, f func(*session) error) error {
	return dberr.Failed(s.place, "read", s.readers.glance(ctx, f))
}

// viewRun reads what belongs to a run, which is there.
func (s *Store) viewRun(ctx context.Context, run string, f func(r *session, n int64) error) error {
	return s.view(ctx, func(r *session) error {
		n, err := numberOf(ctx, r, run)
		if err != nil {
			return err
		}
		return f(r, n)
	})
}

// update writes.
func (s *Store) update(ctx context.Context, one *write) error {
	if s.readOnly {
		return fmt.Errorf("%w (%s)", ErrReadOnly, s.place)
	}
	return s.writer.run(ctx, one)
}
