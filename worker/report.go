package worker

import (
	"encoding/json"
	"sync"
	"time"
)

// A report is what the Func of a task says about it before its end, and what it is told.
type report struct {
	mu       sync.Mutex
	progress float64
	details  json.RawMessage
	given    chan struct{} // closed when the task is to be given up
	told     bool
}

// Report sets the progress of the task, from 0 to 1, and its details as JSON; nil keeps the last details. The worker
// sends both with its next heartbeat. People see them, and if a time limit of the task passes, its failure has the
// details.
func (t *Task) Report(progress float64, details json.RawMessage) {
	t.report.mu.Lock()
	defer t.report.mu.Unlock()
	t.report.progress = progress
	if details != nil {
		t.report.details = details
	}
}

// GiveUp returns a channel that is closed when the run asks to give the task up. The Func decides whether to stop, and
// with which result or error.
func (t *Task) GiveUp() <-chan struct{} {
	t.report.mu.Lock()
	defer t.report.mu.Unlock()
	return t.report.channel()
}

// channel returns the channel of GiveUp. The caller must hold the lock.
func (r *report) channel() chan struct{} {
	if r.given == nil {
		r.given = make(chan struct{})
	}
	return r.given
}

func (r *report) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.told {
		r.told = true
		close(r.channel())
	}
}

// heartbeat returns the body of a heartbeat.
func (r *report) heartbeat(lease time.Duration) map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	body := map[string]any{"lease_seconds": lease.Seconds()}
	if r.progress != 0 {
		body["progress"] = r.progress
	}
	if r.details != nil {
		body["details"] = r.details
	}
	return body
}
