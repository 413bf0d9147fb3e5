package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
)

// A group are steps of one kind that are known by numbers: iterations, branches and
// the runs of a distributed Map. Where they are many, not each is told.

// fewOfMany is how many of a group are told each.
const fewOfMany = 10

// numberOf returns the number that a part of a path stands for, or ends with in
// brackets; false when it has none.
func numberOf(part string) (int, bool) {
	if open := strings.LastIndexByte(part, '['); open >= 0 && strings.HasSuffix(part, "]") {
		part = part[open+1 : len(part)-1]
	}
	n, err := strconv.Atoi(part)
	return n, err == nil && n >= 0
}

// groupOf returns the group of which the step of a path is one too many, or is inside
// of one, and whether it is that one itself.
func groupOf(path string) (group string, itself, ok bool) {
	for start := 0; start < len(path); {
		end := len(path)
		if slash := strings.IndexByte(path[start:], '/'); slash >= 0 {
			end = start + slash
		}
		part := path[start:end]
		if n, numbered := numberOf(part); numbered && n >= fewOfMany {
			name := strings.TrimSuffix(strings.TrimSuffix(part, "]"), strconv.Itoa(n))
			return path[:start] + name, end == len(path), true
		}
		start = end + 1
	}
	return "", false, false
}

// A tally counts the members of groups that are not reported one by one.
type tally struct {
	ended  map[string]int
	failed map[string]int
}

// told returns what is said of a change of one of a group: nothing, mostly. The change
// itself is to be told if it is none of these, or a failure among the first.
func (t *tally) told(c *change) (instead string, each bool) {
	group, itself, ok := groupOf(c.path)
	var state states.Task
	if !ok || state.UnmarshalText([]byte(c.to)) != nil {
		return "", !ok
	}
	if t.ended == nil {
		t.ended, t.failed = map[string]int{}, map[string]int{}
	}
	if c.failure != nil {
		if t.failed[group]++; t.failed[group] <= fewOfMany {
			each = true
		}
	}
	if itself && (state == states.TaskSuccess || state == states.TaskFailure || state == states.TaskCancelled || state == states.TaskReverted) {
		if t.ended[group]++; t.ended[group] > fewOfMany && t.ended[group]&(t.ended[group]-1) == 0 { // 16, 32 …
			more := "…"
			if strings.HasSuffix(group, "[") {
				more = "…]"
			}
			instead = fmt.Sprintf("%s%s %d more ended", visible.Line(group), more, t.ended[group])
		}
	}
	return instead, each
}

// few returns those of a step's children that are shown, in their order, and what is
// said of the others.
func (s *step) few() (shown []*step, rest string) {
	var group []*step
	for _, c := range s.children {
		if c.numbered {
			group = append(group, c)
		}
	}
	if len(group) <= fewOfMany && len(s.folded) == 0 {
		return s.children, ""
	}
	picked := map[*step]bool{}
	pick := func(wanted func(*step) bool) {
		for _, c := range group {
			if len(picked) < fewOfMany && !picked[c] && wanted(c) {
				picked[c] = true
			}
		}
	}
	pick(func(c *step) bool { return c.state != states.TaskSuccess && c.state != states.TaskPending })
	pick(func(*step) bool { return true })
	counts := maps.Clone(s.folded)
	if counts == nil {
		counts = map[states.Task]int{}
	}
	for _, c := range s.children {
		if !c.numbered || picked[c] {
			shown = append(shown, c)
		} else {
			counts[c.state]++
		}
	}
	var parts []string
	for state, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", state))
		}
	}
	slices.Sort(parts)
	return shown, strings.Join(parts, ", ")
}
