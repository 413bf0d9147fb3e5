package worker

import (
	"encoding/json"
	"time"
)

// A Task is the work that the server gives to a worker.
type Task struct {
	// ID identifies this delivery of the task. Each delivery has another one.
	ID   string `json:"id"`
	Kind string `json:"kind"` // kind of the work, one of those that the worker asked for
	Key  string `json:"key"`  // idempotency key: the same in each attempt and delivery
	Run  string `json:"run"`  // id of the run
	Path string `json:"path"` // path of the atom in the run
	// Attempt counts from 1. It increases if a failure is retried.
	Attempt int `json:"attempt"`
	// Delivery counts the workers that received this attempt, this one included.
	Delivery     int64           `json:"delivery"`
	Input        json.RawMessage `json:"input"`            // any JSON
	Revert       *Revert         `json:"revert,omitempty"` // what to undo; nil if the task is to execute
	LeaseSeconds float64         `json:"lease_seconds"`    // how long the worker keeps the task without a heartbeat
	// Deadline is when the attempt fails, by the first of its limits. It is nil without limits.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Traceparent is that of the caller that started the run, as W3C Trace Context defines it.
	Traceparent string `json:"traceparent,omitempty"`

	report report
}

// A Revert names the work to undo. Undoing twice must be harmless, and so must undoing
// work that was not done.
type Revert struct {
	Key string `json:"key"` // idempotency key of the work to undo
	// Outcome is "done", "failed" or "unknown". If it is unknown, use Key to find out what to undo.
	Outcome  string          `json:"outcome"`
	Result   json.RawMessage `json:"result,omitempty"`  // result of the work, if Outcome is "done"
	Failure  *Failure        `json:"failure,omitempty"` // failure of the work, if Outcome is "failed"
	Failures []Failure       `json:"failures"`          // why the run is undone; none if an operator asked for it
}

// A Failure says which atom of the run failed, and why.
type Failure struct {
	Path    string `json:"path,omitempty"`    // path of the atom that failed
	Code    string `json:"code"`              // code by which flows decide
	Message string `json:"message,omitempty"` // text for people
}
