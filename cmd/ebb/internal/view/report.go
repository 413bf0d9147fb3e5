package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A Reporter shows a run while it happens. Its methods may be called by several
// goroutines, Happened by one only.
type Reporter interface {
	// Happened tells of a change that was committed.
	Happened(ev engine.Event)
	// Rested tells that the run has come to rest, and with which status the
	// command will exit. It is the last call.
	Rested(run *storage.Run, status int)
	// Notice tells the user something meanwhile.
	Notice(text string)
	// Stop ends the showing; Rested may still follow.
	Stop()
}

// notices is what those reporters share that write one thing behind the other.
type notices struct{ errs io.Writer }

// Notice implements [Reporter].
func (n notices) Notice(text string) { fmt.Fprintln(n.errs, "ebb:", visible.Line(text)) }

// Stop implements [Reporter].
func (n notices) Stop() {}

// NewLines returns a reporter that writes a line for each change, but of those that are many.
func NewLines(out, errs io.Writer) Reporter { return &lineReporter{notices{errs}, out, tally{}} }

type lineReporter struct {
	notices

	out  io.Writer
	many tally
}

// Happened implements [Reporter].
func (r *lineReporter) Happened(ev engine.Event) {
	c, ok := inspect.Observed(ev)
	if !ok || c.Path == "" {
		return // the end is told by Rested
	}
	instead, each := r.many.told(&c)
	if instead != "" {
		fmt.Fprintln(r.out, Clock(c.At, time.TimeOnly), instead)
	}
	if !each {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", Clock(c.At, time.TimeOnly), visible.Line(c.Path), c.To)
	if c.To == "" {
		b.WriteString(strings.Join(said(c.Progress, c.Details), "  "))
	}
	if c.Failure != nil {
		b.WriteString(" " + Cause(c.Failure))
	}
	if !c.Due.IsZero() {
		b.WriteString(" until " + Clock(c.Due, time.TimeOnly))
	}
	fmt.Fprintln(r.out, b.String())
}

// Rested implements [Reporter].
func (r *lineReporter) Rested(run *storage.Run, _ int) { End(r.out, run, Page{}) }

// End says how a run stands, and why.
func End(out io.Writer, run *storage.Run, p Page) {
	l := flowLooks[run.State]
	fmt.Fprint(out, visible.Line(run.ID), " ", p.color(run.State.String(), l.colour))
	if run.Failure != nil {
		fmt.Fprint(out, " ", Cause(run.Failure))
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
