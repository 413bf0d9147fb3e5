package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/states"
)

// A group are steps of one kind that are known by numbers: iterations, branches and
// the runs of a distributed Map. Where they are many, not each is told.

// FewOfMany is how many of a group are told each.
const FewOfMany = 10

// numberOf returns the number that a part of a path stands for, or ends with in
// brackets; false when it has none.
func numberOf(part string) (int, bool) {
	if open := strings.LastIndexByte(part, '['); open >= 0 && strings.HasSuffix(part, "]") {
		part = part[open+1 : len(part)-1]
	}
	n, err := strconv.Atoi(part)
	return n, err == nil && n >= 0
}

// GroupOf returns the group of which the step of a path is one too many, or is inside
// of one, and whether it is that one itself.
func GroupOf(path string) (group string, itself, ok bool) {
	for start := 0; start < len(path); {
		end := len(path)
		if slash := strings.IndexByte(path[start:], '/'); slash >= 0 {
			end = start + slash
		}
		part := path[start:end]
		if n, numbered := numberOf(part); numbered && n >= FewOfMany {
			name := strings.TrimSuffix(strings.TrimSuffix(part, "]"), strconv.Itoa(n))
			return path[:start] + name, end == len(path), true
		}
		start = end + 1
	}
	return "", false, false
}

// Few returns those of a step's children that are shown, in their order, and what is
// said of the others.
func (s *Step) Few() (shown []*Step, rest string) {
	var group []*Step
	for _, c := range s.children {
		if c.numbered {
			group = append(group, c)
		}
	}
	if len(group) <= FewOfMany && len(s.folded) == 0 {
		return s.children, ""
	}
	picked := map[*Step]bool{}
	pick := func(wanted func(*Step) bool) {
		for _, c := range group {
			if len(picked) < FewOfMany && !picked[c] && wanted(c) {
				picked[c] = true
			}
		}
	}
	pick(func(c *Step) bool { return c.State != states.TaskSuccess && c.State != states.TaskPending })
	pick(func(*Step) bool { return true })
	counts := maps.Clone(s.folded)
	if counts == nil {
		counts = map[states.Task]int{}
	}
	for _, c := range s.children {
		if !c.numbered || picked[c] {
			shown = append(shown, c)
		} else {
			counts[c.State]++
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
