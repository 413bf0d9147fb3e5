package engine_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
)

// TestPreviewMachineProperty is TestPreviewProperty of random state machines, whose runs grow: with branches,
// iterations, retriers, catchers that undo, points of no return, and tasks and reverts that fail. They are cancelled at
// random moments, or when they have succeeded. The order of the undo is that of the preview, too.
//
// Guarantee (G4): Of random state machines that are cancelled at random moments, or after their success, exactly that is
// undone which `Preview` listed, in its order.
func TestPreviewMachineProperty(t *testing.T) {
	const times = 1000
	all, compared := 0, 0
	check(t, times, func(rt *rapid.T) {
		d := undoableMachine{t: rt}
		text := "{" + d.level(2) + "}"
		p := &previewing{
			grows: true, parallel: rapid.SampledFrom([]int{1, 4}).Draw(rt, "parallel"),
			heldAt: rapid.IntRange(1, 60).Draw(rt, "held at"),
		}
		m, err := asl.Parse("m", []byte(text))
		if err == nil {
			synctest.Test(t, func(t *testing.T) { err = p.live(t.Context(), m.Flow(), engine.WithTasks(named{})) })
		}
		if err == nil {
			err = p.compare()
		}
		if err != nil {
			rt.Fatalf("%s\nheld at change %d, %d at once: %v", text, p.heldAt, p.parallel, err)
		}
		if all++; len(p.said) > 0 {
			compared++
		}
	})
	if compared < all/10 { // under -short there are only twenty
		t.Errorf("only %d of %d previews had something to undo", compared, all)
	}
}

// An undoableMachine draws levels of states. Some states have levels inside.
type undoableMachine struct {
	t     *rapid.T
	names int
}

func (d *undoableMachine) level(depth int) string {
	n := rapid.IntRange(1, 3).Draw(d.t, "states")
	first := d.names
	d.names += n
	var all []string
	for i := range n {
		end, next := `"End": true`, fmt.Sprintf("S%d", first+i)
		if i+1 < n {
			next = fmt.Sprintf("S%d", first+i+1)
			end = fmt.Sprintf(`"Next": %q`, next)
		}
		body := d.state(depth)
		if i+1 < n && !strings.Contains(body, `"Wait"`) {
			undoes := rapid.SampledFrom([]string{"none", "none", "none", "", `, "Revert": "inside"`, `, "Revert": "all"`}).Draw(d.t, "catch")
			if undoes != "none" {
				body += fmt.Sprintf(`, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": %q%s}]`, next, undoes)
			}
		}
		all = append(all, fmt.Sprintf(`"S%d": {%s, %s}`, first+i, body, end))
	}
	return fmt.Sprintf(`"StartAt": "S%d", "States": {%s}`, first, strings.Join(all, ", "))
}

func (d *undoableMachine) state(depth int) string {
	kinds := []string{"Task", "Task", "Task", "Wait"}
	if depth > 0 {
		kinds = append(kinds, "Parallel", "Map")
	}
	switch rapid.SampledFrom(kinds).Draw(d.t, "kind") {
	case "Parallel":
		return `"Type": "Parallel", "Branches": [{` + d.level(depth-1) + `}, {` + d.level(depth-1) + `}]` + d.retry()
	case "Map":
		return fmt.Sprintf(`"Type": "Map", "ItemsPath": "$$.Execution.Input.items", "MaxConcurrency": %d, "ItemProcessor": {%s}`,
			rapid.IntRange(1, 3).Draw(d.t, "at once"), d.level(depth-1)) + d.retry()
	case "Wait":
		return `"Type": "Wait", "Seconds": 1`
	default:
		takes := rapid.IntRange(0, 3).Draw(d.t, "takes")
		task := rapid.SampledFrom([]string{"ok", "ok", "ok", "ok", "ok", "bad", "badfirst"}).Draw(d.t, "task")
		revert := rapid.SampledFrom([]string{
			`, "Revert": "ok:%d"`, `, "Revert": "ok:%d"`, `, "Revert": "ok:%d"`, `, "Revert": "bad:%d"`, `, "Revert": "badfirst:%d"`,
			`, "Revert": {"Resource": "badfirst:%d", "Retry": [{"ErrorEquals": ["States.ALL"]}]}`, `, "Revert": false`, `, "Revert": "none"`, "",
		}).Draw(d.t, "revert")
		if strings.Contains(revert, "%d") {
			revert = fmt.Sprintf(revert, takes)
		}
		return fmt.Sprintf(`"Type": "Task", "Resource": "%s:%d"%s`, task, takes, revert) + d.retry()
	}
}

func (d *undoableMachine) retry() string {
	return rapid.SampledFrom([]string{"", "", `, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}]`}).Draw(d.t, "retry")
}

// named finds the tasks of random machines: their names say how they end, and how long they take.
type named struct{}

func (named) Task(name string) (atom.Body, error) {
	var n namedTask
	how, takes, _ := strings.Cut(name, ":")
	n.how = how
	seconds, err := strconv.Atoi(takes)
	n.takes = time.Duration(seconds) * time.Second
	return n, err
}

type namedTask struct {
	how   string
	takes time.Duration
}

// Execute takes its time, and ends as the name says.
func (n namedTask) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	select {
	case <-time.After(n.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if n.how == "bad" || n.how == "badfirst" && atom.CurrentCall(ctx).Attempt == 1 {
		return nil, atom.Errorf("Broken", "it is broken")
	}
	return atom.Null, nil
}

func (namedTask) Reverts() bool { return false }

func (namedTask) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}
