package sqlstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/internal/filelock"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/liveness"
)

// An owner is alive as long as the kernel says so: it holds the lock of a file
// beside the database from before it is registered until it closes or dies. A
// lock that is free, or a file that is gone, means that it is dead, however it
// died, so whatever it owned can be taken over at once.

// lockFile returns the path of an owner's lock.
func lockFile(db, id string) string { return db + "-owner-" + id }

// newOwner returns an owner of this process, not yet registered, and its lock.
func (s *Store) newOwner() (storage.Owner, *filelock.Lock, error) {
	host, _ := os.Hostname() // "" where the system does not say
	now := time.UnixMicro(time.Now().UnixMicro()).UTC()
	for {
		o := storage.Owner{ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true}
		lock, err := s.newLock(o.ID)
		if !errors.Is(err, filelock.ErrLocked) { // else another process is checking whether the file was left behind
			return o, lock, err
		}
	}
}

// newLock locks the file of an owner.
func (s *Store) newLock(id string) (*filelock.Lock, error) {
	like, err := s.likeness()
	if err != nil {
		return nil, err
	}
	text, err := s.label()
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Create(lockFile(s.file, id), like)
	if err != nil {
		return nil, err
	}
	if err := lock.Write(text); err != nil {
		return nil, errors.Join(err, lock.Remove())
	}
	return lock, nil
}

const registerOwner = `INSERT INTO owners (id, host, pid, started, seen) VALUES (?, ?, ?, ?, ?)`

func register(ctx context.Context, w *session, o storage.Owner) error {
	_, err := w.exec(ctx, registerOwner, o.ID, o.Host, o.PID, micros(o.Started), micros(o.Seen))
	return err
}

const isRegistered = `SELECT count(*) FROM owners WHERE id = ?`

// reregister makes the owner known again if it was taken for dead, because its lock
// was taken away.
func (s *Store) reregister(ctx context.Context) error {
	s.rising.Lock()
	defer s.rising.Unlock()
	known := 0
	err := s.view(ctx, func(r *session) error { return r.get(ctx, &known, isRegistered, s.owner.ID) })
	if err != nil || known > 0 {
		return err
	}
	risen := false
	return s.update(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			lock, err := s.newLock(s.owner.ID)
			switch {
			case err == nil: // the one that is held guards a file that is gone
				err = s.lock.Close()
				s.lock = lock
			case errors.Is(err, filelock.ErrLocked): // it is held still, or being probed: then the next look finds out
				err = nil
			}
			if err != nil {
				return err
			}
			risen = true
			if _, err := w.exec(ctx, takeBack, codec.EncodeProcess(s.owner.Process())); err != nil {
				return err
			}
			return register(ctx, w, s.owner)
		},
		then: func() {
			if risen {
				s.evictions.Add(1)
				s.notifier.Wake()
			}
		},
	})
}

// Evictions returns how often this store's owner was taken for dead.
func (s *Store) Evictions() int64 { return s.evictions.Load() }

type ownerRow struct {
	ID      string
	Host    string
	PID     int
	Started moment
	Seen    moment
	Machine string // on servers: what tells whether it is this machine
	Lease   int64  // on servers: until when it is taken to be alive
	Leased  bool   // that is not past
	Clock   int64  // on servers: the time there
}

func (r *ownerRow) owner() storage.Owner {
	return storage.Owner{ID: r.ID, Host: r.Host, PID: r.PID, Started: r.Started.time(), Seen: r.Seen.time()}
}

// kept returns the lease of an owner on a server.
func (r *ownerRow) kept() liveness.Lease {
	return liveness.Lease{Owner: r.ID, Until: r.Lease, Seen: r.Seen.Int64}
}

const (
	thisOwner = ` WHERE id = ?`
	inOrder   = ` ORDER BY started, id`
)

// probe reports whether the owner of a lock file lives. The lock of a dead one is
// returned, unless its file is gone, to be removed once what was owned is free.
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
	freeRuns = `UPDATE runs SET owner = '', due = ?, ` + endTrial + ` WHERE owner = ? AND owner <> ''`
	freeJobs = `UPDATE jobs SET lease = 0 WHERE owner = ? AND state = ` + jobClaimed + ` AND lease > 0`
)

// free frees what an owner had that is no more: its runs are due now.
func free(ctx context.Context, w *session, id string) error {
	if _, err := w.exec(ctx, freeRuns, micros(time.Now()), id); err != nil {
		return err
	}
	_, err := w.exec(ctx, freeJobs, id)
	return err
}

// dies frees what this store had, and says that its owner is gone.
func (s *Store) dies(ctx context.Context, w *session) error {
	if err := free(ctx, w, s.owner.ID); err != nil {
		return err
	}
	if s.leaseRenewer != nil {
		return s.leaseRenewer.resign(ctx, w)
	}
	_, err := w.exec(ctx, w.dialect.markDead, s.owner.ID)
	return err
}

// evictDead frees what all dead owners had.
func (s *Store) evictDead(ctx context.Context) error {
	if s.leaseRenewer != nil {
		return s.evictExpired(ctx)
	}
	var rows []ownerRow
	err := s.readers.glance(ctx, func(r *session) error {
		return r.all(context.WithoutCancel(ctx), &rows, r.dialect.owners+inOrder)
	})
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
		err = s.writer.run(ctx, &write{do: func(ctx context.Context, w *session) error {
			if err := s.evict(ctx, w, row.ID); err != nil {
				return err
			}
			_, err := w.exec(ctx, w.dialect.markDead, row.ID)
			return err
		}})
		if err := errors.Join(err, remove(dead)); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes the lock files of processes that died before they were registered.
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

// anyoneLives reports whether any owner does.
func (s *Store) anyoneLives() (bool, error) {
	names, err := filepath.Glob(globEscape(s.file) + "-owner-*")
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if lives, err := s.lives(strings.TrimPrefix(name, lockFile(s.file, ""))); lives || err != nil {
			return lives, err
		}
	}
	return false, nil
}

// globEscape makes a pattern that matches the path itself.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// Owner returns the owner of this store's claims; the zero Owner if the store was
// opened with [ReadOnly].
func (s *Store) Owner() storage.Owner { return s.owner }

// Database returns the path of the file, without symbolic links. For a server it
// returns the names of the database and the schema, as the address of a server has
// many forms.
func (s *Store) Database() string {
	if s.server != nil {
		return "postgres " + s.server.config.Database + " " + s.server.schema
	}
	path, err := filepath.Abs(s.file)
	if err != nil {
		path = s.file
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return "sqlite " + path
}

// Owners returns the processes that have the database open for writing, and
// those that died and were not noticed yet.
func (s *Store) Owners(ctx context.Context) ([]storage.Owner, error) {
	var rows []ownerRow
	err := s.view(ctx, func(r *session) error { return r.all(ctx, &rows, r.dialect.owners+inOrder) })
	if err != nil {
		return nil, err
	}
	out := make([]storage.Owner, 0, len(rows))
	for i := range rows {
		o := rows[i].owner()
		if s.server != nil {
			o.Alive = rows[i].alive()
		} else if o.Alive, err = s.lives(o.ID); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// lives reports whether the owner is alive, and leaves everything as it is.
func (s *Store) lives(id string) (bool, error) {
	dead, alive, err := s.probe(id)
	if errors.Is(err, fs.ErrPermission) && s.readOnly { // no decision of a read-only store depends on it
		return true, nil
	}
	if dead == nil || err != nil {
		return alive, err
	}
	return false, dead.Close()
}

// dying is how long the lock of a process may outlive it: a program that it was
// just starting has what it had, until it begins.
const dying = time.Second

// gone reports whether an owner whose lock is held has no process any more, as
// far as can be told from here.
func (s *Store) gone(o *storage.Owner) bool {
	return s.server == nil && o.Host == s.owner.Host && o.PID > 0 && !running(o.PID)
}

// running reports whether there is a process of that number, as far as can be
// told.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
