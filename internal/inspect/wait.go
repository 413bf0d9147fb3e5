package inspect

import (
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Wait is one thing that a run waits for. Kind says what it is; fields that another Kind uses are zero. Times are in
// UTC.
type Wait struct {
	Kind    WaitKind         `json:"kind"`              // what is waited for
	Path    string           `json:"path,omitempty"`    // path of the atom that waits; "" if the run itself waits
	Since   time.Time        `json:"since,omitzero"`    // when the wait began
	Due     time.Time        `json:"due,omitzero"`      // when it ends, or times out; zero if it has no limit
	Timeout string           `json:"timeout,omitempty"` // token, worker: which limit Due is
	Attempt int              `json:"attempt,omitempty"` // attempt of the atom, counted from 1
	Token   string           `json:"token,omitempty"`   // token: the one that another party must complete
	Work    string           `json:"work,omitempty"`    // worker: kind of the work
	Worker  string           `json:"worker,omitempty"`  // worker: the worker that took the work; "" if none did
	Unasked bool             `json:"unasked,omitzero"`  // worker: no worker asks for the work
	Lease   time.Time        `json:"-"`                 // worker: when its lease ends
	Message grow.MessageKind `json:"message,omitempty"` // message: its kind
	Name    string           `json:"name,omitempty"`    // name of the signal or event
	Child   string           `json:"child,omitempty"`   // run: its id
	Limit   string           `json:"limit,omitempty"`   // place, rate: the limit that is reached
	Flow    string           `json:"flow,omitempty"`    // process and its like: name of the flow
	Needs   []string         `json:"needs,omitempty"`   // offer: what no process offers, such as gpu=a100
	Process *Owner           `json:"process,omitempty"` // the process that refused the run, serves it, or was stopped
	Reason  string           `json:"reason,omitempty"`  // refused: why, and what to do
	Task    string           `json:"task,omitempty"`    // execution, revert: what a language calls, such as a URL
	Unheard bool             `json:"unheard,omitzero"`  // message: nothing waits for the signal now
	Failure *Failure         `json:"failure,omitempty"` // the failure that led to the wait

	Progress float64    `json:"progress,omitzero"` // token, worker: what the worker reported last, from 0 to 1
	Details  atom.Value `json:"details,omitempty"` // token, worker: details that it reported last

	limited *storage.LimitedError // place, rate
	slots   int                   // slot: how many the process has
	// definition says that the flow is a stored definition, so ebb serve drives it.
	definition bool
}

// A WaitKind says what a run waits for.
type WaitKind string

// The kinds of waits. Their texts are stable parts of the JSON.
const (
	WaitsForExecution WaitKind = "execution"    // a task executes now
	WaitsForToken     WaitKind = "token"        // another party completes a token
	WaitsForSignal    WaitKind = "signal"       // the run receives the signal Name
	WaitsForWorker    WaitKind = "worker"       // a worker takes the work from its task queue and does it
	WaitsForRun       WaitKind = "run"          // the run that an atom has begun ends
	WaitsForTime      WaitKind = "timer"        // a timer of the flow fires
	WaitsForRetry     WaitKind = "retry"        // the pause before the next attempt of a task
	WaitsForRevert    WaitKind = "revert"       // a task is being reverted now
	WaitsForUndoAgain WaitKind = "revert_retry" // the pause before the next attempt to revert a task
	WaitsForMending   WaitKind = "mending"      // an operator decides what to do about a revert that failed
	WaitsForDeadline  WaitKind = "deadline"     // the deadline of the run
	WaitsForReading   WaitKind = "message"      // the process that drives the run reads a message in the inbox
	WaitsForMessage   WaitKind = "inbox"        // a message, for which the run's language listens
)

// Waits lists what the run waits for. First is why no process drives it, if one could.
func (w *Diagnosis) Waits(now time.Time) []Wait {
	var list []Wait
	if one := w.hindrance(now); one != nil {
		list = append(list, *one)
	}
	if !w.Run.State.Ended() {
		for i := range w.Atoms {
			list = append(list, w.waitOf(&w.Atoms[i]))
		}
		for _, t := range w.Timers {
			if t.Kind == storage.TimerDeadline {
				list = append(list, Wait{Kind: WaitsForDeadline, Path: t.Path, Due: t.Due.UTC()})
			}
		}
		if w.Listens && len(w.Atoms)+len(w.lacks()) == 0 {
			list = append(list, Wait{Kind: WaitsForMessage, Flow: w.Run.Flow, Since: w.Run.Updated.UTC()})
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
		list = append(list, Wait{
			Kind: WaitsForReading, Path: l.Path, Since: l.Sent.UTC(), Message: l.Kind, Name: l.Name, Unheard: w.unheard(l),
		})
	}
	return list
}

// unheard reports whether nothing in a run of a plan waits for a signal now. Languages decide when they read it.
func (w *Diagnosis) unheard(m *storage.Message) bool {
	return m.Kind == grow.MessageSignal && w.Run.Definition == "" && !w.Grows && !w.Run.State.Ended() && w.More == 0 &&
		!slices.ContainsFunc(w.Atoms, func(a storage.Atom) bool {
			return a.State == states.TaskRunning && a.Signal == m.Name
		})
}

func (w *Diagnosis) waitOf(a *storage.Atom) Wait {
	now := Wait{Kind: WaitsForExecution, Path: a.Path, Since: a.StartedAt.UTC(), Due: a.Due.UTC(), Attempt: a.Attempt}
	if a.Spec != nil {
		var of struct{ Task string }
		_ = a.Spec.Decode(&of) // taskOf made it
		now.Task = redact.URL(of.Task)
	}
	switch a.State {
	case states.TaskRetrying:
		now.Kind, now.Attempt, now.Failure = WaitsForRetry, a.Attempt+1, FailureOf(a.Failure)
	case states.TaskReverting:
		now.Kind, now.Attempt, now.Failure = WaitsForRevert, a.RevertAttempt+1, FailureOf(a.RevertFailure)
		if token := w.Tokens[a.Path]; token != nil && token.Queue != "" {
			now.Kind = WaitsForWorker
			now.waitForHolder(token)
			now.Unasked = w.unasked(token)
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
		case a.Kind == storage.KindRun && token == nil:
			now.Kind = WaitsForRun
			now.Child, _ = backend.BegunBy(w.Run.ID, a)
		case a.Signal != "":
			now.Kind, now.Name = WaitsForSignal, a.Signal
			for _, t := range w.Timers {
				if t.Path == a.Path && t.Incarnation == a.Incarnation {
					now.Due = t.Due.UTC()
				}
			}
		case token != nil:
			now.Kind = WaitsForToken
			now.waitForHolder(token)
			now.Progress, now.Details = token.Progress, w.Run.Secrets.Mask(a.Path, token.Details)
			if token.Queue != "" {
				now.Kind, now.Unasked = WaitsForWorker, w.unasked(token)
			}
		}
	}
	return now
}

// unasked reports whether work was not taken, and no worker asks for it.
func (w *Diagnosis) unasked(token *storage.Token) bool {
	_, asked := w.Pollers[token.Queue]
	return w.Pollers != nil && !asked && token.Worker == ""
}

// waitForHolder makes one a wait for the holder of a token, and says until when.
func (one *Wait) waitForHolder(token *storage.Token) {
	one.Token, one.Work, one.Worker, one.Lease = token.ID, token.Queue, token.Worker, token.Lease
	limit, due := token.Due()
	one.Due = due.UTC()
	if limit != storage.NoLimit {
		one.Timeout = limit.String()
	}
	if token.Take > 0 && !token.Since.IsZero() {
		one.Since = token.Since.UTC()
	}
}
