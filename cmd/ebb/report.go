package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A reporter shows a run while it happens. Its methods may be called by several
// goroutines, happened by one only.
type reporter interface {
	// happened tells of a change that was committed.
	happened(ev engine.Event)
	// rested tells that the run has come to rest, and with which status the
	// command will exit. It is the last call.
	rested(run *storage.Run, status int)
	// notice tells the user something meanwhile.
	notice(text string)
	// stop ends the showing; rested may still follow.
	stop()
}

// A lineReporter writes a line for each change, but of those that are many.
type lineReporter struct {
	out, errs io.Writer
	many      tally
}

func (r *lineReporter) happened(ev engine.Event) {
	c, ok := inspect.Observed(ev)
	if !ok || c.Path == "" {
		return // the end is told by rested
	}
	instead, each := r.many.told(&c)
	if instead != "" {
		fmt.Fprintln(r.out, clock(c.At, time.TimeOnly), instead)
	}
	if !each {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", clock(c.At, time.TimeOnly), visible.Line(c.Path), c.To)
	if c.To == "" {
		b.WriteString(strings.Join(said(c.Progress, c.Details), "  "))
	}
	if c.Failure != nil {
		b.WriteString(" " + cause(c.Failure))
	}
	if !c.Due.IsZero() {
		b.WriteString(" until " + clock(c.Due, time.TimeOnly))
	}
	fmt.Fprintln(r.out, b.String())
}

func (r *lineReporter) notice(text string) { fmt.Fprintln(r.errs, "ebb:", visible.Line(text)) }

func (r *lineReporter) stop() {}

func (r *lineReporter) rested(run *storage.Run, _ int) { writeEnd(r.out, run, page{}) }

// writeEnd says how a run stands, and why.
func writeEnd(out io.Writer, run *storage.Run, p page) {
	l := flowLooks[run.State]
	fmt.Fprint(out, visible.Line(run.ID), " ", p.color(run.State.String(), l.colour))
	if run.Failure != nil {
		fmt.Fprint(out, " ", cause(run.Failure))
	}
	fmt.Fprintln(out)
	if output := run.Secrets.Mask("", run.Output.Data); run.State.Ended() && output != nil {
		const most = 2000 // what is longer is for programs: ebb show -o json
		text := output.String()
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "… (all of it: ebb show -o json " + visible.Line(run.ID) + ")"
		}
		fmt.Fprintln(out, visible.Line(text))
	}
}

// A jsonReporter writes an object for each change, and one for the end.
type jsonReporter struct {
	out  *json.Encoder
	errs io.Writer
}

func newJSON(out io.Writer) *json.Encoder {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return enc
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

// jsonProgress says how far an atom is; the keys are stable.
type jsonProgress struct {
	Event    string     `json:"event"` // "progress"
	Time     time.Time  `json:"time"`
	Run      string     `json:"run"`
	Path     string     `json:"path"`
	Attempt  int        `json:"attempt"`
	Progress float64    `json:"progress"` // from 0 to 1
	Details  atom.Value `json:"details,omitempty"`
}

func (r *jsonReporter) happened(ev engine.Event) {
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
	_ = r.out.Encode(j) // who reads the output may have gone; the run goes on
}

func (r *jsonReporter) notice(text string) { fmt.Fprintln(r.errs, "ebb:", visible.Line(text)) }

func (r *jsonReporter) stop() {}

func (r *jsonReporter) rested(run *storage.Run, status int) {
	_ = r.out.Encode(struct {
		Event string `json:"event"`
		inspect.Run

		Exit int `json:"exit"`
	}{"end", inspect.RunOf(run), status})
}
