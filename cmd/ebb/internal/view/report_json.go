package view

import (
	"encoding/json"
	"io"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// NewJSON returns an encoder that writes one object on each line, with only the escapes that JSON needs.
func NewJSON(out io.Writer) *json.Encoder {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc
}

// NewObjects returns a reporter that writes a JSON object for each change, and one for the end.
func NewObjects(out, errs io.Writer) Reporter { return &objectReporter{notices{errs}, NewJSON(out)} }

type objectReporter struct {
	notices

	out *json.Encoder
}

// jsonChange is a change in JSON; the keys are stable.
type jsonChange struct {
	Event   string           `json:"event"` // "run" or "atom"
	Time    time.Time        `json:"time"`
	Run     string           `json:"run"`
	Path    string           `json:"path,omitempty"`
	From    string           `json:"from"`
	To      string           `json:"to"`
	Attempt int              `json:"attempt,omitempty"`
	Failure *inspect.Failure `json:"failure,omitempty"`
	Due     time.Time        `json:"due,omitzero"`
}

// jsonProgress is the progress of an atom; the keys are stable.
type jsonProgress struct {
	Event    string     `json:"event"` // "progress"
	Time     time.Time  `json:"time"`
	Run      string     `json:"run"`
	Path     string     `json:"path"`
	Attempt  int        `json:"attempt"`
	Progress float64    `json:"progress"` // from 0 to 1
	Details  atom.Value `json:"details,omitempty"`
}

// Happened implements [Reporter].
func (r *objectReporter) Happened(ev engine.Event) {
	c, ok := inspect.Observed(ev)
	if !ok {
		return
	}
	if c.To == "" {
		_ = r.out.Encode(jsonProgress{"progress", c.At.UTC(), ev.Run, c.Path, c.Attempt, c.Progress, c.Details})
		return
	}
	j := jsonChange{
		Event: "atom", Time: c.At.UTC(), Run: ev.Run, Path: c.Path, From: ev.From, To: c.To, Attempt: c.Attempt,
		Failure: inspect.FailureOf(c.Failure), Due: c.Due.UTC(),
	}
	if c.Path == "" {
		j.Event = "run"
	}
	_ = r.out.Encode(j) // the reader of the output may have gone; the run continues
}

// Rested implements [Reporter].
func (r *objectReporter) Rested(run *storage.Run, undo *inspect.Undo, status int) {
	_ = r.out.Encode(struct {
		Event string `json:"event"`
		inspect.Run

		Undone      int      `json:"undone,omitempty"`        // number of atoms that were reverted
		Stuck       []string `json:"undo_failed,omitempty"`   // atoms whose revert failed, at most 100
		StaysDone   []string `json:"stays_done,omitempty"`    // atoms that stay done, at most 100
		MayStayDone []string `json:"may_stay_done,omitempty"` // atoms that may stay done, at most 100
		Exit        int      `json:"exit"`
	}{"end", inspect.RunOf(run), undo.Undone, undo.Stuck.First, undo.StaysDone.First, undo.MayStayDone.First, status})
}
