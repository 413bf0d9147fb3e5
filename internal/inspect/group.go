package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/nodepath"
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

// Shown returns the children of a step that views show, and a text that counts the others by state; "" if there are no
// others. Members of a group are in the order of their numbers. Of a large one, those that matter most are shown.
func (s *Step) Shown() (shown []*Step, rest string) {
	shown = slices.Clone(s.children)
	group := s.grouped()
	if len(group) > MaxShownOfGroup || len(s.folded) > 0 {
		byRank := slices.Clone(group)
		slices.SortStableFunc(byRank, func(a, b *Step) int { return rank(a) - rank(b) })
		picked := byRank[:min(MaxShownOfGroup, len(byRank))]
		left := func(c *Step) bool { return c.numbered && !slices.Contains(picked, c) }
		rest = counted(s.folded, slices.DeleteFunc(slices.Clone(group), func(c *Step) bool { return !left(c) }))
		shown, group = slices.DeleteFunc(shown, left), slices.DeleteFunc(group, left)
	}
	for i, c := range shown {
		if c.numbered {
			shown[i], group = group[0], group[1:]
		}
	}
	return shown, rest
}

// grouped returns the children in groups: the group that began first, and its members in the order of their numbers.
func (s *Step) grouped() (group []*Step) {
	first := map[string]int{}
	base := func(c *Step) string { return strings.TrimRight(c.Name, "0123456789]") }
	for i, c := range s.children {
		if c.numbered {
			group = append(group, c)
			if _, known := first[base(c)]; !known {
				first[base(c)] = i
			}
		}
	}
	slices.SortStableFunc(group, func(a, b *Step) int {
		return cmp.Or(first[base(a)]-first[base(b)], a.number-b.number)
	})
	return group
}

// counted counts steps by state, some of which were folded.
func counted(folded map[storage.Status]int, steps []*Step) string {
	counts := map[storage.Status]int{}
	maps.Copy(counts, folded)
	for _, c := range steps {
		counts[c.Status()]++
	}
	var parts []string
	for status, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", status))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
