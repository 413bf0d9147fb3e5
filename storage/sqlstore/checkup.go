package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A Checkup holds what a store knows of a database without reading its tables.
type Checkup struct {
	Schema Schema
	Engine string    // and its version: "PostgreSQL 15.8", "SQLite 3.50.4"
	Server bool      // it is not a file of this machine
	Time   time.Time // by the database's clock, while it was asked
	Files  Files     // of a file: which users may use it
	Shared string    // the kind of file system that the file is on, when others may have it too: "NFS"

	// Deaf is why notifications between processes do not arrive; nil if they do. If they do
	// not, processes find work by polling once a second.
	Deaf error
}

// Files says which users may use the files of a database, as far as modes tell. It is zero for a
// database that does not exist, or on a server.
type Files struct {
	Mode   fs.FileMode // of the database
	Want   fs.FileMode // the mode in which only the users that may write it may read it
	Folder fs.FileMode // of the folder
	Links  uint64      // names of the file; 0 when that is not known
}

// ErrDeaf is that a notification did not arrive.
var ErrDeaf = errors.New("sqlstore: what is notified does not arrive")

// hearing is how long a notification may take by itself, and unanswered how long a
// server may take for what is asked of it meanwhile.
const hearing, unanswered = 2 * time.Second, 30 * time.Second

// Examine looks at the database that the DSN names, and changes nothing. It returns
// the errors of [SchemaOf].
func Examine(ctx context.Context, dsn string) (Checkup, error) {
	found, err := SchemaOf(ctx, dsn)
	c := Checkup{Schema: found, Server: isServer(dsn)}
	if err != nil {
		return c, err
	}
	if !c.Server {
		return c, c.lookAtFile(ctx, found.Place)
	}
	s, err := serverOf(dsn)
	if err != nil {
		return c, err
	}
	s.open()
	err = c.lookAtServer(ctx, s)
	return c, errors.Join(dberr.Failed(s.place, "examine", err), s.db.Close())
}

func (c *Checkup) lookAtFile(ctx context.Context, file string) error {
	c.Time = time.Now() // all share the machine's
	err := c.Files.look(file)
	if err != nil {
		return err
	}
	if c.Shared, err = sharedFileSystem(file); err != nil {
		return err
	}
	db, err := connect(file, "memory", "query_only(1)")
	if err != nil {
		return err
	}
	var version string
	err = db.GetContext(ctx, &version, "SELECT sqlite_version()")
	c.Engine = "SQLite " + version
	return errors.Join(err, db.Close())
}

func (c *Checkup) lookAtServer(ctx context.Context, s *server) error {
	var row struct {
		Version string `db:"version"`
		Micros  int64  `db:"micros"`
	}
	err := s.db.GetContext(ctx, &row, `SELECT current_setting('server_version') AS version, `+serverClock+` AS micros`)
	if err != nil {
		return err
	}
	c.Engine, c.Time = "PostgreSQL "+row.Version, time.UnixMicro(row.Micros).UTC()
	c.Deaf = s.hear(ctx, hearing)
	return ctx.Err()
}

// hear notifies itself from another connection, and returns ErrDeaf, or what else went
// wrong, when that does not arrive: a pool of connections between may give the
// listener's to others. A server tells a listener what has been notified with its next
// answer at the latest, so what has not come with that, after patience, never does.
func (s *server) hear(ctx context.Context, patience time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, unanswered)
	defer cancel()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	channel, word := "ebb:doctor", uuid.NewString()
	return conn.Raw(func(raw any) error {
		listener := raw.(*stdlib.Conn).Conn() //nolint:forcetypeassert // it is pgx that is opened
		if _, err := listener.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
		if _, err := s.db.ExecContext(ctx, "SELECT pg_notify($1, $2)", channel, word); err != nil {
			return err
		}
		if !hears(ctx, listener, word, patience) {
			if err := listener.Ping(ctx); err != nil {
				return err
			}
			if !hears(ctx, listener, word, 0) {
				return fmt.Errorf("%w within %v", ErrDeaf, patience)
			}
		}
		_, err := listener.Exec(ctx, "UNLISTEN *")
		return err
	})
}

// hears waits for a notification, and reports whether it came; with no patience, whether
// it has come with an answer.
func hears(ctx context.Context, listener *pgx.Conn, word string, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		n, err := listener.WaitForNotification(ctx)
		switch {
		case n != nil && n.Payload == word:
			return true
		case err != nil:
			return false
		}
	}
}

const (
	raiseFences = `UPDATE runs SET fence = fence + ?, claim = '', owner = '', due = CASE WHEN owner <> '' THEN ? ELSE due END WHERE ended IS NULL`
	freeClaims  = `UPDATE jobs SET state = ` + jobUnclaimed + `, claim = '', owner = '', lease = NULL WHERE state = ` + jobClaimed + ` AND claim <> ''`
	raiseEpochs = `UPDATE jobs SET epoch = epoch + ? WHERE state <> ` + jobComplete
)

// restoredBy is how much fences and epochs are raised after a restore: by more than
// claims were handed out after the copy was made.
const restoredBy = 1000

// AfterRestore makes a database that was restored from a copy safe to work on. It raises the
// numbers that guard claims above all that were handed out, so that a process that claimed
// something after the copy was made can write nothing. It also frees the runs and
// jobs that are owned in the copy, and returns how many of them have not ended. No other
// process may be working on the database.
func (s *Store) AfterRestore(ctx context.Context) (runs, jobs int64, err error) {
	err = s.update(ctx, &write{alone: true, do: func(ctx context.Context, w *session) (err error) {
		now, err := w.now(ctx)
		if err != nil {
			return err
		}
		if runs, err = w.exec(ctx, raiseFences, restoredBy, now.UnixMicro()); err != nil {
			return err
		}
		if _, err = w.exec(ctx, freeClaims); err != nil {
			return err
		}
		jobs, err = w.exec(ctx, raiseEpochs, restoredBy)
		return err
	}, arrivals: wakeup.Moves})
	return runs, jobs, err
}
