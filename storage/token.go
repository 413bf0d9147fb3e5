package storage

import (
	"time"

	"github.com/ebbflow/ebb/atom"
)

// Untaken stands, where a number of a worker is passed, for no worker: the call applies
// only while the token was never taken. The number 0 stands for any caller.
const Untaken int64 = -1

// A TokenLimit is a limit of how long an open token is waited for.
type TokenLimit uint8

// The limits of tokens. When one passes, the process that drives the run fails the attempt.
const (
	NoLimit         TokenLimit = iota
	ScheduleToStart            // a worker takes the work within ScheduleToStart
	StartToClose               // the worker that took it last ends it within StartToClose
	ScheduleToClose            // the token is ended by the Deadline
	HeartbeatLimit             // a heartbeat comes each Heartbeat; for work, from when it is taken
)

// String returns the stable word for a limit.
func (l TokenLimit) String() string {
	return [...]string{
		NoLimit: "none", ScheduleToStart: "schedule_to_start", StartToClose: "start_to_close",
		ScheduleToClose: "schedule_to_close", HeartbeatLimit: "heartbeat",
	}[l]
}

// Due returns which limit of an open token passes first, and when; NoLimit is none.
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

// A Token is the right to end an atom from elsewhere.
type Token struct {
	ID          string // unguessable
	Run         string
	Path        string
	Incarnation int
	Attempt     int
	State       TokenState
	Deadline    time.Time     // when the atom fails if the token is still open; zero is never
	Heartbeat   time.Duration // how long it may be silent; 0 is without limit
	Beat        time.Time     // when it was last heard of
	Since       time.Time     // when it was put into its queue, or, by the store's clock, last taken; zero is before there was this

	ScheduleToStart time.Duration // how long its work may wait to be taken for the first time; 0 is without limit
	StartToClose    time.Duration // how long the worker that took it last may take; 0 is without limit

	Result  atom.Value    // what it was completed with
	Failure *atom.Failure // what it was failed with
	Queue   string        // under what name workers find the work; "" when they do not
	Work    atom.Value    // what the worker that takes it is told; dropped when the token ends; nil when the atom's record has it
	Worker  string        // the worker that took it last; "" when none did
	Take    int64         // how often it was taken: the number of that, by which its worker is known
	Lease   time.Time     // until when it is its worker's, by the store's clock; zero is for as long as the token is open
}

// TokenState is where a token is in its life.
type TokenState uint8

// The states of tokens.
const (
	TokenOpen TokenState = iota
	TokenCompleted
	TokenFailed
	TokenExpired // its deadline or heartbeat passed
	TokenGone    // its atom was cancelled or begun anew
)
