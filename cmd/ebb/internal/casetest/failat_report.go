package casetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/internal/visible"
)

// maxStories is how many failures with the same outcome the report names.
const maxStories = 4

// AddFailAt adds the result of the failures and crashes that were tried on the case.
func (r *Result) AddFailAt(f *FailAt) {
	r.FailAt = f
	r.Passed = r.Passed && f.Bad() == 0
}

// outcome describes what the failure or crash leaves. It names states without the numbers of visits and iterations.
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
		names = append(names, nodepath.Unnumbered(path))
	}
	slices.Sort(names)
	return text + "; stays done: " + strings.Join(slices.Compact(names), ", ")
}

// plainly turns the name of a failure or crash into a clause.
var plainly = strings.NewReplacer(
	"/before_effect_once", " fails once", "/before_effect_", " fails with ", "/before_effect", " fails",
	"/unknown_after_effect", " times out", "_fails_", " fails with ", "_fails/", " fails, ", "_once/", " once, ",
	"_once", " once", "crash_after_commit_", "crash after commit ", "crash_after_effect_of_", "crash after ",
	"crash_after_undo_of_", "crash after the undo of ", "crash_before_commit_", "crash before commit ",
)

// text describes how many failures and crashes were tried and, for each outcome, which of them led to it.
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
