package inspect

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A Failure is the stored reason why a run or an atom failed, see [atom.Failure].
type Failure struct {
	Atom    string `json:"atom,omitempty"`    // path of the atom that failed
	Code    string `json:"code"`              // code that flows match, such as "Ebb.Timeout"
	Message string `json:"message,omitempty"` // text for people
	Attempt int    `json:"attempt,omitempty"` // attempt that failed, counted from 1
}

// FailureOf returns the failure as the JSON output shows it, and nil for nil.
func FailureOf(f *atom.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Atom: f.Atom, Code: f.Code, Message: f.Message, Attempt: f.Attempt}
}

// A Run describes a run in JSON, as `ebb list` prints it. Secrets are masked. Times are in UTC; a zero time has not
// come.
type Run struct {
	Run   string `json:"run"`   // id
	Flow  string `json:"flow"`  // name of the flow
	State string `json:"state"` // a text of [states.Flow], such as "RUNNING"
	// Such as "unfinished" or "timed_out", see [storage.Outcome]
	Outcome string `json:"outcome"`
	Undo    string `json:"undo"` // how much was undone: none, undone, partly or failed
	// A person must decide about it, see [storage.Run.NeedsPerson]
	Person     bool              `json:"needs_person,omitzero"`
	Key        string            `json:"key,omitempty"`        // key that it holds while it is open
	Parent     string            `json:"parent,omitempty"`     // id of the run that started it
	Continues  string            `json:"continues,omitempty"`  // id of the run whose work it continues
	Labels     map[string]string `json:"labels,omitempty"`     // labels of the run
	Input      atom.Value        `json:"input,omitempty"`      // input of the run
	Output     atom.Value        `json:"output,omitempty"`     // the result, once the run has succeeded
	Failure    *Failure          `json:"failure,omitempty"`    // why it failed, or was cancelled
	Definition string            `json:"definition,omitempty"` // hash of the stored definition that it runs
	Created    time.Time         `json:"created,omitzero"`     // when the run was created
	Started    time.Time         `json:"started,omitzero"`     // when it started
	Ended      time.Time         `json:"ended,omitzero"`       // when it ended
}

// RunOf returns the run as the JSON output shows it, with secrets masked.
func RunOf(run *storage.Run) Run {
	return Run{
		Run: run.ID, Flow: run.Flow, State: run.State.String(), Outcome: run.Outcome.String(),
		Undo: run.Undo.String(), Person: run.NeedsPerson(),
		Key: run.Key, Parent: run.Parent, Continues: run.Continues, Labels: run.Labels,
		Input: run.Secrets.Mask("", run.Input.Data), Output: run.Secrets.Mask("", run.Output.Data),
		Failure: FailureOf(run.Failure), Definition: run.Definition,
		Created: run.Created.UTC(), Started: run.Started.UTC(), Ended: run.Ended.UTC(),
	}
}

// An Atom describes an atom of a run in JSON, as `ebb show -o json` prints it. Secrets are masked. Times are in UTC.
type Atom struct {
	Path          string     `json:"path"`                     // place in the run, such as "Ship[3]/Pack#2"
	Kind          string     `json:"kind"`                     // task, retry, timer, fork, flow or run
	Run           string     `json:"run,omitempty"`            // id of the run that the latest attempt began
	State         string     `json:"state"`                    // a text of [states.Task], such as "SUCCESS"
	Status        string     `json:"status"`                   // what became of it, a text of [storage.Status]
	Incarnation   int        `json:"incarnation"`              // from 0, rises with each reset
	Attempt       int        `json:"attempt"`                  // how often it was tried in this incarnation
	Started       time.Time  `json:"started,omitzero"`         // start of the latest attempt
	Ended         time.Time  `json:"ended,omitzero"`           // end of the latest attempt
	Due           time.Time  `json:"due,omitzero"`             // when what it waits for ends
	Input         atom.Value `json:"input,omitempty"`          // input of the task
	Result        atom.Value `json:"result,omitempty"`         // what Execute returned
	Failure       *Failure   `json:"failure,omitempty"`        // of the latest failed attempt
	RevertResult  atom.Value `json:"revert_result,omitempty"`  // what Revert returned
	RevertFailure *Failure   `json:"revert_failure,omitempty"` // of the latest failed attempt to revert
	Progress      float64    `json:"progress,omitzero"`        // progress that the task reported, from 0 to 1
	Details       atom.Value `json:"details,omitempty"`        // details that the task reported with its progress
}

// AtomOf returns an atom of a run as the JSON output shows it, with secrets masked.
func AtomOf(run *storage.Run, a *storage.Atom) Atom {
	secrets, child := &run.Secrets, ""
	if a.Attempt > 0 {
		child, _ = backend.BegunBy(run.ID, a)
	}
	return Atom{
		Path: a.Path, Kind: kinds[a.Kind], Run: child, State: a.State.String(), Status: string(a.Status()),
		Incarnation: a.Incarnation, Attempt: a.Attempt,
		Started: a.StartedAt.UTC(), Ended: a.EndedAt.UTC(), Due: a.Due.UTC(),
		Input: secrets.Mask("", a.Input.Data), Result: secrets.Mask(a.Path, a.Result.Data), Failure: FailureOf(a.Failure),
		RevertResult: secrets.Mask(a.Path, a.RevertResult.Data), RevertFailure: FailureOf(a.RevertFailure),
		Progress: a.Progress, Details: secrets.Mask(a.Path, a.Details),
	}
}

var kinds = map[storage.AtomKind]string{
	storage.KindTask: "task", storage.KindRetry: "retry", storage.KindTimer: "timer", storage.KindFork: "fork",
	storage.KindFlow: "flow",
	storage.KindRun:  "run",
}

// An Entry is one line of `ebb history -o json`: a change of state of a run or an atom. Secrets are masked.
type Entry struct {
	Seq         int64      `json:"seq"`                   // number of the line, rising within the run
	Time        time.Time  `json:"time"`                  // of the commit, in UTC
	Kind        string     `json:"kind"`                  // "run", "atom" or "command"
	Path        string     `json:"path,omitempty"`        // path of the atom
	From        string     `json:"from"`                  // state before
	To          string     `json:"to"`                    // state after, a text of [storage.Status], or [Applied] …
	Incarnation int        `json:"incarnation,omitempty"` // of the atom
	Attempt     int        `json:"attempt,omitempty"`     // of the atom, or of its revert
	Failure     *Failure   `json:"failure,omitempty"`     // why it changed to a state of failure
	WaitedMS    int64      `json:"waited_ms,omitempty"`   // how long the attempt that ended waited for a free slot
	Result      atom.Value `json:"result,omitempty"`      // of the atom, when it succeeded
	Command     string     `json:"command,omitempty"`     // of kind "command": the command, such as "cancel"
	By          string     `json:"by,omitempty"`          // who gave it: the name of a key, or a claimed name
	Via         string     `json:"via,omitempty"`         // how: "command", "library", "console", "api" or "bulk"
	Claimed     bool       `json:"claimed,omitempty"`     // Ebb did not check the name
}

// The values of [Entry.To] for a command.
const (
	Applied = "applied" // the run took it
	Refused = "refused" // the run did not allow it
	Issued  = "issued"  // it was given to something without a history, such as a job
)

// EntryOf returns the line of the history as the JSON output shows it, with secrets masked.
func EntryOf(secrets *storage.Secrets, e *storage.Entry) Entry {
	j := Entry{
		Seq: e.Seq, Time: e.Time.UTC(), Kind: "atom", Path: e.Path, From: states.Task(e.From).String(),
		To:          states.Task(e.To).String(),
		Incarnation: e.Incarnation, Attempt: e.Attempt, Failure: FailureOf(e.Failure),
		Result: secrets.Mask(e.Path, e.Body.Data), WaitedMS: e.Waited.Milliseconds(),
	}
	switch e.Kind {
	case storage.EntryStays, storage.EntryMayStay:
		j.To = string(e.Status())
	case storage.EntryFlow:
		j.Kind, j.From, j.To = "run", states.Flow(e.From).String(), states.Flow(e.To).String()
	case storage.EntryCommand:
		j.Kind, j.From, j.To, j.Command = "command", "", Applied, e.Type
		if e.Failure != nil {
			j.To = Refused
		}
		if by := e.Issuer; by != nil {
			j.By, j.Via, j.Claimed = by.Name, string(by.Via), by.Name != "" && by.Claimed()
		}
	default: // an atom's states, as above
	}
	return j
}

// An Event is one line of `ebb history --events -o json`: the history in the terms of the run's language, such as the
// events of AWS Step Functions. Secrets are masked.
type Event struct {
	ID       int64      `json:"id"`                // number of the event in the run, from 1
	Previous int64      `json:"previous"`          // ID of the event that led to this one; 0 is none
	Time     time.Time  `json:"time"`              // of the commit, in UTC
	Type     string     `json:"type"`              // type in the language, such as "TaskStateEntered"
	State    string     `json:"state,omitempty"`   // name of the state that it is about
	Details  atom.Value `json:"details,omitempty"` // fields of the event, except the field in Key
	Key      string     `json:"key,omitempty"`     // name of the field of the details whose value is Body
	Body     atom.Value `json:"body,omitempty"`    // value of that field, such as an input
}

// EventOf returns the line of the history as an event of its language, as the JSON output shows it. Secrets are masked.
func EventOf(secrets *storage.Secrets, e *storage.Entry) Event {
	return Event{
		ID: e.Number, Previous: e.Prev, Time: e.Time.UTC(), Type: e.Type, State: e.Path,
		Details: secrets.Mask("", e.Details), Key: e.Key, Body: secrets.Mask("", e.Body.Data),
	}
}
