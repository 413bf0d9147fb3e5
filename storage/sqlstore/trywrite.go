package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-hclog"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dberr"
)

var _ storage.WriteChecker = (*Store)(nil)

const (
	// touchFile and touchServer write the row of the store's own owner. SQLite writes no
	// page that stays as it is; on a server, when an owner was seen is the lease renewer's.
	touchFile   = `UPDATE owners SET seen = ? WHERE id = ?`
	touchServer = `UPDATE owners SET host = host WHERE id = ?`
	forgetProbe = `DELETE FROM owners WHERE id = ?`
)

// CheckWrite commits a small write: when this store's owner was seen.
func (s *Store) CheckWrite(ctx context.Context) error {
	return s.update(ctx, &write{do: func(ctx context.Context, w *session) error {
		if s.server != nil {
			_, err := w.exec(ctx, touchServer, s.owner.ID)
			return err
		}
		_, err := w.exec(ctx, touchFile, time.Now().UnixMicro(), s.owner.ID)
		return err
	}})
}

// TryWrite commits a small write to the database that the DSN names, as any process
// would, and leaves everything as it was: it neither migrates the database nor takes
// over the runs of the dead. The error of a write that another process holds up names
// that process, where the system tells. A user that may only read gets an error that wraps
// [fs.ErrPermission]. TryWrite gives up when ctx ends; for a lock of
// SQLite that another program keeps, after about 15 s.
func TryWrite(ctx context.Context, dsn string) (err error) {
	var w *writer
	if isServer(dsn) {
		server, err := serverOf(dsn)
		if err != nil {
			return err
		}
		server.open()
		defer func() { err = errors.Join(err, server.db.Close()) }()
		w = newWriter(server.place, noTurn{}, lanes(1)...)
		w.connect = server.lane
	} else {
		file, err := fileOf(dsn)
		if err != nil {
			return err
		}
		s := &Store{place: file, dialect: fileDialect, file: file, steps: migrations, log: hclog.NewNullLogger()}
		if err := s.openGates(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.turns.Close()) }()
		if s.db, err = connect(file, "rw"); err != nil {
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
	probe := storage.Owner{ID: "probe-" + uuid.NewString(), PID: os.Getpid(), Started: time.Now(), Seen: time.Now()}
	err = w.run(ctx, &write{do: func(ctx context.Context, w *session) error {
		var err error
		if w.dialect.locks {
			_, err = w.exec(ctx, keepOwner, probe.ID, probe.Host, probe.PID, micros(probe.Started), machine(), 0)
		} else {
			err = register(ctx, w, probe)
		}
		if err != nil {
			return err
		}
		_, err = w.exec(ctx, forgetProbe, probe.ID)
		return err
	}})
	if e, is := errors.AsType[*pgconn.PgError](err); is && e.Code == dberr.LacksRights {
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}
