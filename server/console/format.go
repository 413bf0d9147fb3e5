package console

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/engine/inspect/runfilter"
	"github.com/ebbflow/ebb/internal/visible"
)

// functions are what templates call.
var functions = template.FuncMap{
	"ago": ago, "span": inspect.Span, "symbol": symbol, "class": class, "clock": clock, "line": visible.Line,
	"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) }, "address": address,
	"views": func() []string { return []string{"tree", "graph", "timeline", "undo", "history"} }, "rows": newRunTable,
	"childrenOf": childrenOf,
}

// childrenOf returns the filter of the runs that a run has started.
func childrenOf(run string) (string, error) {
	f, err := runfilter.Term("parent", run)
	return f.String(), err
}

// symbols are shown beside the texts of states, so that color is never the only signal.
var symbols = map[string]string{
	"PENDING": "·", "RUNNING": "▸", "RESUMING": "▸", "SUCCESS": "✓", "FAILURE": "✗", "REVERTING": "↶", "REVERTED": "↶",
	"REVERT_FAILURE": "!", "IGNORE": "-", "RETRYING": "↻", "CANCELLED": "⊘", "STAYS_DONE": "◆", "MAY_STAY_DONE": "◇",
	"SUSPENDED": "‖", "SUSPENDING": "‖",
}

func symbol(state string) string { return symbols[state] }

// class returns the style class of a state.
func class(state string) string {
	if symbols[state] == "" {
		return "s-none"
	}
	return "s-" + strings.ToLower(strings.ReplaceAll(state, "_", "-"))
}

// ago describes how long ago a time was, in one unit.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "–"
	}
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return inspect.Span(d.Truncate(time.Second)) + " ago"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min ago"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + " h ago"
	default:
		return t.UTC().Format(time.DateOnly)
	}
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// address returns a page with a query, of names and values in turn; empty values are left out.
func address(name string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return name
	}
	return name + "?" + q.Encode()
}

// A runTable is what the template of a table of runs receives.
type runTable struct {
	Rows []runRow
	Now  time.Time
}

func newRunTable(rows []runRow, now time.Time) runTable { return runTable{rows, now} }
