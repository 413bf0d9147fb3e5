package casetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
)

// judge returns the differences between a run and what its case expects.
func judge(c *Case, out *played) []Mismatch {
	e := &c.Expect
	if out.problem != "" {
		return []Mismatch{mismatchf(c.At, "the run did not come to rest: %s", out.problem)}
	}
	var all []Mismatch
	for _, why := range out.missing {
		all = append(all, mismatchf(c.At, "%s: give its answer under mocks", why))
	}
	if len(all) > 0 { // the rest follows from that
		if len(out.others) > 0 {
			all = append(all, mismatchf(c.At, "not reached, and without a mock: %s", strings.Join(out.others, ", ")))
		}
		return all
	}
	all = append(all, judgeEnd(e, out)...)
	all = append(all, judgeOutput(e, out)...)
	if e.Path != nil {
		all = append(all, judgeNames("path", e.Path, out.path)...)
	}
	if e.Undone != nil {
		all = append(all, judgeNames("undone", e.Undone, out.undone(e.Undone))...)
	}
	if e.Duration != nil {
		want, _ := parseDuration(e.Duration.Text) // the decoder has checked it
		if got := out.took.Round(time.Millisecond); got != want.Round(time.Millisecond) {
			all = append(all, mismatchf(e.Duration.Place, "duration: want %v, got %v", want, got))
		}
	}
	all = append(all, judgeCalls(e, out)...)
	slices.SortStableFunc(all, func(a, b Mismatch) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return all
}

// judgeEnd compares how the run ended. Unless the case expects another end, the run must succeed.
func judgeEnd(e *Expectation, out *played) []Mismatch {
	var all []Mismatch
	got, code, cause := out.status(), "", ""
	if f := out.run.Failure; f != nil {
		code, cause = f.Code, f.Message
	}
	ended := got
	if code != "" {
		ended += " (" + strings.TrimSuffix(code+": "+show(cause), `: ""`) + ")"
	}
	switch {
	case e.Status != nil && e.Status.Text != got:
		all = append(all, mismatchf(e.Status.Place, "status: want %s, got %s", e.Status.Text, ended))
	case e.Status == nil && e.Error == nil && e.Cause == nil && got != statusSuccess:
		all = append(all, mismatchf(e.At, "status: want %s, got %s", statusSuccess, ended))
	}
	if e.Error != nil && e.Error.Text != code {
		all = append(all, mismatchf(e.Error.Place, "error: want %s, got %s", e.Error.Text, ended))
	}
	if e.Cause != nil && e.Cause.Text != cause {
		all = append(all, mismatchf(e.Cause.Place, "cause: want %s, got %s", strconv.Quote(e.Cause.Text),
			strconv.Quote(cause)))
	}
	return all
}

func judgeOutput(e *Expectation, out *played) []Mismatch {
	if e.Output == nil && e.Includes == nil {
		return nil
	}
	output := out.run.Output.Data
	if output == nil {
		at := e.Output
		if at == nil {
			at = e.Includes
		}
		return []Mismatch{mismatchf(at.Place, "output: there is none, the run is %s", out.status())}
	}
	var all []Mismatch
	tree := decoded(output)
	if e.Output != nil {
		all = compare(e.Output, tree, "output", true)
	}
	at := e.Output
	if e.Includes != nil {
		all, at = append(all, compare(e.Includes, tree, "output", false)...), e.Includes
	}
	if len(all) > 0 {
		all = append(all, mismatchf(at.Place, "the output is %s", show(tree)))
	}
	return all
}

// undone returns the states whose work was undone, in order. A state has the exact name if the expectation names it so.
func (out *played) undone(want *document.Document) []string {
	var names []string
	for _, call := range out.calls {
		if !call.Revert || !call.ended || call.err != nil {
			continue
		}
		name := call.names[0]
		if n := len(names); n < len(want.Items) && want.Items[n].Text == call.exact {
			name = call.exact
		}
		names = append(names, name)
	}
	return names
}

// judgeCalls compares the calls of each state that the case names.
func judgeCalls(e *Expectation, out *played) []Mismatch {
	var all []Mismatch
	next := map[string]int{} // by state: how many of its calls were compared
	last := map[string]*Call{}
	for i := range e.Calls {
		want := &e.Calls[i]
		last[want.State] = want
		calls := out.callsOf(want.State)
		for range want.Times {
			n := next[want.State]
			if next[want.State]++; n >= len(calls) {
				all = append(all, mismatchf(want.At, "calls: want call %d of %s, but it was called %s", n+1, want.State,
					times(len(calls))))
				break
			}
			at, got := fmt.Sprintf("call %d of %s: input", n+1, want.State), decoded(calls[n].input)
			if want.Input != nil {
				all = append(all, compare(want.Input, got, at, true)...)
			}
			if want.Includes != nil {
				all = append(all, compare(want.Includes, got, at, false)...)
			}
		}
	}
	for i := range e.Calls {
		want := &e.Calls[i]
		if calls := out.callsOf(want.State); last[want.State] == want && len(calls) > next[want.State] {
			n := next[want.State]
			all = append(all, mismatchf(want.At, "calls: want %s of %s, got %s; the next has the input %s", times(n), want.State,
				times(len(calls)), show(decoded(calls[n].input))))
		}
	}
	return all
}

// callsOf returns the calls of a state's task, without the calls that undo.
func (out *played) callsOf(name string) []*made {
	var calls []*made
	for _, call := range out.calls {
		if !call.Revert && call.is(name) {
			calls = append(calls, call)
		}
	}
	return calls
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return strconv.Itoa(n) + " times"
}
