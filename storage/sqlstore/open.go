package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/jmoiron/sqlx"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/waiting"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/turns"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A store is an open database.
type store struct {
	place    string // name of the database in error messages: the file, or the server and its database
	dialect  *dialect
	file     string           // path of the file; "" on a server
	dsn      string           // names the file
	server   *postgres.Server // nil for a file
	readOnly bool
	steps    fs.FS // the migrations of the schema
	shared   bool  // every user that may write to the folder may use a new file
	log      hclog.Logger
	lease    time.Duration
	owner    storage.Owner
	lock     *filelock.Lock // lock of the owner
	turns    *turns.Queue
	// files identifies the file and the files beside it as they were opened; nil before that, and on a server.
	files        *dbfile.Site
	db           *sqlx.DB // connection for writing
	writer       *writer
	readers      *readers
	wal          *walCheckpointer // nil on a server
	leaseRenewer *leaseRenewer    // nil for a file
	notifier     *wakeup.Notifier
	hub          *waiting.Hub
	claims       claims
	rising       sync.Mutex
	jobsFound    atomic.Bool // the last claim found jobs
	rated        atomic.Bool // rates existed at the last claim
	health       health
	evictions    atomic.Int64 // how often the owner was declared dead
	watch        liveness.Watch
	deaths       atomic.Int64 // number of dead owners that the store found
	closing      sync.Once
	closed       error
}

var _ backend.Store = (*store)(nil)

// An Option changes how [Open] opens a store.
type Option func(*store)

// ReadOnly opens the database without changing it: Open creates and migrates nothing and registers no owner, and
// methods that write return [ErrReadOnly]. If an older Ebb created the database, Open returns [ErrOlder].
func ReadOnly() Option { return func(s *store) { s.readOnly = true } }

// Log sets the logger for problems that an operator must handle, such as a process that blocks all other writers.
// The store logs under the name store. By default, it does not log.
func Log(log hclog.Logger) Option {
	return func(s *store) {
		if s.log = log; log != nil {
			s.log = log.Named("store")
		}
	}
}

func openStore(ctx context.Context, dsn string, opts ...Option) (*store, error) {
	if postgres.IsDSN(dsn) {
		return openServer(ctx, dsn, opts)
	}
	file, err := dbfile.Path(dsn)
	if err != nil {
		return nil, err
	}
	d := fileDialect
	s := &store{place: file, dialect: &d, file: file, dsn: dsn, steps: schema.Migrations, log: hclog.NewNullLogger()}
	if err := s.apply(opts); err != nil {
		return nil, err
	}
	mode, err := s.look(ctx, !s.readOnly)
	if err != nil {
		return nil, dberr.Failed(file, "open", err)
	}
	if s.readOnly {
		s.notifier = wakeup.New(nil)
		if s.readers, err = openReaders(file, mode, s.dialect); err != nil || mode == dbfile.Frozen {
			return s, err
		}
		if err := s.recordFiles(ctx); err != nil {
			return nil, err
		}
		return s, nil
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(dberr.Failed(file, "open", err), s.release(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// recordFiles records the files of a store that only reads. Those of a copy, which has no WAL, it does not.
func (s *store) recordFiles(ctx context.Context) error {
	var n int // SQLite opens the files beside the database with the first read
	err := s.view(ctx, func(r *session) error { return r.Get(ctx, &n, "SELECT count(*) FROM sqlite_schema") })
	if err == nil {
		s.readers.files, err = dbfile.SiteOf(s.file, s.dsn)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, s.readers.close())
}

func (s *store) apply(opts []Option) error {
	s.hub = waiting.New(waitingSource{s})
	for _, opt := range opts {
		opt(s)
	}
	if s.log == nil {
		return errors.New("sqlstore: the logger is nil")
	}
	s.dialect.damage = &damage{log: s.log}
	s.health.log, s.health.place = s.log, s.place
	return nil
}

func openReaders(file, mode string, d *dialect) (*readers, error) {
	db, err := dbfile.Connect(file, mode, "query_only(1)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxReaders)
	db.SetMaxIdleConns(maxReaders)
	return newReaders(db, d), nil
}

// open prepares the store for writing. If open fails, release undoes its steps.
func (s *store) open(ctx context.Context) (err error) {
	if err := s.reserve(ctx); err != nil {
		return err
	}
	if s.db, err = dbfile.Connect(s.file, "rwc", "cache_size(-32000)"); err != nil {
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
	if s.files, err = dbfile.SiteOf(s.file, s.dsn); err != nil {
		return err
	}
	s.writer.files = s.files
	if s.writer.space, err = openLogSpace(s.file); err != nil {
		return err
	}
	if s.readers, err = openReaders(s.file, "rw", s.dialect); err != nil {
		return err
	}
	s.readers.files = s.files
	if s.wal, err = newWALCheckpointer(ctx, s.db, s.writer); err != nil {
		return err
	}
	s.notifier = wakeup.New(s.writer.othersVersion)
	s.writer.waiting = s.notifier.Notify
	s.notifier.Look(ctx) // existing messages and jobs are not a change
	if s.owner, s.lock, err = s.newOwner(); err != nil {
		return fmt.Errorf("sqlstore: the folder of %s cannot be written: %w", s.file, err)
	}
	s.turns.Keep()
	if err := s.writer.run(ctx,
		&write{do: func(ctx context.Context, w *session) error { return register(ctx, w, s.owner) }}); err != nil {
		return err
	}
	if err := s.evictDead(ctx); err != nil {
		return err
	}
	return s.sweep()
}

// reserve opens the gates, and creates the file if it does not exist, such that only the intended users may use it.
func (s *store) reserve(ctx context.Context) error {
	if err := s.openGates(); err != nil {
		return err
	}
	return s.inTurn(ctx, func() error { return dbfile.Create(s.file, s.shared) })
}

// openGates opens the gates, if the files can be trusted.
func (s *store) openGates() error {
	if err := dbfile.Trust(s.file); err != nil {
		return err
	}
	like, err := dbfile.Likeness(s.file, s.shared)
	if err == nil {
		s.turns, err = turns.Open(s.file, s.log, like)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s.noFolder()
	}
	if err != nil {
		return fmt.Errorf("sqlstore: the folder of %s cannot be written: %w", s.file, err)
	}
	return nil
}

func (s *store) noFolder() error {
	return fmt.Errorf("sqlstore: %s: its folder does not exist: create it, or name another file", s.file)
}

// inTurn calls f during this process's turn to write.
func (s *store) inTurn(ctx context.Context, f func() error) (err error) {
	if err := s.turns.Enter(ctx.Done()); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	defer func() {
		_, left := s.turns.Leave()
		err = errors.Join(err, left)
	}()
	return f()
}

// prepare cleans up after dead processes and migrates the file, one process at a time.
func (s *store) prepare(ctx context.Context, w *session) error {
	return s.inTurn(ctx, func() error {
		if err := s.settle(ctx, w); err != nil {
			return err
		}
		return schema.MigrateFile(ctx, s.file, w.SQL, s.steps)
	})
}

// Close implements [backend.Store.Close]. It waits for calls that are under way.
func (s *store) Close() error {
	s.closing.Do(func() {
		s.health.stop()
		s.closed = dberr.Failed(s.place, "close", s.release(context.Background()))
	})
	return s.closed
}

// farewell bounds how long Close waits for a turn to record that the owner has ended. If that fails, the free lock
// shows it.
//
//limit:storage wait for the turn to write to a SQLite file, when a store closes | {} | others see by the lock that
//limit:and the owner is gone
const farewell = 5 * time.Second

// release undoes the steps of open that were completed.
func (s *store) release(ctx context.Context) error {
	var errs []error
	s.hub.Close()
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
	var ends []error // errors of closing connections
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
		errs = append(errs, s.turns.Close(s.alone))
	}
	if s.server != nil {
		_ = s.server.DB.Close()
		// Everything is committed, so it does not matter if the server has closed a connection before.
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, ends...)...)
}

// view reads in one snapshot.
func (s *store) view(ctx context.Context, f func(*session) error) error {
	return s.health.note(ctx, dberr.Failed(s.place, "read", s.readers.view(ctx, f)), false)
}

// glance reads with one statement.
func (s *store) glance(ctx context.Context, f func(*session) error) error {
	return s.health.note(ctx, dberr.Failed(s.place, "read", s.readers.glance(ctx, f)), false)
}

// viewRun reads records of a run; if the run does not exist, it returns an error.
func (s *store) viewRun(ctx context.Context, run string, f func(r *session, n int64) error) error {
	return s.view(ctx, func(r *session) error {
		n, err := numberOf(ctx, r, run)
		if err != nil {
			return err
		}
		return f(r, n)
	})
}

// update runs a write.
func (s *store) update(ctx context.Context, one *write) error {
	if s.readOnly {
		return fmt.Errorf("%w (%s)", ErrReadOnly, s.place)
	}
	return s.health.note(ctx, s.writer.run(ctx, one), true)
}

// change runs a write, with what is to be committed beside it, see [backend.Beside].
func (s *store) change(ctx context.Context, one *write) error {
	if line, records := backend.IsBeside(ctx); line != nil || len(records) > 0 {
		if err := one.beside(line, records); err != nil {
			return err
		}
	}
	return s.update(ctx, one)
}
