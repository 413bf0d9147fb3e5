// Package turns lets the processes that share a database file write in turn, in the order in
// which they came, and finds out which process is in the way of one that waits.
package turns

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/filelock"
)

const (
	// turnPatience is how long a process waits for its turn to write until it says
	// which process is in the way, and turnReminder how often it repeats that.
	turnPatience = 2 * time.Second
	turnReminder = time.Minute
	// turnTimeout is how long a write waits for its turn at most.
	turnTimeout = time.Minute
)

// ErrNoTurn is what a write fails with that did not get its turn. Nothing was written.
var ErrNoTurn = errors.New("sqlstore: no turn to write")

// A Queue lets the processes that share a database write in turn: a process that wants
// to write waits at gate a, then at gate b, and lets the next one come to b
// while it writes. Without it a process waits for a busy writer until SQLite's
// polling happens to hit a gap, 100 ms to 3 s; with it half a millisecond. It is
// courtesy only: what excludes two writers is SQLite's own lock.
type Queue struct {
	a, b *filelock.Lock
	way  *obstacle

	mu     sync.Mutex
	sought chan error // receives the turn that a goroutine waits for; nil when none does
	wanted bool       // a write waits for it, too; else the turn is passed on at once
	closed bool       // the gates are closed once no goroutine waits at them
}

// Open opens the gates beside a database, for the users that may write it. The Queue logs which
// process a write waits for.
func Open(file string, log hclog.Logger, like filelock.Like) (*Queue, error) {
	way := &obstacle{file, log}
	a, err := filelock.Open(gateFile(way.file, "a"), like)
	if err != nil {
		return nil, err
	}
	b, err := filelock.Open(gateFile(way.file, "b"), like)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &Queue{a: a, b: b, way: way}, nil
}

func gateFile(db, name string) string { return db + "-turn-" + name }

// Enter waits for the turn, until done is closed, or a minute. Its error wraps
// ErrNoTurn when that came first, and names the process that has the turn.
func (t *Queue) Enter(done <-chan struct{}) error {
	turn, err := t.seek()
	if turn == nil {
		return err
	}
	quiet := t.way.watch()
	defer quiet()
	over := time.NewTimer(turnTimeout)
	defer over.Stop()
	select {
	case err := <-turn:
		return err
	case <-done:
	case <-over.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case err := <-turn: // it came at the last moment
		return err
	default:
		t.wanted = false
		return fmt.Errorf("%w: %s", ErrNoTurn, t.way)
	}
}

// seek takes the turn if it is free, and otherwise returns the channel on which it
// comes. A turn that an earlier write gave up waiting for is waited for still.
func (t *Queue) seek() (<-chan error, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sought == nil {
		first := t.a.Try()
		if first == nil {
			if err := t.b.Try(); !errors.Is(err, filelock.ErrLocked) {
				return nil, errors.Join(err, t.a.Unlock())
			}
		} else if !errors.Is(first, filelock.ErrLocked) {
			return nil, first
		}
		t.sought = make(chan error, 1)
		go t.wait(first == nil, t.sought)
	}
	t.wanted = true
	return t.sought, nil
}

// Waits reports whether this process waits for its turn.
func (t *Queue) Waits() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sought != nil
}

// String says which process is in the way, and what helps.
func (t *Queue) String() string { return t.way.String() }

// wait waits at the gates, for as long as it takes, as the system calls cannot be given
// up.
func (t *Queue) wait(past bool, turn chan<- error) {
	var err error
	if !past {
		err = t.a.Lock()
	}
	if err == nil {
		err = errors.Join(t.b.Lock(), t.a.Unlock())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sought = nil
	if t.wanted {
		turn <- err
	} else if err == nil {
		_ = t.b.Unlock() // no write uses this turn
	}
	if t.closed {
		_ = t.closeGates() // no caller is left to report an error to
	}
}

// Leave ends the turn. A process that waits for gate b has gate a locked.
func (t *Queue) Leave() (wanted bool, err error) {
	err = t.a.Try()
	if errors.Is(err, filelock.ErrLocked) {
		return true, t.b.Unlock()
	}
	if err == nil {
		err = t.a.Unlock()
	}
	return false, errors.Join(err, t.b.Unlock())
}

// Close closes the gates. While a goroutine still waits at one, which cannot be ended, it
// does so later: the number of a closed file may soon be another file's.
func (t *Queue) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sought != nil {
		t.closed = true
		return nil
	}
	return t.closeGates()
}

func (t *Queue) closeGates() error { return errors.Join(t.a.Close(), t.b.Close()) }
