package storage

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound is returned when there is no such run, job, token or definition.
	ErrNotFound = errors.New("storage: not found")
	// ErrExists is returned by Create and Post when the id is taken.
	ErrExists = errors.New("storage: already exists")
	// ErrFenced is returned when the claim is no longer the run's: another
	// owner has taken the run over. Nothing was written. The former owner stops, writes nothing
	// more, and reverts nothing.
	ErrFenced = errors.New("storage: another owner has taken over")
	// ErrUnsure is returned by Commit when the store cannot tell whether it was
	// done. Commit the same checkpoint again: the guard tells.
	ErrUnsure = errors.New("storage: it is not known whether the commit was done")
	// ErrNewMessages is returned by Release when messages came since the caller read the
	// wakeup counter.
	ErrNewMessages = errors.New("storage: new messages have arrived")
	// ErrGone is returned when the token to end was ended before, has expired, or its
	// atom was started anew.
	ErrGone = errors.New("storage: the token is no longer open")
	// ErrTaken is returned to a worker whose lease ran out, when another one was
	// given the work meanwhile.
	ErrTaken = errors.New("storage: another worker has taken the work")
	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("storage: the store is closed")
	// ErrBroken is returned by methods that write when the store writes nothing
	// more: it does not know what is on the disk. What was acknowledged is safe;
	// a process that reopens the store can continue.
	ErrBroken = errors.New("storage: closed for writing")
	// ErrCorrupt is returned when a record cannot be read back.
	ErrCorrupt = errors.New("storage: the record is damaged")
	// ErrInvalid is returned when what is to be written contradicts what is there
	// or itself: a gap in the history, a reference to no payload. It is a mistake
	// of the caller's code; nothing was written.
	ErrInvalid = errors.New("storage: not writable")
)

// An OwnedError is returned by Begin when a live owner has the run.
type OwnedError struct {
	Run   string
	Owner Owner
}

// Error names the owner.
func (e *OwnedError) Error() string {
	return fmt.Sprintf("storage: run %q is owned by process %d on %s, which is alive", e.Run, e.Owner.PID, e.Owner.Host)
}

// ErrLimited is wrapped by [LimitedError].
var ErrLimited = errors.New("storage: as many runs are driven as may be")
