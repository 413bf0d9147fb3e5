package worker

import (
	"encoding/json"
	"time"
)

// A Task is the work that the server gives to a worker.
type Task struct {
	// Of this taking: no other worker's, and not this one's another time
	ID   string `json:"id"`
	Kind string `json:"kind"` // of those it asked for
	Key  string `json:"key"`  // idempotency key: the same however often the task is done
	Run  string `json:"run"`  // id of the run
	Path string `json:"path"` // of the atom in it
	// Which, from 1: it rises when a failure is followed by another try
	Attempt int `json:"attempt"`
	// To how many workers this attempt was given, this one included
	Delivery     int64           `json:"delivery"`
	Input        json.RawMessage `json:"input"`            // any JSON
	Revert       *Revert         `json:"revert,omitempty"` // there when the task is to undo
	LeaseSeconds float64         `json:"lease_seconds"`    // how long it is the worker's without a heartbeat
	// When the attempt fails if it has not ended, by the first limit that passes
	Deadline *time.Time `json:"deadline,omitempty"`
	// Of the caller that started the run, as W3C Trace Context defines it
	Traceparent string `json:"traceparent,omitempty"`

	report report
}

// A Revert names the work to undo. Undoing twice must be harmless, and so must undoing
// work that was not done.
type Revert struct {
	Key string `json:"key"` // idempotency key of what is undone
	// Done, failed, or unknown; if unknown, use the key to find what to undo
	Outcome  string          `json:"outcome"`
	Result   json.RawMessage `json:"result,omitempty"`  // when it is done
	Failure  *Failure        `json:"failure,omitempty"` // when it failed
	Failures []Failure       `json:"failures"`          // why the run is undone; none when that was asked for
}

// A Failure is the reason why something failed.
type Failure struct {
	Path    string `json:"path,omitempty"`    // path of the atom that failed
	Code    string `json:"code"`              // code by which flows decide
	Message string `json:"message,omitempty"` // text for people
}
