package sm4c_test

import (
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/flow/sm4c"
)

// TestWarnsOfWorkThatStays: a call without revert before a call that can fail is warned of, once per machine.
func TestWarnsOfWorkThatStays(t *testing.T) {
	t.Parallel()
	const undo = `"revert": {"functionName": "f"}, `
	call := func(name, revert string) string {
		return fmt.Sprintf(`{"type": "invokeFunction", "name": %q, "functionName": "f", %s"waitForCompletion": true}`, name, revert)
	}
	machine := func(first, second, third string) string {
		return fmt.Sprintf(`{"name": "m", "version": "1", "functions": [{"name": "f", "type": "task", "operation": "exec:f"}], "states": [
			{"name": "S", "start": true, "enterAction": {"type": "sequence", "actions": [%s, %s]}, "transitions": [{"nextState": "T"}]},
			{"name": "T", "enterAction": %s}]}`, first, second, third)
	}
	fork := func(kind, actions string) string {
		return fmt.Sprintf(`{"type": %q, "actions": [%s]}`, kind, actions)
	}
	foreach := func(action string) string {
		return fmt.Sprintf(`{"type": "foreach", "name": "l", "input": "${ [1, 2] }", "action": %s}`, action)
	}
	wait := `{"type": "delay", "timeout": "PT1S"}`
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"in a sequence":     {machine(call("a", ""), call("b", undo), call("c", "")), 1},
		"before a state":    {machine(call("a", undo), call("b", ""), call("c", undo)), 1},
		"no effect":         {machine(call("a", `"revert": "none", `), call("b", undo), call("c", "")), 0},
		"a pivot":           {machine(call("a", undo), call("b", `"revert": false, `), call("c", undo)), 0},
		"behind a pivot":    {machine(call("a", `"revert": false, `), call("b", ""), call("c", undo)), 0},
		"beside":            {machine(wait, wait, fork("parallel", call("a", "")+","+call("b", undo))), 1},
		"only beside waits": {machine(call("a", undo), wait, fork("parallel", call("b", "")+","+wait)), 0},
		"of an item":        {machine(call("a", undo), wait, foreach(call("b", ""))), 1},
		"an undone item":    {machine(call("a", undo), wait, foreach(call("b", undo))), 0},
		"nothing is undone": {machine(call("a", ""), call("b", ""), call("c", "")), 0},
	} {
		found := 0
		for _, p := range sm4c.Validate("m", []byte(test.text)) {
			if p.Rule == "stays-done" {
				found++
			} else {
				t.Errorf("%s: %v", name, p)
			}
		}
		if found != test.want {
			t.Errorf("%s: %d warnings; want %d", name, found, test.want)
		}
	}
}
