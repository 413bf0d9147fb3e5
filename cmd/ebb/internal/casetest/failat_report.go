package casetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/visible"
)

// maxStories is how many failures with the same outcome the text names.
const maxStories = 4

// AddFailAt adds what failures and crashes of the case came to.
func (r *Result) AddFailAt(f *FailAt) {
	r.FailAt = f
	r.Passed = r.Passed && f.Bad() == 0
}

// outcome says what the failure or crash leaves. Iterations and visits of a state are not told apart.
func (f *Finding) outcome() string {
	text := f.Status
	if f.Wrong != "" {
		text += ". " + f.Wrong
	}
	if len(f.StaysDone) == 0 {
		return text
	}
	var names []string
	for _, path := range f.StaysDone {
		names = append(names, stateOf(path))
	}
	slices.Sort(names)
	return text + "; stays done: " + strings.Join(slices.Compact(names), ", ")
}

// plainly makes the name of a failure or crash a clause.
var plainly = strings.NewReplacer(
	"/before_effect_once", " fails once", "/before_effect_", " fails with ", "/before_effect", " fails",
	"/unknown_after_effect", " times out", "_fails_", " fails with ", "_fails/", " fails, ", "_once/", " once, ",
	"_once", " once", "crash_after_commit_", "crash after commit ", "crash_after_effect_of_", "crash after ",
	"crash_after_undo_of_", "crash after the undo of ", "crash_before_commit_", "crash before commit ",
)

// text says how much was tried and, for each outcome, after which failures and crashes.
func (f *FailAt) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "--fail-at: %s and crashes tried, %s\n", count(f.Tried, "failure"), count(len(f.Findings), "finding"))
	if f.Skipped != "" {
		b.WriteString("not tried: " + visible.Line(f.Skipped) + "\n")
	}
	after := map[string][]string{}
	var order []string
	for i := range f.Findings {
		outcome := f.Findings[i].outcome()
		if after[outcome] == nil {
			order = append(order, outcome)
		}
		after[outcome] = append(after[outcome], plainly.Replace(f.Findings[i].Name))
	}
	for _, outcome := range order {
		names, more := after[outcome], ""
		if len(names) > maxStories {
			more = fmt.Sprintf(" and %d more", len(names)-maxStories)
		}
		list := strings.Join(names[:min(len(names), maxStories)], ", or ") + more
		b.WriteString(visible.Line("if "+list+": "+cmp.Or(outcome, "unknown")) + "\n")
	}
	return b.String()
}
