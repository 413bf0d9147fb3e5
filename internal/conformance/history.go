package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// order compares types and states of the events in the order that the record requires, and their details if details
// is set.
func (e *Expected) order(got []Event, details bool) string {
	switch e.Order {
	case "per_branch":
		return sameBranches(branches(e.Events), branches(got), details)
	case "sorted_in_parallel":
		return e.sortedInParallel(got, details)
	default:
		return sameSequence("event", e.Events, got, details)
	}
}

// sameSequence compares two lists of events, event by event.
func sameSequence(what string, want, got []Event, details bool) string {
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s %d", what, i)
		switch {
		case i >= len(got):
			return fmt.Sprintf("%s: want %s, got nothing", at, want[i].label())
		case i >= len(want):
			return fmt.Sprintf("%s: want nothing, got %s", at, got[i].label())
		}
		if miss := sameEvent(at, &want[i], &got[i], details); miss != "" {
			return miss
		}
	}
	return ""
}

func sameEvent(at string, want, got *Event, details bool) string {
	if want.Type != got.Type || want.State != nil && (got.State == nil || *want.State != *got.State) {
		return fmt.Sprintf("%s: want %s, got %s", at, want.label(), got.label())
	}
	if !details {
		return ""
	}
	return difference(at+" "+want.label(), want.shown(), got.shown())
}

// shown returns the details without those that records omit.
func (e *Event) shown() any {
	all, _ := e.Details.(map[string]any)
	out := map[string]any{}
	for name, value := range all {
		switch name {
		case "name":
			if strings.HasSuffix(e.Type, "StateEntered") || strings.HasSuffix(e.Type, "StateExited") {
				continue
			}
		case "inputDetails", "outputDetails", "roleArn", "mapRunArn":
			continue
		}
		out[name] = value
	}
	return out
}

func (e *Event) label() string {
	if e.State == nil {
		return e.Type
	}
	return e.Type + " " + *e.State
}

// branches groups events: first those outside of all Parallel and Map states, then those of each branch and iteration.
// It follows each event back to the event that led to it.
func branches(events []Event) [][]Event {
	index := map[int64]int{}
	for i := range events {
		index[events[i].ID] = i
	}
	group := make([]int64, len(events)) // number of the branch's first event; 0 for events outside
	members := map[int64][]Event{}
	order := []int64{0}
	for i := range events {
		group[i] = groupOf(events, i, index, group)
		if members[group[i]] == nil && group[i] != 0 {
			order = append(order, group[i])
		}
		members[group[i]] = append(members[group[i]], events[i])
	}
	out := make([][]Event, len(order))
	for i, id := range order {
		out[i] = members[id]
	}
	return out
}

// groupOf returns the group of event i. The events before it have their groups.
func groupOf(events []Event, i int, index map[int64]int, group []int64) int64 {
	e := &events[i]
	if fork, ok := joins(e.Type); ok && e.State != nil {
		for j := i - 1; j >= 0; j-- { // it belongs to the group in which its state was entered
			if events[j].Type == fork+"StateEntered" && events[j].State != nil && *events[j].State == *e.State {
				return group[j]
			}
		}
	}
	before, ok := index[e.Prev]
	switch {
	case e.Type == "MapIterationStarted": // regardless of the event from which it follows on AWS
		return e.ID
	case !ok || before >= i:
		return 0
	case events[before].Type == "ParallelStateStarted" || events[before].Type == "MapStateStarted":
		return e.ID
	}
	return group[before]
}

// joins reports whether a type ends a Parallel or a Map state, and which of the two.
func joins(kind string) (string, bool) {
	for _, fork := range []string{"Parallel", "Map"} {
		rest, ok := strings.CutPrefix(kind, fork+"State")
		if ok && (rest == "Succeeded" || rest == "Failed" || rest == "Exited") {
			return fork, true
		}
	}
	return "", false
}

// sameBranches compares groups of events. The first groups must be equal, the others in any order.
func sameBranches(want, got [][]Event, details bool) string {
	if miss := sameSequence("outside event", want[0], got[0], details); miss != "" {
		return miss
	}
	left := slices.Clone(got[1:])
	for i, branch := range want[1:] {
		miss := fmt.Sprintf("branch %d: nothing left to compare it with", i)
		found := slices.IndexFunc(left, func(other []Event) bool {
			difference := sameSequence(fmt.Sprintf("branch %d event", i), branch, other, details)
			if difference != "" {
				miss = difference
			}
			return difference == ""
		})
		if found < 0 {
			return miss
		}
		left = slices.Delete(left, found, found+1)
	}
	if len(left) > 0 {
		return fmt.Sprintf("want %d branches, got %d", len(want)-1, len(got)-1)
	}
	return ""
}

// sortedInParallel compares with a record whose recorder sorted the events inside Parallel states and lost the events
// of their ends. It compares these parts without order.
func (e *Expected) sortedInParallel(got []Event, details bool) string {
	got = slices.DeleteFunc(slices.Clone(got), func(g Event) bool {
		return g.Type == "ParallelStateSucceeded" || g.Type == "ParallelStateFailed"
	})
	want := e.Events
	for n := 0; len(want) > 0 || len(got) > 0; n++ {
		wantRun, wantRest := stretch(want, n%2 == 1)
		gotRun, gotRest := stretch(got, n%2 == 1)
		if n%2 == 0 {
			if miss := sameSequence("event", wantRun, gotRun, details); miss != "" {
				return miss
			}
		} else if miss := sameSet(wantRun, gotRun, details); miss != "" {
			return miss
		}
		want, got = wantRest, gotRest
	}
	return ""
}

// stretch cuts events after the next ParallelStateStarted, or, inside a Parallel, before the event that ends it.
func stretch(events []Event, inside bool) (run, rest []Event) {
	for i := range events {
		if inside && events[i].Type == "ParallelStateExited" || !inside && i > 0 &&
			events[i-1].Type == "ParallelStateStarted" {
			return events[:i], events[i:]
		}
		if inside && strings.HasPrefix(events[i].Type, "Execution") {
			return events[:i], events[i:]
		}
	}
	return events, nil
}

// sameSet compares events without order.
func sameSet(want, got []Event, details bool) string {
	left := slices.Clone(got)
	for i := range want {
		found := slices.IndexFunc(left, func(g Event) bool { return sameEvent("", &want[i], &g, details) == "" })
		if found < 0 {
			return "inside a Parallel: want " + want[i].label() + " " + short(want[i].shown()) + ", which is not there"
		}
		left = slices.Delete(left, found, found+1)
	}
	if len(left) > 0 {
		return "inside a Parallel: want nothing more, got " + left[0].label()
	}
	return ""
}

// numbers compares the numbers of events and the events from which they follow, if the record has them and the events
// came in the same order.
func (e *Expected) numbers(got []Event) string {
	if e.Order == "sorted_in_parallel" || sameSequence("event", e.Events, got, false) != "" {
		return ""
	}
	for i := range e.Events {
		want := &e.Events[i]
		if want.ID != got[i].ID || want.Prev != got[i].Prev {
			return fmt.Sprintf("event %d %s: want number %d after %d, got %d after %d", i, want.label(), want.ID, want.Prev,
				got[i].ID, got[i].Prev)
		}
	}
	return ""
}
