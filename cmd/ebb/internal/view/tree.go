package view

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
)

// A row is a line of a tree, in columns.
type row struct {
	head   string // tree lines, symbol and name
	look   look
	state  string
	took   string
	detail string
}

// Tree returns the lines that show a run at a given time. The result depends only on the arguments.
func Tree(t *inspect.Tree, now time.Time, p Page) []string {
	var rows []row
	rows = below(&t.Top, rows, "", now)
	lines := append([]string{p.title(t, now)}, p.table(rows)...)
	if len(t.Undone) == 0 {
		return lines
	}
	rows = rows[:0]
	for i, s := range t.Undone {
		if i == inspect.KeptUndone/2 && t.Forgotten > 0 {
			rows = append(rows,
				row{head: "  …", detail: fmt.Sprintf("%d more (ebb history %s)", t.Forgotten, visible.Word(t.Run))})
		}
		rows = append(rows, undoRow(s, now))
	}
	return append(append(lines, p.color("undone, last first", dim)), p.table(rows)...)
}

func (p Page) title(t *inspect.Tree, now time.Time) string {
	l := flowLook(t.State, t.Stopped)
	text := l.symbol + " " + visible.Line(t.Flow+"  "+t.Run) + "  "
	end := t.Ended
	if end.IsZero() {
		end = now
	}
	took := ""
	if !t.Began.IsZero() {
		took = "  " + Span(end.Sub(t.Began))
	}
	return p.color(p.Cut(text), bold) + p.color(t.State.String(), l.color) + took
}

// rowsOf appends the rows of a step and all below it.
func rowsOf(s *inspect.Step, rows []row, indent string, last bool, now time.Time) []row {
	branch, under := "├ ", "│ "
	if last {
		branch, under = "└ ", "  "
	}
	l := lookOf(s)
	r := row{
		head: indent + branch + l.symbol + " " + visible.Line(s.Name), look: l, state: string(s.Status()),
		detail: detail(s, now),
	}
	switch {
	case s.Inner && s.State == states.TaskPending:
		r.state = ""
	case s.Kind != "" && s.Ended.Equal(s.Began): // it only computes
	case !s.Began.IsZero() && !s.Ended.IsZero():
		r.took = Span(s.Took(now))
	case !s.Began.IsZero() && s.State == states.TaskRunning && !s.Timer:
		r.took = Span(s.Took(now))
	}
	return below(s, append(rows, r), indent+under, now)
}

// below appends the rows of all below a step.
func below(s *inspect.Step, rows []row, indent string, now time.Time) []row {
	shown, rest := s.Shown()
	for i, c := range shown {
		rows = rowsOf(c, rows, indent, rest == "" && i == len(shown)-1, now)
	}
	if rest != "" {
		rows = append(rows, row{head: indent + "└ …", detail: rest})
	}
	return rows
}

// detail returns further details of a step.
func detail(s *inspect.Step, now time.Time) string {
	var parts []string
	switch {
	case s.State == states.TaskRetrying:
		parts = append(parts, fmt.Sprintf("attempt %d in %s", s.Attempt+1, left(s.Due, now)))
	case s.Timer && s.State == states.TaskRunning && !s.Due.IsZero():
		parts = append(parts, left(s.Due, now)+" left")
	case s.Attempt > 1 && !s.Timer:
		parts = append(parts, fmt.Sprintf("attempt %d", s.Attempt))
	}
	parts = append(parts, s.Waits()...)
	if s.State == states.TaskRunning {
		parts = append(parts, said(s.Progress, s.Details)...)
	}
	if s.Next != "" && s.Kind == "Choice" {
		parts = append(parts, "→ "+visible.Line(s.Next))
	}
	switch {
	case s.Stays != "":
		parts = append(parts, "no Revert")
	case s.Earlier:
		parts = append(parts, "an earlier execution stays done")
	}
	if cause := s.Cause(); cause != nil {
		parts = append(parts, Cause(cause))
	}
	return strings.Join(parts, "  ")
}

// said formats the progress that a task reported.
func said(fraction float64, details atom.Value) []string {
	var parts []string
	if fraction > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*fraction))
	}
	if details != nil {
		text := details.String()
		_ = details.Decode(&text) // a value that is not a text is shown as JSON
		parts = append(parts, Page{Width: 60}.Cut(visible.Line(text)))
	}
	return parts
}

// undoRow returns the row for the undo of a step.
func undoRow(s *inspect.Step, now time.Time) row {
	l := stepLooks[s.State]
	r := row{head: "  " + l.symbol + " " + visible.Line(s.Path), look: l, state: s.State.String()}
	if took := s.Undo.Took(now); !s.Undo.Began.IsZero() && (took > 0 || s.State != states.TaskReverting) {
		r.took = Span(took)
	}
	r.detail = strings.Join(undoDetail(s, now), "  ")
	return r
}

// undoDetail returns further details of the undo of a step.
func undoDetail(s *inspect.Step, now time.Time) []string {
	var parts []string
	switch {
	case s.State == states.TaskReverting && s.Due.After(now):
		parts = append(parts, fmt.Sprintf("attempt %d in %s", s.UndoTry, left(s.Due, now)))
	case s.UndoTry > 1:
		parts = append(parts, fmt.Sprintf("attempt %d", s.UndoTry))
	}
	parts = append(parts, s.Undo.Waits()...)
	switch s.State {
	case states.TaskReverting:
		parts = append(parts, said(s.Progress, s.Details)...)
	case states.TaskReverted:
		if !s.Skipped {
			return parts
		}
		parts = append(parts, "skipped")
	default:
	}
	if s.UndoFail != nil {
		parts = append(parts, Cause(s.UndoFail))
	}
	return parts
}

// table lays rows out in columns.
func (p Page) table(rows []row) []string {
	var head, state, took int
	for _, r := range rows {
		head = max(head, utf8.RuneCountInString(r.head))
		state, took = max(state, len(r.state)), max(took, len(r.took))
	}
	lines := make([]string, len(rows))
	for i, r := range rows {
		text := fmt.Sprintf("%-*s  %-*s  %*s  %s", head, r.head, state, r.state, took, r.took, r.detail)
		lines[i] = p.color(p.Cut(strings.TrimRight(text, " ")), r.look.color)
	}
	return lines
}
