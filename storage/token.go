package storage

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// Untaken stands in place of the number of a take: it ends a token only if no worker has taken its work yet. The number
// of a take counts how many workers have taken the work; 0 ends the token in any case.
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
	// Priority orders the work of a queue: higher numbers first. Work of the same priority is taken in the order of
	// Beat, and work of one checkpoint in the order of Checkpoint.Tokens.
	Priority int32
	Work     atom.Value // input for the worker; nil if the atom's record contains it, or the token has ended
	Worker   string     // name of the worker that took it last; "" if none took it
	Take     int64      // number of the last take, 0 if there was none; a worker passes that of its own as proof
	Lease    time.Time  // when that worker's lease expires, by the store's clock; zero means never

	Progress float64    // progress that the worker reported with a heartbeat, from 0 to 1
	Details  atom.Value // details that the worker reported with its last heartbeat that had any; may be nil
	GiveUp   bool       // the worker is told, at its next heartbeat, to give the work up; if none took it, none can
}

// GivenBack is what giving work back adds to the number of a take, see [Token.Takes].
const GivenBack = 1<<32 - 1

// Takes returns how often workers took the work and did not give it back.
func (t *Token) Takes() int64 { return t.Take & GivenBack }

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

// A TokenEnd is the end that a party gives to a token.
type TokenEnd struct {
	Take    int64         // number of the take that must have the token, or Untaken; 0 means any
	Beat    time.Time     // when the last heartbeat must have arrived, see Token.Beat; zero means any
	Result  atom.Value    // result of the atom, if Failure is nil
	Failure *atom.Failure // why the atom failed
	Issuer  *Issuer       // who ends it, if a person does, see Message.Issuer; nil for a worker
}

// A WorkRequest asks for work of a task queue for a worker.
type WorkRequest struct {
	Queues []string      // task queues to take work from, 1 to 100
	Worker string        // name of the worker, for people; need not be unique, must not be ""
	Lease  time.Duration // how long the worker keeps the work unless it extends the lease; 0 means without end
}

// A Heartbeat says that a worker is alive.
type Heartbeat struct {
	Take     int64         // number under which the worker took the token; 0 applies in any case, and keeps the lease
	Lease    time.Duration // how long the worker keeps the work from now on; 0 means without end
	GiveBack bool          // the worker has not begun the work: its lease ends, and the take does not count
	Progress float64       // from 0 to 1; 0 keeps the last progress
	Details  atom.Value    // nil keeps the last details; at most [atom.MaxFailureDetails] bytes
}
