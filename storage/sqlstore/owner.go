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
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

// The kernel reports whether an owner is alive. An owner holds the lock of a file beside the database, from before
// it is registered until it closes or dies. A free lock, or a missing file, means that the owner is dead. Other
// processes can then take over its runs and jobs at once.

// lockFile returns the path of an owner's lock file.
func lockFile(db, id string) string { return db + "-owner-" + id }

// newOwner returns an owner of this process, not yet registered, and its lock.
func (s *store) newOwner() (storage.Owner, *filelock.Lock, error) {
	host, _ := os.Hostname() // "" if the system does not report it
	now := time.UnixMicro(time.Now().UnixMicro()).UTC()
	for {
		o := storage.Owner{ID: uuid.NewString(), Host: host, PID: os.Getpid(), Started: now, Seen: now, Alive: true}
		lock, err := s.newLock(o.ID)
		if !errors.Is(err, filelock.ErrLocked) { // otherwise another process is probing the file
			return o, lock, err
		}
	}
}

// newLock creates and locks the lock file of an owner.
func (s *store) newLock(id string) (*filelock.Lock, error) {
	like, err := dbfile.Likeness(s.file, s.shared)
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

const (
	registerOwner = `INSERT INTO owners (id, host, pid, started, seen) VALUES ($1, $2, $3, $4, $5)`
	deleteOwner   = `DELETE FROM owners WHERE id = $1`
)

func register(ctx context.Context, w *session, o storage.Owner) error {
	_, err := w.Exec(ctx, registerOwner, o.ID, o.Host, o.PID, micros(o.Started), micros(o.Seen))
	return err
}

const isRegistered = `SELECT count(*) FROM owners WHERE id = $1`

// reregister registers the owner again if another process declared it dead because it lost its lock.
func (s *store) reregister(ctx context.Context) error {
	s.rising.Lock()
	defer s.rising.Unlock()
	known := 0
	err := s.view(ctx, func(r *session) error { return r.Get(ctx, &known, isRegistered, s.owner.ID) })
	if err != nil || known > 0 {
		return err
	}
	risen := false
	return s.update(ctx, &write{
		do: func(ctx context.Context, w *session) error {
			lock, err := s.newLock(s.owner.ID)
			switch {
			case err == nil: // the lock that the owner holds is on a deleted file
				err = s.lock.Close()
				s.lock = lock
			// The owner still holds the lock, or another process is probing it: the next check decides.
			case errors.Is(err, filelock.ErrLocked):
				err = nil
			}
			if err != nil {
				return err
			}
			s.turns.Keep() // as long as the owner counted as dead, another process may have deleted the gates
			risen = true
			if _, err := w.Exec(ctx, takeBack, codec.EncodeProcess(s.owner.Process())); err != nil {
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

// probe reports whether the owner of a lock file is alive. If the owner is dead and the file exists, probe returns
// its lock. The caller removes the lock after it has freed the owner's runs and jobs.
func (s *store) probe(lock string) (dead *filelock.Lock, alive bool, err error) {
	if lock == lockFile(s.file, s.owner.ID) {
		return nil, true, nil
	}
	dead, err = filelock.Probe(lock)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		return nil, true, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	}
	return dead, false, err
}

// anyoneLives reports whether any owner is alive.
func (s *store) anyoneLives() (bool, error) {
	names, err := filepath.Glob(globEscape(s.file) + "-owner-*")
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if lives, err := s.lives(name); lives || err != nil {
			return lives, err
		}
	}
	return false, nil
}

// alone reports whether no owner is known to be alive.
func (s *store) alone() bool {
	lives, err := s.anyoneLives()
	return !lives && err == nil
}

// globEscape returns a pattern that matches only the path itself.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// lives reports whether the owner with this lock file is alive, and changes nothing.
func (s *store) lives(lock string) (bool, error) {
	alive, err := s.judge(lock)
	if errors.Is(err, fs.ErrPermission) && s.readOnly { // no decision of a read-only store depends on the answer
		return true, nil
	}
	return alive, err
}

// judge reports whether the owner of a lock is alive. If the lock cannot be read, the error is [unjudged].
func (s *store) judge(lock string) (alive bool, err error) {
	dead, alive, err := s.probe(lock)
	if dead == nil || err != nil {
		return alive, err
	}
	return false, dead.Close()
}

// dying is how long the lock of a process may outlive the process: a program that it was just starting inherits the
// lock until that program begins.
const dying = time.Second

// gone reports whether the process of an owner whose lock is held has ended, as far as this machine can tell.
func (s *store) gone(o *storage.Owner) bool {
	return s.server == nil && o.Host == s.owner.Host && o.PID > 0 && !running(o.PID)
}

// running reports whether a process with that number exists, as far as the system tells.
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
