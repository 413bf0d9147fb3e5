package console

import (
	"context"
	"slices"
)

// A Finding is what a check of the database has found.
type Finding struct {
	Check string // what was checked
	State string // ok, warning or wrong
	Says  string
	Do    string // what to do about it; "" if nothing is to be done
}

// urgency orders findings on the page.
var urgency = map[string]int{"wrong": -2, "warning": -1}

// doctor shows what the checks of the database find.
func (c *console) doctor(ctx context.Context, _ *visit) (node, error) {
	if c.o.Examine == nil {
		return fragment{el("h1", say("Doctor")), calm("This program has no checks. Use ebb doctor.")}, nil
	}
	var found []Finding
	err := c.o.Examine(ctx, func(f Finding) { found = append(found, f) })
	if err != nil && len(found) == 0 {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b Finding) int { // what is ok hides nothing that needs a person
		return urgency[a.State] - urgency[b.State]
	})
	marks := map[string]string{"ok": "✓", "warning": "!", "wrong": "✗"}
	return fragment{
		el("h1", say("Doctor")), soft(say("What ebb doctor says of the database now.")),
		grid(heads("State", "Check", "Says", "What to do"), each(found, func(f *Finding) node {
			says := class("cause")
			if f.State == "ok" {
				says = class("says")
			}
			return el("tr", el("td", words(marks[f.State]+" "+f.State)), el("td", words(f.Check)),
				el("td", says, words(f.Says)), el("td", when(f.Do != "", words(f.Do))))
		})),
	}, nil
}
