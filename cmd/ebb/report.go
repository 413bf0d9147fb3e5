package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
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

// reporter returns the one that fits where output goes to. t is what is known of
// the run so far.
func (s *session) reporter(t *tree) reporter {
	if f := s.out.terminal(); f != nil && s.output == asText {
		return newPainter(s.out.screen(), func() (int, int) { return sizeOf(f) }, t, s.page().colour)
	}
	return s.plainReporter()
}

// plainReporter returns the one for what is no terminal.
func (s *session) plainReporter() reporter {
	if s.output == asJSON {
		return &jsonReporter{out: newJSON(s.out), errs: s.err}
	}
	return &lineReporter{out: s.out, errs: s.err}
}

// noticef tells the user something beside the output.
func (s *session) noticef(format string, args ...any) {
	fmt.Fprintln(s.err, "ebb:", visible.Line(fmt.Sprintf(format, args...)))
}

// sizeOf returns the size of a terminal; one that does not tell has the usual.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width == 0 || height == 0 {
		return 80, 24
	}
	return width, height
}

// page returns how wide output may be, and whether it is coloured.
func (s *session) page() page {
	f := s.out.terminal()
	if f == nil {
		return page{}
	}
	width, _ := sizeOf(f)
	return page{width: width, colour: os.Getenv("NO_COLOR") == ""}
}

// A lineReporter writes a line for each change, but of those that are many.
type lineReporter struct {
	out, errs io.Writer
	many      tally
}

func (r *lineReporter) happened(ev engine.Event) {
	c, ok := observed(ev)
	if !ok || c.path == "" {
		return // the end is told by rested
	}
	instead, each := r.many.told(&c)
	if instead != "" {
		fmt.Fprintln(r.out, clock(c.at, time.TimeOnly), instead)
	}
	if !each {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", clock(c.at, time.TimeOnly), visible.Line(c.path), c.to)
	if c.to == "" {
		b.WriteString(strings.Join(said(c.progress, c.details), "  "))
	}
	if c.failure != nil {
		b.WriteString(" " + cause(c.failure))
	}
	if !c.due.IsZero() {
		b.WriteString(" until " + clock(c.due, time.TimeOnly))
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
	Event   string       `json:"event"` // "run" or "atom"
	Time    time.Time    `json:"time"`
	Run     string       `json:"run"`
	Path    string       `json:"path,omitempty"`
	From    string       `json:"from"`
	To      string       `json:"to"`
	Attempt int          `json:"attempt,omitempty"`
	Failure *jsonFailure `json:"failure,omitempty"`
	Due     time.Time    `json:"due,omitzero"`
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
	c, ok := observed(ev)
	if !ok {
		return
	}
	if c.to == "" {
		_ = r.out.Encode(jsonProgress{"progress", c.at.UTC(), ev.Run, c.path, c.attempt, c.progress, c.details})
		return
	}
	j := jsonChange{
		Event: "atom", Time: c.at.UTC(), Run: ev.Run, Path: c.path, From: ev.From, To: c.to, Attempt: c.attempt,
		Failure: failureJSON(c.failure), Due: c.due.UTC(),
	}
	if c.path == "" {
		j.Event = "run"
	}
	_ = r.out.Encode(j) // who reads the output may have gone; the run goes on
}

func (r *jsonReporter) notice(text string) { fmt.Fprintln(r.errs, "ebb:", visible.Line(text)) }

func (r *jsonReporter) stop() {}

func (r *jsonReporter) rested(run *storage.Run, status int) {
	_ = r.out.Encode(struct {
		Event string `json:"event"`
		jsonRun

		Exit int `json:"exit"`
	}{"end", runJSON(run), status})
}
