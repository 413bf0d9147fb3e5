package conformance

import (
	"fmt"
	"slices"
)

// follows returns the first event that the case does not have at this point. An element of the case's list is an event,
// or a list of branches. The events of different branches come in any order.
func follows(want []any, got []Event) string {
	possible := [][]any{want} // the possible rests of the list
	for i := range got {
		seen := map[string]bool{}
		var next [][]any
		for _, left := range possible {
			for _, rest := range after(left, got[i].label()) {
				if key := fmt.Sprint(rest); !seen[key] {
					seen[key] = true
					next = append(next, rest)
				}
			}
		}
		if len(next) == 0 {
			return fmt.Sprintf("event %d: got %s, want the first of %s", i, got[i].label(), short(possible[0]))
		}
		possible = next
	}
	for _, left := range possible {
		if len(left) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("event %d: got nothing, want the first of %s", len(got), short(possible[0]))
}

// after returns the possible rests of a list after an event. If the event cannot come first, there is none.
func after(list []any, event string) [][]any {
	if len(list) == 0 {
		return nil
	}
	branches, ok := list[0].([]any)
	if !ok {
		if list[0] == event {
			return [][]any{list[1:]}
		}
		return nil
	}
	var all [][]any
	for i, branch := range branches {
		steps, ok := branch.([]any)
		if !ok {
			return nil // a misspelled case: nothing matches
		}
		for _, rest := range after(steps, event) {
			left := slices.Concat(branches[:i], branches[i+1:])
			if len(rest) > 0 {
				left = append(left, rest)
			}
			if len(left) == 0 {
				all = append(all, list[1:])
			} else {
				all = append(all, append([]any{left}, list[1:]...))
			}
		}
	}
	return all
}
