// Package turns lets the processes that share a database file write in turn, in the order in which they asked. It
// also finds out which process blocks one that waits.
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
	// turnPatience is how long a process waits for its turn to write before it logs which process blocks it.
	// turnReminder is how often it repeats that log message.
	turnPatience = 2 * time.Second
	turnReminder = time.Minute
	// turnTimeout bounds how long a write waits for its turn.
	//
	//limit:storage wait for the turn to write to a SQLite file | logged after {turnPatience}, ends after {} | the
	//limit:and run stops at its last commit
	turnTimeout = time.Minute
)

// ErrNoTurn is the error of a write that did not get its turn. The write changed nothing.
var ErrNoTurn = errors.New("sqlstore: no turn to write")

// A Queue lets the processes that share a database write in turn. A process that wants to write waits at gate a,
// then at gate b, and lets the next process proceed to b while it writes. With turns, a process waits half a
// millisecond for a busy writer. Without them, it waits 100 ms to 3 s, until SQLite's polling happens to hit a gap.
// The Queue does not exclude a second writer: SQLite's own lock does.
type Queue struct {
	gates
	way  *obstacle
	like filelock.Like

	unsure bool // another process may have deleted the gates since they were opened
	kept   bool // no process deletes the gates from now on, see Keep

	mu     sync.Mutex
	sought chan error // receives the turn that a goroutine waits for; nil if none waits
	wanted bool       // a write also waits for the turn; otherwise the goroutine passes it on at once
	closed bool       // close the gates when no goroutine waits at them
}

// Open opens the gates beside a database, with access for the users that may write the database. The Queue logs
// which process a write waits for.
func Open(file string, log hclog.Logger, like filelock.Like) (*Queue, error) {
	opened, err := openGates(file, like)
	if err != nil {
		return nil, err
	}
	return &Queue{gates: opened, way: &obstacle{file, log}, like: like, unsure: true}, nil
}

// Keep says that this process now counts as one that uses the database, so that [Queue.Close] of another process
// does not delete the gates.
func (t *Queue) Keep() { t.kept, t.unsure = true, true }

// Enter waits for the turn until done is closed, at most a minute. If it does not get the turn, the error wraps
// ErrNoTurn and names the process that has the turn.
func (t *Queue) Enter(done <-chan struct{}) error {
	for {
		if err := t.enter(done); err != nil || !t.unsure {
			return err
		}
		if t.current() { // while this process has the turn, no other process deletes them
			t.unsure = !t.kept
			return nil
		}
		if err := t.reopen(); err != nil {
			return errors.Join(err, t.b.Unlock())
		}
	}
}

// reopen opens the gates that have the names now, and leaves those that another process deleted.
func (t *Queue) reopen() error {
	opened, err := openGates(t.way.file, t.like)
	if err != nil {
		return err
	}
	deleted := t.gates
	t.gates = opened
	return deleted.close()
}

// enter waits for the turn at the gates that are open.
func (t *Queue) enter(done <-chan struct{}) error {
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
	case err := <-turn: // the turn came at the last moment
		return err
	default:
		t.wanted = false
		return fmt.Errorf("%w: %s", ErrNoTurn, t.way)
	}
}

// seek takes the turn if it is free, and otherwise returns the channel on which it arrives. It reuses a wait that
// an earlier write gave up.
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

// String names the process that blocks this one, and what an operator can do.
func (t *Queue) String() string { return t.way.String() }

// wait waits at the gates without a time limit, because the system calls cannot be interrupted.
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
		_ = t.close() // no caller is left to receive the error
	}
}

// Leave ends the turn and reports whether another process waits. A process that waits for gate b has locked gate a.
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

// farewell bounds how long Close waits for a turn to delete the gates. If it does not get the turn, they stay.
const farewell = time.Second

// Close closes the gates. If alone reports that no other process uses the database, Close also deletes their files.
// If a goroutine still waits at a gate, which cannot be interrupted, that goroutine closes them later: the number of
// a closed file may soon be another file's.
func (t *Queue) Close(alone func() bool) error {
	if alone() && t.last(alone) {
		return t.remove()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sought != nil {
		t.closed = true
		return nil
	}
	return t.close()
}

// last takes the turn, and reports whether this process is alone then. A process that begins to use the database
// meanwhile waits for its first turn, and finds that the gates are gone.
func (t *Queue) last(alone func() bool) bool {
	done := make(chan struct{})
	defer time.AfterFunc(farewell, func() { close(done) }).Stop()
	return t.enter(done) == nil && t.current() && alone()
}
