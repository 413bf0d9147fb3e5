package main

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// What the command writes as JSON. The keys are stable: a later version may add
// some, but changes and removes none.

type jsonFailure struct {
	Atom    string `json:"atom,omitempty"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
}

func failureJSON(f *atom.Failure) *jsonFailure {
	if f == nil {
		return nil
	}
	return &jsonFailure{Atom: f.Atom, Code: f.Code, Message: f.Message, Attempt: f.Attempt}
}

type jsonRun struct {
	Run        string            `json:"run"`
	Flow       string            `json:"flow"`
	State      string            `json:"state"`
	Outcome    string            `json:"outcome"`
	Undo       string            `json:"undo"`
	Labels     map[string]string `json:"labels,omitempty"`
	Input      atom.Value        `json:"input,omitempty"`
	Output     atom.Value        `json:"output,omitempty"`
	Failure    *jsonFailure      `json:"failure,omitempty"`
	Definition string            `json:"definition,omitempty"`
	Created    time.Time         `json:"created,omitzero"`
	Started    time.Time         `json:"started,omitzero"`
	Ended      time.Time         `json:"ended,omitzero"`
}

func runJSON(run *storage.Run) jsonRun {
	return jsonRun{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: outcomes[run.Outcome], Undo: undos[run.Undo], Labels: run.Labels,
		Input: run.Secrets.Mask("", run.Input.Data), Output: run.Secrets.Mask("", run.Output.Data), Failure: failureJSON(run.Failure), Definition: run.Definition,
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

type jsonAtom struct {
	Path          string       `json:"path"`
	Kind          string       `json:"kind"`
	State         string       `json:"state"`
	Incarnation   int          `json:"incarnation"`
	Attempt       int          `json:"attempt"`
	Started       time.Time    `json:"started,omitzero"` // of the present attempt
	Ended         time.Time    `json:"ended,omitzero"`   // of the present attempt
	Due           time.Time    `json:"due,omitzero"`
	Input         atom.Value   `json:"input,omitempty"`
	Result        atom.Value   `json:"result,omitempty"`
	Failure       *jsonFailure `json:"failure,omitempty"`
	RevertResult  atom.Value   `json:"revert_result,omitempty"`
	RevertFailure *jsonFailure `json:"revert_failure,omitempty"`
	Progress      float64      `json:"progress,omitzero"` // of the present attempt, from 0 to 1
	Details       atom.Value   `json:"details,omitempty"` // of the progress, in the task's words
}

func atomJSON(secrets *storage.Secrets, a *storage.Atom) jsonAtom {
	return jsonAtom{
		Path: a.Path, Kind: kinds[a.Kind], State: a.State.String(), Incarnation: a.Incarnation, Attempt: a.Attempt,
		Started: a.StartedAt.UTC(), Ended: a.EndedAt.UTC(), Due: a.Due.UTC(), Input: secrets.Mask("", a.Input.Data), Result: secrets.Mask(a.Path, a.Result.Data), Failure: failureJSON(a.Failure),
		RevertResult: secrets.Mask(a.Path, a.RevertResult.Data), RevertFailure: failureJSON(a.RevertFailure),
		Progress: a.Progress, Details: secrets.Mask(a.Path, a.Details),
	}
}

var kinds = map[storage.AtomKind]string{
	storage.KindTask: "task", storage.KindRetry: "retry", storage.KindTimer: "timer", storage.KindFork: "fork", storage.KindFlow: "flow",
	storage.KindRun: "run",
}

type jsonEntry struct {
	Seq         int64        `json:"seq"`
	Time        time.Time    `json:"time"`
	Kind        string       `json:"kind"` // "run" or "atom"
	Path        string       `json:"path,omitempty"`
	From        string       `json:"from"`
	To          string       `json:"to"`
	Incarnation int          `json:"incarnation,omitempty"`
	Attempt     int          `json:"attempt,omitempty"`
	Failure     *jsonFailure `json:"failure,omitempty"`
	Result      atom.Value   `json:"result,omitempty"`
}

func entryJSON(secrets *storage.Secrets, e *storage.Entry) jsonEntry {
	j := jsonEntry{
		Seq: e.Seq, Time: e.Time.UTC(), Kind: "atom", Path: e.Path, From: states.Task(e.From).String(), To: states.Task(e.To).String(),
		Incarnation: e.Incarnation, Attempt: e.Attempt, Failure: failureJSON(e.Failure), Result: secrets.Mask(e.Path, e.Body.Data),
	}
	if e.Kind == storage.EntryFlow {
		j.Kind, j.From, j.To = "run", states.Flow(e.From).String(), states.Flow(e.To).String()
	}
	return j
}

type jsonEvent struct {
	ID       int64      `json:"id"`
	Previous int64      `json:"previous"`
	Time     time.Time  `json:"time"`
	Type     string     `json:"type"`
	State    string     `json:"state,omitempty"`
	Details  atom.Value `json:"details,omitempty"`
	Key      string     `json:"key,omitempty"` // member of the details that body stands for
	Body     atom.Value `json:"body,omitempty"`
}

func eventJSON(secrets *storage.Secrets, e *storage.Entry) jsonEvent {
	return jsonEvent{
		ID: e.Number, Previous: e.Prev, Time: e.Time.UTC(), Type: e.Type, State: e.Path,
		Details: secrets.Mask("", e.Details), Key: e.Key, Body: secrets.Mask("", e.Body.Data),
	}
}
