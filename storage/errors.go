package storage

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is returned if the run, job, token, schedule, definition or named record does not exist.
	ErrNotFound = errors.New("storage: not found")
	// ErrExists is returned by Create and PostJob if the id is taken.
	ErrExists = errors.New("storage: already exists")
	// ErrJobDiffers is returned by PostJob if the id is that of a job with another flow, run or input. The call posted
	// nothing.
	ErrJobDiffers = errors.New("storage: the job exists, and differs")
	// ErrConflict is wrapped by every [ConflictError]: a named record has changed.
	ErrConflict = errors.New("storage: the record has changed")
	// ErrFenced is returned if the claim is void: another owner has taken the run over, or another process the job.
	// The call wrote nothing. The former owner of a run must stop, must not write again, and must not revert
	// anything.
	ErrFenced = errors.New("storage: another owner has taken over")
	// ErrUnsure is returned by Commit if the store cannot determine whether the transaction was committed. Commit
	// the same checkpoint again: the store compares sequence numbers and writes it at most once.
	ErrUnsure = errors.New("storage: unknown whether the transaction was committed")
	// ErrNewMessages is returned by Release if messages arrived after the caller read the wakeup counter.
	ErrNewMessages = errors.New("storage: new messages have arrived")
	// ErrGone is returned if the token is not open: it has ended or expired, or its atom was started again.
	ErrGone = errors.New("storage: the token is no longer open")
	// ErrEnded is returned by Send for a signal or an event to a run that has ended.
	ErrEnded = errors.New("storage: the run has ended or is ending")
	// ErrFull is returned by Send if the inbox of the run is full.
	ErrFull = errors.New("storage: the inbox is full")
	// ErrTaken is returned to a worker whose lease expired and whose work another worker has taken since. Commit
	// returns it if a token of Checkpoint.Used has changed.
	ErrTaken = errors.New("storage: another worker has taken the work")
	// ErrClosed is returned by a store after Close.
	ErrClosed = errors.New("storage: the store is closed")
	// ErrBroken is returned by every writing method after the store lost track of what is on the disk. Acknowledged
	// writes are safe. A process that opens the store again can continue.
	ErrBroken = errors.New("storage: closed for writing")
	// ErrUnavailable is wrapped by errors that show that the database itself is ill: it cannot be reached, its disk is
	// full, or it takes no writes. The call can be repeated later.
	ErrUnavailable = errors.New("storage: the database is unavailable")
	// ErrCorrupt is returned if a stored record cannot be decoded.
	ErrCorrupt = errors.New("storage: the record is damaged")
	// ErrInvalid is returned if a write contradicts itself or what is stored. Examples are a gap in the history, and
	// a reference to a payload that does not exist. The caller's code is wrong. The call wrote nothing.
	ErrInvalid = errors.New("storage: invalid write")
)

// An OwnedError is returned by Begin and Step if a live owner drives the run.
type OwnedError struct {
	Run   string // id of the run
	Owner Owner  // the process that drives it
}

// Error names the owner.
func (e *OwnedError) Error() string {
	return fmt.Sprintf("storage: run %q is owned by process %d on %s, which is alive", e.Run, e.Owner.PID, e.Owner.Host)
}

// ErrLimited is wrapped by every [LimitedError].
var ErrLimited = errors.New("storage: the limit of concurrent runs is reached")
