package storage

import (
	"time"
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
