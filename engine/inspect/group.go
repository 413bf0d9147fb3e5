package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A group is a set of steps with numbers: iterations, branches, or the runs of a distributed Map. Large groups are
// summarized.

// MaxShownOfGroup is how many steps of a group, such as the iterations of a Map, are shown one by one. The others are
// counted.
const MaxShownOfGroup = 10

// numberOf returns the number that a part of a path is, or ends with in brackets; false if it has none.
func numberOf(part string) (int, bool) {
	if _, i, ok := nodepath.CutIndex(part); ok {
		return i, true
	}
	n, err := strconv.Atoi(part)
	return n, err == nil && n >= 0
}

// GroupOf reports whether the step at a path is left out because its group has more than [MaxShownOfGroup] members, or
// because it is inside of such a member. It returns the path of the group, and whether the step is the member itself.
func GroupOf(path string) (group string, itself, ok bool) {
	for start := 0; start < len(path); {
		end := len(path)
		if slash := strings.IndexByte(path[start:], '/'); slash >= 0 {
			end = start + slash
		}
		part := path[start:end]
		if n, numbered := numberOf(part); numbered && n >= MaxShownOfGroup {
			name := strings.TrimSuffix(strings.TrimSuffix(part, "]"), strconv.Itoa(n))
			return path[:start] + name, end == len(path), true
		}
		start = end + 1
	}
	return "", false, false
}

// Shown returns the children of a step that views show, in their order, and a text that counts the others by state;
// "" if there are no others.
func (s *Step) Shown() (shown []*Step, rest string) {
	var group []*Step
	for _, c := range s.children {
		if c.numbered {
			group = append(group, c)
		}
	}
	if len(group) <= MaxShownOfGroup && len(s.folded) == 0 {
		return s.children, ""
	}
	picked := map[*Step]bool{}
	pick := func(wanted func(*Step) bool) {
		for _, c := range group {
			if len(picked) < MaxShownOfGroup && !picked[c] && wanted(c) {
				picked[c] = true
			}
		}
	}
	pick(func(c *Step) bool {
		return c.Stays != "" || c.State != states.TaskSuccess && c.State != states.TaskPending
	})
	pick(func(*Step) bool { return true })
	counts := maps.Clone(s.folded)
	if counts == nil {
		counts = map[storage.Status]int{}
	}
	for _, c := range s.children {
		if !c.numbered || picked[c] {
			shown = append(shown, c)
		} else {
			counts[c.Status()]++
		}
	}
	var parts []string
	for status, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", status))
		}
	}
	slices.Sort(parts)
	return shown, strings.Join(parts, ", ")
}
