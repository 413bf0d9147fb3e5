package inspect

import (
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Wait is one thing that a run waits for. Its times are in UTC.
type Wait struct {
	Kind    WaitKind  `json:"kind"`
	Path    string    `json:"path,omitempty"` // of the atom; "" is the run
	Since   time.Time `json:"since,omitzero"`
	Due     time.Time `json:"due,omitzero"`
	Timeout string    `json:"timeout,omitempty"` // token, worker: which limit passes then
	Attempt int       `json:"attempt,omitempty"`
	Token   string    `json:"token,omitempty"`
	Work    string    `json:"work,omitempty"`    // worker: of which kind
	Worker  string    `json:"worker,omitempty"`  // worker: the one that took the work; "" if none did
	Lease   time.Time `json:"-"`                 // worker: until when
	Message string    `json:"message,omitempty"` // its kind
	Name    string    `json:"name,omitempty"`    // of the signal or event
	Limit   string    `json:"limit,omitempty"`   // place: the limit that is reached
	Failure *Failure  `json:"failure,omitempty"` // why it waits
}

// A WaitKind says what is waited for.
type WaitKind string

// The kinds of waits; they are the stable words of the JSON.
const (
	WaitsForExecution WaitKind = "execution"    // a task is being called
	WaitsForToken     WaitKind = "token"        // the holder of the token ends it
	WaitsForWorker    WaitKind = "worker"       // a worker that asks for work of its kind does it
	WaitsForTime      WaitKind = "timer"        // a wait of the flow
	WaitsForRetry     WaitKind = "retry"        // the pause before another attempt
	WaitsForRevert    WaitKind = "revert"       // a task is being undone
	WaitsForUndoAgain WaitKind = "revert_retry" // the pause before another attempt to undo
	WaitsForMending   WaitKind = "mending"      // an operator decides about what could not be undone
	WaitsForDeadline  WaitKind = "deadline"     // the run is ended then
	WaitsForReading   WaitKind = "message"      // the run's owner takes a message out of the inbox
	WaitsForPlace     WaitKind = "place"        // others are moved, as many as a limit allows
)

// Waits lists what the run waits for.
func (w *Diagnosis) Waits() []Wait {
	var list []Wait
	if !w.Run.State.Ended() {
		if w.Place != nil && !w.Run.Hold {
			list = append(list, Wait{Kind: WaitsForPlace, Limit: w.Place.Reason()})
		}
		for i := range w.Atoms {
			list = append(list, w.waitOf(&w.Atoms[i]))
		}
		for _, t := range w.Timers {
			if t.Kind == storage.TimerDeadline {
				list = append(list, Wait{Kind: WaitsForDeadline, Path: t.Path, Due: t.Due.UTC()})
			}
		}
	} else if w.Run.Undo == storage.UndoFailed {
		for i := range w.Atoms {
			if w.Atoms[i].State == states.TaskRevertFailure {
				list = append(list, w.waitOf(&w.Atoms[i]))
			}
		}
	}
	for i := range w.Messages {
		l := &w.Messages[i]
		list = append(list, Wait{Kind: WaitsForReading, Path: l.Path, Since: l.Sent.UTC(), Message: l.Kind, Name: l.Name})
	}
	return list
}

func (w *Diagnosis) waitOf(a *storage.Atom) Wait {
	now := Wait{Kind: WaitsForExecution, Path: a.Path, Since: a.StartedAt.UTC(), Due: a.Due.UTC(), Attempt: a.Attempt}
	switch a.State {
	case states.TaskRetrying:
		now.Kind, now.Attempt, now.Failure = WaitsForRetry, a.Attempt+1, FailureOf(a.Failure)
	case states.TaskReverting:
		now.Kind, now.Attempt, now.Failure = WaitsForRevert, a.RevertAttempt+1, FailureOf(a.RevertFailure)
		if token := w.Tokens[a.Path]; token != nil && token.Queue != "" {
			now.Kind = WaitsForWorker
			now.waitForHolder(token)
		}
		if !a.Due.IsZero() {
			now.Kind = WaitsForUndoAgain
		}
	case states.TaskRevertFailure:
		now.Kind, now.Attempt, now.Failure = WaitsForMending, max(a.RevertAttempt, 1), FailureOf(a.RevertFailure)
	default:
		switch token := w.Tokens[a.Path]; {
		case a.Kind == storage.KindTimer:
			now.Kind = WaitsForTime
		case token != nil:
			now.Kind = WaitsForToken
			now.waitForHolder(token)
			if token.Queue != "" {
				now.Kind = WaitsForWorker
			}
		}
	}
	return now
}

// waitForHolder makes w a wait for the holder of a token, and says until when.
func (w *Wait) waitForHolder(token *storage.Token) {
	w.Token, w.Work, w.Worker, w.Lease = token.ID, token.Queue, token.Worker, token.Lease
	limit, due := token.Due()
	w.Due = due.UTC()
	if limit != storage.NoLimit {
		w.Timeout = limit.String()
	}
	if token.Take > 0 && !token.Since.IsZero() {
		w.Since = token.Since.UTC()
	}
}
