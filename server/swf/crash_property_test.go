package swf_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	model "github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCrashProperty lets random clients call a server that dies at a commit, or after it, and whose successor dies at
// another one. The test does the same calls with a death at each of the first commits. After each death, the rows of
// all executions are what their events say: ids have no gap, references are correct, and the closing event is the last
// one. What was acknowledged is there once, what was refused is not, and the rest is there once or not at all. An
// execution that did not succeed is undone.
//
// Guarantee (G2): Processes that serve Amazon SWF die at or after a commit, under random calls. Acknowledged calls are
// in a history once, refused ones are not. Event ids, references and rows agree.
func TestCrashProperty(t *testing.T) {
	t.Parallel()
	const mostCommits = 30
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(rapid.Uint32(), 20, 60).Draw(rt, "calls")
		again := rapid.IntRange(0, 10).Draw(rt, "commits of the second process")
		lost := rapid.Bool().Draw(rt, "only the answer is lost")
		first := rapid.IntRange(0, mostCommits).Draw(rt, "first death")
		for after := first; after < first+3; after++ {
			var failure string
			synctest.Test(t, func(t *testing.T) {
				c := &crashClient{t: t, records: memstore.New(), script: script, became: map[string]int{}, tasks: map[string][]string{}}
				c.live(1<<30, false, 1) // the domain and the types
				c.live(after, lost, len(script)/2)
				c.live(again, !lost, len(script)/2)
				c.live(1<<30, false, len(script))
				failure = c.failure
			})
			if failure != "" {
				rt.Fatalf("death after %d commits: %s", after, failure)
			}
		}
	})
}

// What became of a text that a client sent.
const (
	refused = iota + 1
	unsure
	acknowledged
)

// A crashClient makes the calls of a script, over several processes.
type crashClient struct {
	t       *testing.T
	records *memstore.Store
	script  []uint32
	w       *world
	sent    int
	became  map[string]int      // of each text that was sent
	tasks   map[string][]string // tokens by kind
	failure string

	registered bool
}

// live lets a process serve some calls, and die. Then it checks the stored records.
func (c *crashClient) live(commits int, lost bool, calls int) {
	t := c.t
	t.Helper()
	process := c.records.Join()
	var left atomic.Int64
	left.Store(int64(commits))
	store := faultstore.New(process, func(c faultstore.Call) (f faultstore.Fault) {
		if (c.Method == "Commit" || c.Method == "Create") && left.Add(-1) < 0 {
			f.Err, f.Done = storage.ErrClosed, lost && left.Load() == -1
		}
		return f
	})
	ctx, stop := context.WithCancel(t.Context())
	api, handler, driven, err := composed(swf.Config{
		Store: store, Stopping: ctx.Done(),
		Undo: []model.UndoType{{Type: model.Type{Name: "t", Version: "1"}, By: model.Type{Name: "u", Version: "1"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error)
	go func() { over <- driven.Run(ctx) }()
	c.w = &world{api: api, handler: handler, store: store}
	if !c.registered {
		c.registered = true
		c.w.types(t)
		c.w.must(t, "RegisterActivityType", object{
			"domain": "d", "name": "u", "version": "1", "defaultTaskList": object{"name": "a"}, "defaultTaskHeartbeatTimeout": "NONE",
			"defaultTaskStartToCloseTimeout": "60", "defaultTaskScheduleToStartTimeout": "60", "defaultTaskScheduleToCloseTimeout": "60",
		})
	}
	for range calls {
		if len(c.script) == 0 || left.Load() < 0 {
			break
		}
		c.call(c.script[0])
		c.script = c.script[1:]
	}
	time.Sleep(time.Second) // virtual
	stop()
	if err := <-over; err != nil {
		t.Log(err) // the death
	}
	if err := process.Close(); err != nil {
		t.Error(err)
	}
	if c.failure == "" {
		c.failure = c.check()
	}
}

// text returns a text that was not sent before.
func (c *crashClient) text() string {
	c.sent++
	return fmt.Sprintf("text-%d-", c.sent)
}

// say sends a request with a text of its own, and keeps what became of it.
func (c *crashClient) say(operation, text string, params object) {
	c.t.Helper()
	a := c.w.call(c.t, operation, params)
	switch {
	case a.Code == "":
		c.became[text] = acknowledged
	case a.status == http.StatusBadRequest:
		c.became[text] = refused
	default:
		c.became[text] = unsure
	}
}

// call makes one call, which is the bits of a number.
func (c *crashClient) call(bits uint32) {
	c.t.Helper()
	pick := func(n uint32) uint32 { // takes its choice from the bits
		choice := bits % n
		bits /= n
		return choice
	}
	text := c.text()
	switch pick(8) {
	case 0, 1:
		c.say("StartWorkflowExecution", text, object{
			"domain": "d", "workflowId": fmt.Sprint("w", pick(3)), "workflowType": typeOf("t", "1"), "input": text,
			"executionStartToCloseTimeout": []string{"30", "200", "3600"}[pick(3)],
		})
	case 2:
		c.say("SignalWorkflowExecution", text, object{
			"domain": "d", "workflowId": fmt.Sprint("w", pick(3)), "signalName": text,
		})
	case 3:
		if pick(3) == 0 {
			c.say("TerminateWorkflowExecution", text, object{"domain": "d", "workflowId": fmt.Sprint("w", pick(3)), "reason": text})
		} else {
			time.Sleep(time.Duration(pick(70)) * time.Second) // virtual
		}
	case 4, 5:
		c.poll("l")
		if token := c.token("l", pick); token != "" {
			c.say("RespondDecisionTaskCompleted", text, object{"taskToken": token, "decisions": c.decisions(text, pick)})
		}
	default:
		c.poll("a")
		token := c.token("a", pick)
		switch {
		case token == "":
		case pick(4) == 0:
			c.say("RespondActivityTaskFailed", text, object{"taskToken": token, "reason": text})
		default:
			c.say("RespondActivityTaskCompleted", text, object{"taskToken": token, "result": text})
		}
	}
}

// poll takes a task if there is one.
func (c *crashClient) poll(list string) {
	c.t.Helper()
	counted := map[string]string{"l": "CountPendingDecisionTasks", "a": "CountPendingActivityTasks"}[list]
	operation := map[string]string{"l": "PollForDecisionTask", "a": "PollForActivityTask"}[list]
	params := object{"domain": "d", "taskList": object{"name": list}}
	if a := c.w.call(c.t, counted, params); a.Code != "" || a.Body["count"] == 0.0 {
		return
	}
	a := c.w.call(c.t, operation, params)
	if token, _ := a.Body["taskToken"].(string); token != "" {
		c.tasks[list] = append(c.tasks[list], token)
	}
}

// token returns the token of the last task, or of any, perhaps one that has ended.
func (c *crashClient) token(list string, pick func(uint32) uint32) string {
	all := c.tasks[list]
	switch {
	case len(all) == 0:
		return ""
	case pick(4) == 0:
		return all[pick(uint32(len(all)))]
	default:
		return all[len(all)-1]
	}
}

// decisions returns a batch that records the text, and does something else.
func (c *crashClient) decisions(text string, pick func(uint32) uint32) []object {
	decision := func(kind string, attributes object) object {
		return object{"decisionType": kind, strings.ToLower(kind[:1]) + kind[1:] + "DecisionAttributes": attributes}
	}
	batch := []object{decision("RecordMarker", object{"markerName": text})}
	for range pick(3) {
		batch = append(batch, schedule(fmt.Sprint("a", pick(4))))
	}
	id := object{"timerId": fmt.Sprint("t", pick(2)), "startToFireTimeout": fmt.Sprint(pick(20))}
	other := fmt.Sprint("w", pick(3))
	switch pick(8) {
	case 0:
		batch = append(batch, decision("StartTimer", id))
	case 1:
		batch = append(batch, decision("RequestCancelActivityTask", object{"activityId": "a1"}))
	case 2:
		batch = append(batch, decision("StartChildWorkflowExecution", object{"workflowId": other, "workflowType": typeOf("t", "1")}))
	case 3:
		batch = append(batch, decision("SignalExternalWorkflowExecution", object{"workflowId": other, "signalName": "s"}))
	case 4:
		batch = append(batch, decision("ContinueAsNewWorkflowExecution", object{}))
	case 5:
		batch = append(batch, fails)
	case 6:
		batch = append(batch, complete)
	}
	return batch
}

// check returns the faults in the stored records, for people.
func (c *crashClient) check() string {
	ctx := context.WithoutCancel(c.t.Context())
	found := map[string]int{}
	var all strings.Builder
	for run, err := range storage.EachRun(ctx, c.records, storage.RunQuery{}) {
		if err != nil {
			return err.Error()
		}
		wrong, err := swf.Check(ctx, c.records, run.ID)
		if err != nil || len(wrong) > 0 {
			return fmt.Sprint(run.ID, err, wrong)
		}
		if undo := run.Labels[model.LabelUndo]; undo != "" {
			if other, err := c.records.Run(ctx, undo); err != nil || other.Labels[model.LabelUndoes] != run.ID {
				return fmt.Sprint("the execution that undoes ", run.ID, ": ", err)
			}
		}
		if run.Events == 0 { // it is durable, and begins with the next process
			var input string
			_ = run.Input.Data.Decode(&input) // null for an execution that undoes
			found[input]++
		}
		completed := false
		for e, err := range storage.EachEvent(ctx, c.records, run.ID, storage.EventQuery{}) {
			if err != nil {
				return err.Error()
			}
			fmt.Fprintf(&all, "%s %d %s %s\n", run.ID, e.Number, e.Type, e.Details)
			c.count(e.Details, found)
			switch e.Type {
			case "ActivityTaskCompleted":
				completed = true
			case "WorkflowExecutionFailed", "WorkflowExecutionTimedOut", "WorkflowExecutionTerminated":
				if completed && run.Labels[model.LabelUndo] == "" && run.Labels[model.LabelUndoes] == "" {
					return fmt.Sprint("nothing undoes ", run.ID, "\n", &all)
				}
			}
		}
	}
	for text, became := range c.became {
		n := found[text]
		if n > 1 || n == 0 && became == acknowledged || n == 1 && became == refused {
			return fmt.Sprintf("%s is there %d times, which became %d\n%s", text, n, became, &all)
		}
	}
	return ""
}

// count counts the texts among the attributes of an event.
func (c *crashClient) count(details atom.Value, found map[string]int) {
	var attributes map[string]json.RawMessage
	if err := details.Decode(&attributes); err != nil {
		c.t.Error(err)
	}
	for _, raw := range attributes {
		var text string
		if json.Unmarshal(raw, &text) == nil && strings.HasPrefix(text, "text-") {
			found[text]++
		}
	}
}
