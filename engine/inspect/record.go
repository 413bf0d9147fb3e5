package inspect

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Failure is why a run or an atom failed.
type Failure struct {
	Atom    string `json:"atom,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

// FailureOf returns nil for nil.
func FailureOf(f *atom.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Atom: f.Atom, Code: f.Code, Message: f.Message, Attempt: f.Attempt}
}

// A Run is the row of a run.
type Run struct {
	Run        string            `json:"run"`
	Flow       string            `json:"flow"`
	State      string            `json:"state"`
	Outcome    string            `json:"outcome"`
	Undo       string            `json:"undo"`
	Labels     map[string]string `json:"labels,omitempty"`
	Input      atom.Value        `json:"input,omitempty"`
	Output     atom.Value        `json:"output,omitempty"`
	Failure    *Failure          `json:"failure,omitempty"`
	Definition string            `json:"definition,omitempty"`
	Created    time.Time         `json:"created,omitzero"`
	Started    time.Time         `json:"started,omitzero"`
	Ended      time.Time         `json:"ended,omitzero"`
}

// RunOf returns a run without secrets.
func RunOf(run *storage.Run) Run {
	return Run{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: outcomes[run.Outcome], Undo: undos[run.Undo], Labels: run.Labels,
		Input: run.Secrets.Mask("", run.Input.Data), Output: run.Secrets.Mask("", run.Output.Data), Failure: FailureOf(run.Failure), Definition: run.Definition,
		Created: run.Created.UTC(), Started: run.Started.UTC(), Ended: run.Ended.UTC(),
	}
}

var outcomes = map[storage.Outcome]string{
	storage.Unfinished: "unfinished", storage.Succeeded: "succeeded", storage.FailedOutcome: "failed",
	storage.TimedOut: "timed_out", storage.Cancelled: "cancelled", storage.Continued: "continued",
}

var undos = map[storage.Undone]string{
	storage.UndoNone: "none", storage.UndoneAll: "undone", storage.UndonePart: "partly", storage.UndoFailed: "failed",
}

// An Atom is a step of a run as it is stored.
type Atom struct {
	Path          string     `json:"path"`
	Kind          string     `json:"kind"`
	State         string     `json:"state"`
	Incarnation   int        `json:"incarnation"`
	Attempt       int        `json:"attempt"`
	Started       time.Time  `json:"started,omitzero"` // of the present attempt
	Ended         time.Time  `json:"ended,omitzero"`   // of the present attempt
	Due           time.Time  `json:"due,omitzero"`
	Input         atom.Value `json:"input,omitempty"`
	Result        atom.Value `json:"result,omitempty"`
	Failure       *Failure   `json:"failure,omitempty"`
	RevertResult  atom.Value `json:"revert_result,omitempty"`
	RevertFailure *Failure   `json:"revert_failure,omitempty"`
	Progress      float64    `json:"progress,omitzero"` // of the present attempt, from 0 to 1
	Details       atom.Value `json:"details,omitempty"` // of the progress, in the task's words
}

// AtomOf returns an atom without secrets.
func AtomOf(secrets *storage.Secrets, a *storage.Atom) Atom {
	return Atom{
		Path: a.Path, Kind: kinds[a.Kind], State: a.State.String(), Incarnation: a.Incarnation, Attempt: a.Attempt,
		Started: a.StartedAt.UTC(), Ended: a.EndedAt.UTC(), Due: a.Due.UTC(),
		Input: secrets.Mask("", a.Input.Data), Result: secrets.Mask(a.Path, a.Result.Data), Failure: FailureOf(a.Failure),
		RevertResult: secrets.Mask(a.Path, a.RevertResult.Data), RevertFailure: FailureOf(a.RevertFailure),
		Progress: a.Progress, Details: secrets.Mask(a.Path, a.Details),
	}
}

var kinds = map[storage.AtomKind]string{
	storage.KindTask: "task", storage.KindRetry: "retry", storage.KindTimer: "timer", storage.KindFork: "fork", storage.KindFlow: "flow",
	storage.KindRun: "run",
}

// An Entry is a line of the history: a change of state of a run or an atom.
type Entry struct {
	Seq         int64      `json:"seq"`
	Time        time.Time  `json:"time"`
	Kind        string     `json:"kind"` // "run" or "atom"
	Path        string     `json:"path,omitempty"`
	From        string     `json:"from"`
	To          string     `json:"to"`
	Incarnation int        `json:"incarnation,omitempty"`
	Attempt     int        `json:"attempt,omitempty"`
	Failure     *Failure   `json:"failure,omitempty"`
	Result      atom.Value `json:"result,omitempty"`
}

// EntryOf returns an entry without secrets.
func EntryOf(secrets *storage.Secrets, e *storage.Entry) Entry {
	j := Entry{
		Seq: e.Seq, Time: e.Time.UTC(), Kind: "atom", Path: e.Path, From: states.Task(e.From).String(), To: states.Task(e.To).String(),
		Incarnation: e.Incarnation, Attempt: e.Attempt, Failure: FailureOf(e.Failure), Result: secrets.Mask(e.Path, e.Body.Data),
	}
	if e.Kind == storage.EntryFlow {
		j.Kind, j.From, j.To = "run", states.Flow(e.From).String(), states.Flow(e.To).String()
	}
	return j
}

// An Event is a line of the history in the words of the run's language.
type Event struct {
	ID       int64      `json:"id"`
	Previous int64      `json:"previous"`
	Time     time.Time  `json:"time"`
	Type     string     `json:"type"`
	State    string     `json:"state,omitempty"`
	Details  atom.Value `json:"details,omitempty"`
	Key      string     `json:"key,omitempty"` // member of the details that body stands for
	Body     atom.Value `json:"body,omitempty"`
}

// EventOf returns an event without secrets.
func EventOf(secrets *storage.Secrets, e *storage.Entry) Event {
	return Event{
		ID: e.Number, Previous: e.Prev, Time: e.Time.UTC(), Type: e.Type, State: e.Path,
		Details: secrets.Mask("", e.Details), Key: e.Key, Body: secrets.Mask("", e.Body.Data),
	}
}
