package storage

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
)

// A TokenEnd is how a token ends, see [Inbox.EndToken].
type TokenEnd struct {
	Take    int64         // number of the take that must have the token, or Untaken; 0 means any
	Beat    time.Time     // when the last heartbeat must have arrived, see Token.Beat; zero means any
	Result  atom.Value    // result of the atom, if Failure is nil
	Failure *atom.Failure // why the atom failed
	Issuer  *Issuer       // who ends it, if a person does, see [Message]; nil for a worker
}

// Check returns an error that wraps ErrInvalid and names the problem if no token can end like this.
func (e *TokenEnd) Check() error {
	if f := e.Failure; f != nil {
		if !utf8.ValidString(f.Code) || !utf8.ValidString(f.Message) {
			return fmt.Errorf("%w: the failure %.40q is not UTF-8", ErrInvalid, f.Code)
		}
		return checkValue("details of the failure", f.Details)
	}
	return checkValue("result of the token", e.Result)
}

// Untaken is a value of [TokenEnd].Take: the token ends only if no worker has taken its work yet. Otherwise Take is the
// number of the take, which counts how many workers have taken the work, or 0 to end the token in any case.
const Untaken int64 = -1

// A TokenLimit names one of the time limits of an attempt that waits for a token.
type TokenLimit uint8

// The time limits of a token. When a limit passes, the process that drives the run fails the attempt.
const (
	NoLimit         TokenLimit = iota
	ScheduleToStart            // a worker must take the work within Token.ScheduleToStart
	StartToClose               // the worker that took it last must end it within Token.StartToClose
	ScheduleToClose            // the token must be ended by Token.Deadline
	HeartbeatLimit             // a heartbeat must arrive every Token.Heartbeat; for work, from when a worker takes it
)

// String returns a stable name of the limit.
func (l TokenLimit) String() string {
	return [...]string{
		NoLimit: "none", ScheduleToStart: "schedule_to_start", StartToClose: "start_to_close",
		ScheduleToClose: "schedule_to_close", HeartbeatLimit: "heartbeat",
	}[l]
}

// Due returns the limit of an open token that passes first, and when. If the token has no limit, it returns
// NoLimit.
func (t *Token) Due() (limit TokenLimit, due time.Time) {
	sooner := func(l TokenLimit, at time.Time) {
		if limit == NoLimit || at.Before(due) {
			limit, due = l, at
		}
	}
	waits := t.Queue != "" && t.Take == 0
	if waits && t.ScheduleToStart > 0 {
		sooner(ScheduleToStart, t.Since.Add(t.ScheduleToStart))
	}
	if !waits && t.StartToClose > 0 {
		sooner(StartToClose, t.Since.Add(t.StartToClose))
	}
	if !t.Deadline.IsZero() {
		sooner(ScheduleToClose, t.Deadline)
	}
	if !waits && t.Heartbeat > 0 {
		sooner(HeartbeatLimit, t.Beat.Add(t.Heartbeat))
	}
	return limit, due
}

// A Token is the durable handle with which another party, such as a worker, a person or a service, ends an atom
// that waits.
type Token struct {
	ID          string        // secret text that cannot be guessed
	Run         string        // id of the run
	Path        string        // path of the atom that waits
	Incarnation int           // incarnation of the atom, from 0
	Attempt     int           // attempt that waits, counted from 1
	State       TokenState    // whether the token can still be used
	Deadline    time.Time     // when the attempt fails if the token is still open; zero means never
	Heartbeat   time.Duration // the attempt fails if no heartbeat arrives for this long; 0 means no limit
	Beat        time.Time     // when the last heartbeat arrived
	Since       time.Time     // when the work was queued or, by the store's clock, last taken

	ScheduleToStart time.Duration // how long the work may wait for its first worker; 0 means no limit
	StartToClose    time.Duration // how long the worker that took it last may work; 0 means no limit

	Result  atom.Value    // result, if State is TokenCompleted
	Failure *atom.Failure // failure, if State is TokenFailed
	Queue   string        // task queue from which workers take the work; "" means that workers do not take it
	// Priority orders the work of a queue: higher numbers first. Work of the same priority is taken in the order of Beat,
	// and work of one checkpoint in the order of Checkpoint.Tokens.
	Priority int32
	Work     atom.Value // input for the worker; nil if the atom's record contains it, or the token has ended
	Worker   string     // name of the worker that took it last; "" if none took it
	Take     int64      // how often workers took it; a worker passes the number of its take as proof
	Lease    time.Time  // when that worker's lease expires, by the store's clock; zero means never

	Progress float64    // progress that the worker reported with a heartbeat, from 0 to 1
	Details  atom.Value // details that the worker reported with its last heartbeat that had any; may be nil
	GiveUp   bool       // the worker is told, at its next heartbeat, to give the work up; if none took it, none can
}

// A TokenUse is a change of an open token that a caller asks for, as part of a checkpoint.
type TokenUse struct {
	Token Token // the new state of the token
	Was   int64 // the token's Take before; if it is another one by now, the checkpoint is not written
}

// TokenState tells whether a [Token] can be used and, if not, why.
type TokenState uint8

// The states of tokens.
const (
	TokenOpen      TokenState = iota // the token can be used
	TokenCompleted                   // its atom was ended with a result
	TokenFailed                      // its atom was ended with a failure
	TokenExpired                     // its deadline or heartbeat passed
	TokenGone                        // its attempt has ended: the atom was cancelled or reset
)
