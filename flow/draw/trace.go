package draw

import (
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/visible"
)

// A Trace explains the failure of a run: the steps that failed, their inputs, and the
// steps before them.
type Trace struct {
	Title string      // first line of the text, such as the run and how it ended
	Why   string      // why the run failed, if no step contains the reason; may be ""
	Roots []string    // IDs of the steps that failed, in the order in which they are shown
	Steps []TraceStep // the steps that failed, and those before them, in any order
}

// A TraceStep is one step of a run in a [Trace].
type TraceStep struct {
	ID     string       // names the step: unique among the steps, and shown; must not be ""
	State  string       // text of its state, such as "FAILURE"; gives the symbol
	Note   string       // shown after the state, such as the number of the attempt; may be ""
	Why    []string     // why it failed, and why its revert failed; each text may have several lines
	Stack  string       // stack of a panic in user code; may be ""
	In     []TraceValue // arguments of the step
	Out    string       // result of the step, as text; "" is not shown
	Before []string     // IDs of the steps directly before it; unknown IDs are ignored
}

// A TraceValue is an argument of a step in a [Trace].
type TraceValue struct {
	Name string // name of the argument; "" is shown as "input"
	Text string // value of the argument; long values are cut
}

// Limits of a shown trace, so that it stays readable.
const (
	//limit:shown steps that say why a run failed | {} | left out, such as what came before an early failure
	traceSteps    = 40
	traceBranches = 8   // steps directly before one
	traceValue    = 160 // characters of a value
	traceWhy      = 400 // characters of a line about a failure
	traceLines    = 12  // lines about a failure, and of a stack
)

// Explain formats a trace. Below each failed step it shows the steps directly before it, and so on. If several
// steps precede a step, they are branches. Each step is shown once, and long values are cut.
func Explain(t Trace) string {
	x := &explainer{steps: make(map[string]*TraceStep, len(t.Steps)), shown: map[string]bool{}}
	for i := range t.Steps {
		if x.steps[t.Steps[i].ID] == nil {
			x.steps[t.Steps[i].ID] = &t.Steps[i]
		}
	}
	x.line(oneLine(t.Title, traceWhy))
	for _, l := range lines(t.Why) {
		x.line("  " + l)
	}
	for _, id := range x.present(t.Roots) {
		if !x.shown[id] { // not yet shown before another step
			x.step(id, "", "")
		}
	}
	return x.out.String()
}

type explainer struct {
	out   strings.Builder
	steps map[string]*TraceStep
	shown map[string]bool
}

// traceSymbols are the symbols of steps, as in ebb show.
var traceSymbols = map[string]string{
	"PENDING": "·", "RUNNING": "▸", "SUCCESS": "✓", "FAILURE": "✗", "REVERTING": "↶", "REVERTED": "↶",
	"REVERT_FAILURE": "!", "IGNORE": "-", "RETRYING": "↻", "CANCELLED": "⊘",
	"STAYS_DONE": "◆", "MAY_STAY_DONE": "◇",
	Added: "+", Removed: "−", Changed: "≠",
}

// step shows a step and the steps before it. first is the prefix of its first line, rest of the others.
func (x *explainer) step(id, first, rest string) {
	for {
		s := x.steps[id]
		head := strings.TrimLeft(traceSymbols[s.State]+" ", " ") + oneLine(id, traceValue) + "  " + oneLine(s.State,
			traceValue)
		switch {
		case x.shown[id]:
			x.line(first + head + ", as above")
			return
		case len(x.shown) == traceSteps:
			x.line(first + "… and what came before")
			return
		}
		x.shown[id] = true
		if s.Note != "" {
			head += ", " + oneLine(s.Note, traceValue)
		}
		x.line(first + head)
		before := x.present(s.Before)
		bar := rest + "│   "
		if len(before) == 0 {
			bar = rest + "    "
		}
		x.details(s, bar)
		if len(before) != 1 {
			x.branches(before, rest)
			return
		}
		id, first = before[0], rest
	}
}

// details shows how a step failed, its arguments and its result.
func (x *explainer) details(s *TraceStep, bar string) {
	for _, why := range s.Why {
		for _, l := range lines(why) {
			x.line(bar + l)
		}
	}
	for _, l := range lines(s.Stack) {
		x.line(bar + "  " + l)
	}
	for _, in := range s.In {
		name := in.Name
		if name == "" {
			name = "input"
		}
		x.line(bar + oneLine(name, traceValue) + " = " + oneLine(in.Text, traceValue))
	}
	if s.Out != "" {
		x.line(bar + "→ " + oneLine(s.Out, traceValue))
	}
}

// branches shows the steps directly before a step, if there are several.
func (x *explainer) branches(before []string, rest string) {
	more := len(before) - traceBranches
	if more > 0 {
		before = before[:traceBranches]
	}
	for i, id := range before {
		if i == len(before)-1 && more <= 0 {
			x.step(id, rest+"└─ ", rest+"   ")
		} else {
			x.step(id, rest+"├─ ", rest+"│  ")
		}
	}
	if more > 0 {
		x.line(rest + "└─ … and " + strconv.Itoa(more) + " more")
	}
}

// present returns the IDs for which there are steps, each once.
func (x *explainer) present(ids []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, id := range ids {
		if x.steps[id] != nil && !seen[id] {
			seen[id] = true
			list = append(list, id)
		}
	}
	return list
}

func (x *explainer) line(s string) {
	x.out.WriteString(strings.TrimRight(s, " ") + "\n")
}

// lines returns the lines of a text, up to the limit of a trace.
func lines(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	list := strings.SplitN(text, "\n", traceLines+1)
	if len(list) > traceLines {
		list[traceLines] = "…"
	}
	for i, l := range list {
		list[i] = oneLine(l, traceWhy)
	}
	return list
}

// oneLine returns a text on one line, without control characters, and cut.
func oneLine(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			s = s[:i] + "…"
			break
		}
	}
	return visible.Line(s)
}
