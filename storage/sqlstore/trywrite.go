package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/arrays"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/postgres"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/schema"
)

var _ backend.WriteChecker = (*store)(nil)

const (
	// touchFile and touchServer write the row of the store's own owner. SQLite does not write a page that does not
	// change, so touchFile sets a time. On a server only the lease renewer sets that time.
	touchFile   = `UPDATE owners SET seen = $1 WHERE id = $2`
	touchServer = `UPDATE owners SET host = host WHERE id = $1`
)

// CheckWrite implements [backend.WriteChecker.CheckWrite]. It commits a small write to the row of this process. While
// other calls meet a fault, it fails although that write may find space.
func (s *store) CheckWrite(ctx context.Context) error {
	err := s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		if s.server != nil {
			_, err := w.Exec(ctx, touchServer, s.owner.ID)
			return err
		}
		_, err := w.Exec(ctx, touchFile, time.Now().UnixMicro(), s.owner.ID)
		return err
	}})
	return cmp.Or(err, s.health.check())
}

// TryWrite commits a small write to the database that the DSN names, and undoes it. It does not migrate the
// database or take over runs of dead processes. If another process blocks the write, the error names that process
// if the operating system reports it. If the user may only read the database, the error wraps [fs.ErrPermission].
// TryWrite gives up when ctx ends, or after about 15 s if another program holds SQLite's lock.
func TryWrite(ctx context.Context, dsn string) (err error) {
	var w *writer
	if postgres.IsDSN(dsn) {
		server, err := postgres.Parse(dsn)
		if err != nil {
			return err
		}
		server.Open(maxConnections, arrays.Register)
		defer func() { err = errors.Join(err, server.DB.Close()) }()
		s := &store{server: server, dialect: &serverDialect}
		w = newWriter(server.Place, noTurn{}, s.writeSessions(1)...)
		w.connect = s.connectWriter
	} else {
		file, err := dbfile.Path(dsn)
		if err != nil {
			return err
		}
		s := &store{
			place: file, dialect: &fileDialect, file: file, steps: schema.Migrations, log: hclog.NewNullLogger(),
		}
		if err := s.openGates(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.turns.Close(s.alone)) }()
		if s.db, err = dbfile.Connect(file, "rw"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.db.Close()) }()
		bucket, err := newSession(ctx, s.db, s.dialect)
		if err != nil {
			return dberr.Failed(file, "open", err)
		}
		w = newWriter(file, s.turns, bucket)
	}
	defer func() { err = errors.Join(err, w.hangUp()) }()
	// On a full disk, a row still fits into its page. A host of many pages does not.
	probe := storage.Owner{ID: "probe-" + uuid.NewString(), PID: os.Getpid(), Started: time.Now(), Seen: time.Now()}
	if w.dialect.locks {
		pages := make([]byte, 1<<17)
		_, _ = rand.Read(pages) // it never fails
		probe.Host = hex.EncodeToString(pages)
	}
	err = w.run(ctx, &write{do: func(ctx context.Context, w *session) error {
		var err error
		if w.dialect.locks {
			_, err = w.Exec(ctx, keepOwner, probe.ID, probe.Host, probe.PID, micros(probe.Started), machine(), 0)
		} else {
			err = register(ctx, w, probe)
		}
		if err != nil {
			return err
		}
		_, err = w.Exec(ctx, deleteOwner, probe.ID)
		return err
	}})
	if e, is := errors.AsType[*pgconn.PgError](err); is && e.Code == dberr.LacksRights {
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}
