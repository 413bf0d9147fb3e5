package view

import (
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A look is the symbol and color of a state.
type look struct {
	symbol string
	color  string // parameters of the ANSI sequence
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	blue   = "36"
	purple = "35"
	dim    = "2"
	bold   = "1"
)

var stepLooks = map[states.Task]look{
	states.TaskPending:       {"·", dim},
	states.TaskRunning:       {"▸", blue},
	states.TaskSuccess:       {"✓", green},
	states.TaskFailure:       {"✗", red},
	states.TaskReverting:     {"↶", yellow},
	states.TaskReverted:      {"↶", dim},
	states.TaskRevertFailure: {"!", red},
	states.TaskIgnore:        {"-", dim},
	states.TaskRetrying:      {"↻", yellow},
	states.TaskCancelled:     {"⊘", dim},
}

// stayLooks are the looks of steps that nothing reverts, and that the undo passed.
var stayLooks = map[storage.Status]look{
	storage.StatusStaysDone:   {"◆", purple},
	storage.StatusMayStayDone: {"◇", purple},
}

// lookOf returns the look of a step.
func lookOf(s *inspect.Step) look {
	if l, ok := stayLooks[s.Stays]; ok {
		return l
	}
	return stepLooks[s.State]
}

// lookOfStatus returns the look of a status.
func lookOfStatus(status string) look {
	if l, ok := stayLooks[storage.Status(status)]; ok {
		return l
	}
	var state states.Task
	_ = state.UnmarshalText([]byte(status)) // a status that is no state has no look
	return stepLooks[state]
}

var flowLooks = map[states.Flow]look{
	states.FlowSuccess:    {"✓", green},
	states.FlowFailure:    {"✗", red},
	states.FlowReverted:   {"↶", yellow},
	states.FlowSuspending: {"‖", yellow},
	states.FlowSuspended:  {"‖", yellow},
}

// flowLook returns the look of a run in a state. For stopped, see [inspect.Stopped].
func flowLook(state states.Flow, stopped bool) look {
	l, ok := flowLooks[state]
	switch {
	case stopped:
		return look{"■", yellow}
	case !ok:
		return look{"▸", blue}
	default:
		return l
	}
}

// A Page is the width of lines, and whether they are colored. The zero page is plain and has no limit.
type Page struct {
	Width int
	Color bool
}

// Cut shortens a line to the page's width.
func (p Page) Cut(line string) string {
	if p.Width < 2 || utf8.RuneCountInString(line) < p.Width {
		return line
	}
	return string([]rune(line)[:p.Width-2]) + "…"
}

func (p Page) color(text, color string) string {
	if !p.Color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// Cause formats a failure on one line.
func Cause(f *atom.Failure) string { return inspect.Cause(f) }

// Clock formats a time in the user's time zone. JSON output uses UTC.
func Clock(t time.Time, layout string) string {
	return t.Local().Format(layout) //nolint:gosmopolitan // the user's own zone is meant
}

// Span formats a duration for people.
func Span(d time.Duration) string { return inspect.FormatDuration(d) }

// left returns the time until due, see [inspect.TimeLeft].
func left(due, now time.Time) string { return inspect.TimeLeft(due, now) }
