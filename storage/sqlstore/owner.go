package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
)

// An owner is alive as long as the kernel says so: it holds the lock of a file
// beside the database from before it is registered until it closes or dies. A
// lock that is free, or a file that is gone, means that it is dead, however it
// died, so whatever it owned can be taken over at once.

// lockFile returns the path of an owner's lock.
func lockFile(db, id string) string { return db + "-owner-" + id }

// newOwner returns an owner of this process, not yet registered, and its lock.
func newOwner(db string) (storage.Owner, *filelock.Lock, error) {
	host, _ := os.Hostname() // "" where the system does not say
	now := time.UnixMicro(time.Now().UnixMicro()).UTC()
	for {
		o := storage.Owner{ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true}
		lock, err := filelock.Create(lockFile(db, o.ID))
		if !errors.Is(err, filelock.ErrLocked) { // by one who looks whether the file was left behind
			return o, lock, err
		}
	}
}

const registerOwner = `INSERT INTO owners (id, host, pid, started, seen) VALUES (?, ?, ?, ?, ?)`

func register(ctx context.Context, w *session, o storage.Owner) error {
	_, err := w.exec(ctx, registerOwner, o.ID, o.Host, o.PID, micros(o.Started), micros(o.Seen))
	return err
}

type ownerRow struct {
	ID      string
	Host    string
	PID     int
	Started moment
	Seen    moment
}

func (r *ownerRow) owner() storage.Owner {
	return storage.Owner{ID: r.ID, Host: r.Host, PID: r.PID, Started: r.Started.time(), Seen: r.Seen.time()}
}

const (
	selectOwner  = `SELECT id, host, pid, started, seen FROM owners WHERE id = ?`
	selectOwners = `SELECT id, host, pid, started, seen FROM owners ORDER BY started, id`
)

// probe reports whether the owner lives. The lock of a dead one is returned,
// unless its file is gone, to be removed once what was owned is free.
func (s *Store) probe(id string) (dead *filelock.Lock, alive bool, err error) {
	if id == s.owner.ID {
		return nil, true, nil
	}
	dead, err = filelock.Probe(lockFile(s.file, id))
	switch {
	case errors.Is(err, filelock.ErrLocked):
		return nil, true, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	}
	return dead, false, err
}

// remove deletes the lock file of a dead owner, if there is one.
func remove(dead *filelock.Lock) error {
	if dead == nil {
		return nil
	}
	return dead.Remove()
}

const (
	freeRuns    = `UPDATE runs SET owner = '', due = ? WHERE owner = ?`
	freeJobs    = `UPDATE jobs SET lease = 0 WHERE owner = ? AND state = 1`
	deleteOwner = `DELETE FROM owners WHERE id = ?`
)

// bury frees what a dead owner had: its runs are due now.
func bury(ctx context.Context, w *session, id string) error {
	if _, err := w.exec(ctx, freeRuns, micros(time.Now()), id); err != nil {
		return err
	}
	if _, err := w.exec(ctx, freeJobs, id); err != nil {
		return err
	}
	_, err := w.exec(ctx, deleteOwner, id)
	return err
}

// buryDead frees what all dead owners had.
func (s *Store) buryDead(ctx context.Context) error {
	var rows []ownerRow
	err := s.readers.view(ctx, func(r *session) error { return r.all(ctx, &rows, selectOwners) })
	if err != nil {
		return err
	}
	for _, row := range rows {
		dead, alive, err := s.probe(row.ID)
		if err != nil {
			return err
		}
		if alive {
			continue
		}
		err = s.writer.run(ctx, &write{do: func(ctx context.Context, w *session) error { return bury(ctx, w, row.ID) }})
		if err := errors.Join(err, remove(dead)); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes the lock files of those who died before they were registered.
func (s *Store) sweep() error {
	names, err := filepath.Glob(globEscape(s.file) + "-owner-*")
	if err != nil {
		return err
	}
	for _, name := range names {
		dead, _, err := s.probe(strings.TrimPrefix(name, lockFile(s.file, "")))
		if err := errors.Join(err, remove(dead)); err != nil {
			return err
		}
	}
	return nil
}

// globEscape makes a pattern that matches the path itself.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// Owner returns who this store's claims belong to; the zero Owner when it was
// opened with [ReadOnly].
func (s *Store) Owner() storage.Owner { return s.owner }

// Owners returns the processes that have the database open for writing, and
// those that died and were not noticed yet.
func (s *Store) Owners(ctx context.Context) ([]storage.Owner, error) {
	var rows []ownerRow
	err := s.view(ctx, func(r *session) error { return r.all(ctx, &rows, selectOwners) })
	if err != nil {
		return nil, err
	}
	out := make([]storage.Owner, 0, len(rows))
	for i := range rows {
		o := rows[i].owner()
		o.Alive, err = s.lives(o.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// lives reports whether the owner is alive, and leaves everything as it is.
func (s *Store) lives(id string) (bool, error) {
	dead, alive, err := s.probe(id)
	if dead == nil || err != nil {
		return alive, err
	}
	return false, dead.Close()
}
