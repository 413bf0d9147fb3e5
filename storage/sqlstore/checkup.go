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

	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// A Checkup contains facts about a database that [Examine] finds without reading Ebb's tables.
type Checkup struct {
	Schema Schema    // version of the tables
	Engine string    // name and version: "PostgreSQL 15.8", "SQLite 3.50.4"
	Server bool      // true if the database is on a server, false if it is a file
	Time   time.Time // when Examine asked, by the database's clock
	Files  Files     // permissions of the database file; zero on a server
	Shared string    // kind of the file system if other machines may mount it, such as "NFS"; "" otherwise

	// Deaf is why notifications between processes do not arrive; nil if they do. Without notifications, processes
	// poll for work once a second.
	Deaf error
}

// Files describes which users may use the files of a database, as far as file modes tell. It is zero if the
// database does not exist or is on a server.
type Files struct {
	Mode   fs.FileMode // mode of the database file
	Want   fs.FileMode // the mode with which only users that may write the file may also read it
	Folder fs.FileMode // mode of the folder of the database
	Links  uint64      // number of hard links to the database file; 0 if unknown
}

// ErrDeaf is the error in [Checkup.Deaf] if a notification of the server did not arrive.
var ErrDeaf = errors.New("sqlstore: notifications do not arrive")

// hearing bounds how long a notification may take to arrive. unanswered bounds the whole check.
const hearing, unanswered = 2 * time.Second, 30 * time.Second

// Examine checks the database that the DSN names and changes nothing. It returns the errors of [SchemaOf].
func Examine(ctx context.Context, dsn string) (Checkup, error) {
	found, err := SchemaOf(ctx, dsn)
	c := Checkup{Schema: found, Server: postgres.IsDSN(dsn)}
	if err != nil {
		return c, err
	}
	if !c.Server {
		return c, c.lookAtFile(ctx, found.Place)
	}
	s, err := postgres.Parse(dsn)
	if err != nil {
		return c, err
	}
	s.Open(maxConnections, arrays.Register)
	err = c.lookAtServer(ctx, s)
	return c, errors.Join(dberr.Failed(s.Place, "examine", err), s.DB.Close())
}

func (c *Checkup) lookAtFile(ctx context.Context, file string) error {
	c.Time = time.Now() // a file has no clock of its own; all its processes use this machine's
	err := c.Files.look(file)
	if err != nil {
		return err
	}
	if c.Shared, err = dbfile.SharedSystem(file); err != nil {
		return err
	}
	db, err := dbfile.Connect(file, "memory", "query_only(1)")
	if err != nil {
		return err
	}
	var version string
	err = db.GetContext(ctx, &version, "SELECT sqlite_version()")
	c.Engine = "SQLite " + version
	return errors.Join(err, db.Close())
}

func (c *Checkup) lookAtServer(ctx context.Context, s *postgres.Server) error {
	var row struct {
		Version string `db:"version"`
		Micros  int64  `db:"micros"`
	}
	err := s.DB.GetContext(ctx, &row, `SELECT current_setting('server_version') AS version, `+serverClock+` AS micros`)
	if err != nil {
		return err
	}
	c.Engine, c.Time = "PostgreSQL "+row.Version, time.UnixMicro(row.Micros).UTC()
	c.Deaf = hear(ctx, s, hearing)
	return ctx.Err()
}

// hear listens for a notification and sends it from another connection. If the notification does not arrive, hear
// returns ErrDeaf. For example, it does not arrive behind a connection pool that shares the listener's connection.
// A server sends a notification with its next answer at the latest. Therefore, a notification that has not arrived
// after patience and one more answer never arrives.
func hear(ctx context.Context, s *postgres.Server, patience time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, unanswered)
	defer cancel()
	conn, err := s.DB.Conn(ctx)
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
		if _, err := s.DB.ExecContext(ctx, "SELECT pg_notify($1, $2)", channel, word); err != nil {
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

// hears waits for a notification and reports whether it came. If patience is 0, it reports whether the notification
// has already come.
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
	raiseFences = `UPDATE runs SET fence = fence + $1, claim = '', owner = '', due = CASE WHEN owner <> '' THEN $2
		ELSE due END WHERE ended IS NULL`
	freeClaims = `UPDATE jobs SET state = ` + jobUnclaimed + `, claim = '', owner = '', lease = NULL WHERE state = ` +
		jobClaimed + ` AND claim <> ''`
	raiseEpochs = `UPDATE jobs SET epoch = epoch + $1 WHERE state <> ` + jobComplete
)

// restoredBy is added to fences and epochs after a restore. It is more than the number of claims of any run or job
// since the copy was made. revisionsBy is more than the number of writes of named records since then.
const (
	restoredBy  = 1000
	revisionsBy = 1_000_000_000
)

// AfterRestore: see [Store.AfterRestore].
func (s *store) AfterRestore(ctx context.Context) (runs, jobs int64, err error) {
	err = s.update(ctx, &write{alone: true, do: func(ctx context.Context, w *session) (err error) {
		now, err := w.now(ctx)
		if err != nil {
			return err
		}
		if runs, err = w.Exec(ctx, raiseFences, restoredBy, now.UnixMicro()); err != nil {
			return err
		}
		if _, err = w.Exec(ctx, freeClaims); err != nil {
			return err
		}
		if _, err = w.Exec(ctx, takeRevisions, revisionsBy); err != nil {
			return err
		}
		jobs, err = w.Exec(ctx, raiseEpochs, restoredBy)
		return err
	}, arrivals: wakeup.Moves})
	return runs, jobs, err
}
