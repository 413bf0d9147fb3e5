package view

import (
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
)

// A tally counts the members of groups that are not reported one by one.
type tally struct {
	ended  map[string]int
	failed map[string]int
}

// told returns the line to print instead of a change of a group's member; usually "". If each is true, the change
// itself is printed: it is not in such a group, or it is one of the first failures.
func (t *tally) told(c *inspect.Change) (instead string, each bool) {
	group, itself, ok := inspect.GroupOf(c.Path)
	var state states.Task
	if !ok || state.UnmarshalText([]byte(c.To)) != nil {
		return "", !ok
	}
	if t.ended == nil {
		t.ended, t.failed = map[string]int{}, map[string]int{}
	}
	if c.Failure != nil {
		if t.failed[group]++; t.failed[group] <= inspect.MaxShownOfGroup {
			each = true
		}
	}
	if itself && (state == states.TaskSuccess || state == states.TaskFailure || state == states.TaskCancelled ||
		state == states.TaskReverted) {
		if t.ended[group]++; t.ended[group] > inspect.MaxShownOfGroup && t.ended[group]&(t.ended[group]-1) == 0 { // 16, 32 …
			more := "…"
			if strings.HasSuffix(group, "[") {
				more = "…]"
			}
			instead = fmt.Sprintf("%s%s %d more ended", visible.Line(group), more, t.ended[group])
		}
	}
	return instead, each
}
