package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/visible"
)

// visitValue is how many bytes of a value are shown.
//
//limit:shown `ebb show --state`: bytes of a value | {} | `-o json`
const visitValue = 2000

// Visit writes a visit of a state for people.
func Visit(out io.Writer, v *inspect.Visit, p Page) {
	l := lookOfStatus(cmp.Or(v.Undo, v.Status))
	head := fmt.Sprintf("%s %s  %s  %s", l.symbol, visible.Line(v.Path), v.Type, v.Status)
	if v.Caught {
		head += ", caught"
	}
	if v.Undo != "" {
		head += ", then " + v.Undo
	}
	if took := spent(v.Started, v.Ended); took != "" {
		if head += "  " + took; len(v.Attempts) > 1 {
			head += " in all" // with the pauses between the attempts
		}
	}
	if v.Entered > 0 {
		head += fmt.Sprintf("  event %d", v.Entered)
	}
	fmt.Fprintln(out, p.color(head, l.color))
	visitLine(out, "input", v.Input)
	visitLine(out, "sees", v.Sees)
	for i := range v.Attempts {
		a := &v.Attempts[i]
		name := fmt.Sprint("attempt ", a.Attempt)
		if took := spent(a.Started, a.Ended); took != "" {
			name += ", " + took
		}
		if visitLine(out, name, a.Input); len(a.Input) == 0 && len(v.Attempts) > 1 {
			fmt.Fprintf(out, "  %s\n", name)
		}
		visitFailure(out, a.Failure)
	}
	for i := range v.Calls {
		visitCall(out, v, &v.Calls[i])
	}
	visitLine(out, "result", v.Result)
	visitLine(out, "variables", v.Variables)
	visitLine(out, "output", v.Output)
	if n := len(v.Attempts); n == 0 || v.Failure != nil && (v.Attempts[n-1].Failure == nil ||
		*v.Failure != *v.Attempts[n-1].Failure) {
		visitFailure(out, v.Failure)
	}
}

// visitCall writes a call that a state made.
func visitCall(out io.Writer, v *inspect.Visit, a *inspect.Atom) {
	name := strings.TrimPrefix(a.Path, nodepath.Escape(v.State)+"/") + " " + a.Status
	if a.Attempt > 1 {
		name += fmt.Sprintf(", attempt %d", a.Attempt)
	}
	fmt.Fprintf(out, "  %s\n", visible.Line(name))
	visitLine(out, "  input", a.Input)
	visitLine(out, "  result", a.Result)
	if a.Failure != nil {
		fmt.Fprint(out, "  ")
		visitFailure(out, a.Failure)
	}
}

func spent(from, to time.Time) string {
	if to.IsZero() || to.Equal(from) {
		return ""
	}
	return Span(to.Sub(from))
}

func visitLine(out io.Writer, name string, v atom.Value) {
	if len(v) == 0 {
		return
	}
	text := v.String()
	if len(text) > visitValue {
		text = strings.ToValidUTF8(text[:visitValue], "") + "… (all of it: -o json)"
	}
	fmt.Fprintf(out, "  %s: %s\n", name, visible.Line(text))
}

func visitFailure(out io.Writer, f *inspect.Failure) {
	if f != nil {
		fmt.Fprintf(out, "  failed: %s\n", Cause(&atom.Failure{Code: f.Code, Message: f.Message}))
	}
}
