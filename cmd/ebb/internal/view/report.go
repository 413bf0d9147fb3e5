package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// A Reporter shows a run as it executes. Several goroutines may call its methods, but only one may call Happened.
type Reporter interface {
	// Happened reports a committed change.
	Happened(ev engine.Event)
	// Rested reports that the run has come to rest, the result of its undo, and the exit status of the command. It is
	// the last call.
	Rested(run *storage.Run, undo *inspect.Undo, status int)
	// Notice shows a text to the user.
	Notice(text string)
	// Stop ends the output; Rested may still follow. The tree is that of the run's records, if the run has ended; it may
	// be nil.
	Stop(t *inspect.Tree)
}

// notices implements Notice and Stop for reporters that only append.
type notices struct{ errs io.Writer }

// Notice implements [Reporter].
func (n notices) Notice(text string) { fmt.Fprintln(n.errs, "ebb:", visible.Line(text)) }

// Stop implements [Reporter].
func (n notices) Stop(*inspect.Tree) {}

// NewLines returns a reporter that writes a line for each change. It summarizes groups with many changes.
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
		return // Rested reports the end
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
		layout := time.TimeOnly
		if Clock(c.Due, time.DateOnly) != Clock(c.At, time.DateOnly) {
			layout = time.DateTime
		}
		b.WriteString(" until " + Clock(c.Due, layout))
	}
	fmt.Fprintln(r.out, b.String())
}

// Rested implements [Reporter].
func (r *lineReporter) Rested(run *storage.Run, undo *inspect.Undo, _ int) {
	End(r.out, run, undo, Page{})
}

// End prints the state of a run, the reason, and the result of its undo.
func End(out io.Writer, run *storage.Run, undo *inspect.Undo, p Page) {
	l := flowLook(run.State, inspect.Stopped(run))
	switch {
	case run.Failure == nil:
		fmt.Fprintln(out, visible.Line(run.ID), p.color(run.State.String(), l.color))
	case inspect.Stopped(run) && run.Failure.Message != "":
		fmt.Fprintf(out, "%s ended: %s (%s, cancelled)\n", visible.Line(run.ID), visible.Line(run.Failure.Message),
			p.color(run.State.String(), l.color))
	default:
		fmt.Fprintln(out, visible.Line(run.ID), p.color(run.State.String(), l.color), Cause(run.Failure))
	}
	if text := undo.String(); text != "" {
		fmt.Fprintln(out, visible.Line(text))
	}
	if output := run.Secrets.Mask("", run.Output.Data); run.State.Ended() && output != nil {
		fmt.Fprintln(out, valueOf(run, output))
	}
}

// valueOf returns a value as text, of which a page shows the beginning.
func valueOf(run *storage.Run, value atom.Value) string {
	const most = 2000 // longer values are for programs: ebb show -o json
	text := value.String()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "… (all of it: ebb show -o json " + visible.Line(run.ID) + ")"
	}
	return visible.Line(text)
}

// Left says in a line which atoms an undo that has stopped did not reach, the last first; "" if there are none.
func Left(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	text := visible.Line(strings.Join(paths[:min(len(paths), inspect.MaxShownOfGroup)], ", "))
	if len(paths) > inspect.MaxShownOfGroup {
		text += ", …"
	}
	return "not undone yet, last first: " + text + "\n"
}

// MendHint returns how to continue after an undo that failed, and because of which atom if that is known.
func MendHint(run *storage.Run, atom string) string {
	all, _ := inspect.MendCommands(run, "", false)
	if atom == "" {
		return fmt.Sprintf("%s retries the failed reverts, ebb why %s says more", all, visible.Word(run.ID))
	}
	_, skip := inspect.MendCommands(run, atom, false)
	return fmt.Sprintf("%s retries the failed reverts, %s counts it as undone", all, skip)
}
