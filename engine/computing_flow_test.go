package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c"
)

// A computingWorld holds the effects of a computing flow's tasks.
type computingWorld struct {
	mu       sync.Mutex
	calls    []*computingCall
	done     map[string]bool // effects that were not undone, by path
	began    chan struct{}   // closed when a task was called
	undoes   chan struct{}   // closed when a task was undone
	released chan struct{}
}

type computingCall struct {
	task      string
	revert    bool
	at, ended time.Time // when it started, and when its context ended
}

func newComputingWorld() *computingWorld {
	return &computingWorld{done: map[string]bool{}, began: make(chan struct{}), undoes: make(chan struct{}), released: make(chan struct{})}
}

// release ends the calls that ignore their contexts.
func (w *computingWorld) release() { close(w.released) }

// await waits until a task was called, or undone.
func (w *computingWorld) await(undo bool) {
	if undo {
		<-w.undoes
	} else {
		<-w.began
	}
}

func (w *computingWorld) first() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[0].at
}

func (w *computingWorld) left() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.done))
}

func (w *computingWorld) Task(name string) (atom.Body, error) { return computingTask{w, name}, nil }

type computingTask struct {
	w    *computingWorld
	name string
}

func (b computingTask) Reverts() bool { return b.name == "undo:it" }

func (b computingTask) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	w := b.w
	c := w.begin(ctx, b.name, false)
	defer context.AfterFunc(ctx, func() { w.mu.Lock(); defer w.mu.Unlock(); c.ended = time.Now() })()
	switch b.name {
	case "do:heeds":
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(callTakes):
		}
	case "do:deaf":
		select {
		case <-w.released:
		case <-time.After(callTakes):
		}
	case "do:fails":
		return nil, atom.Errorf("Boom", "as it is to")
	case "do:it":
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done[atom.CurrentCall(ctx).Path] = true
	default:
	}
	return atom.Null, nil
}

func (b computingTask) Revert(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	b.w.begin(ctx, b.name, true)
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	delete(b.w.done, atom.CurrentCall(ctx).Path)
	return atom.Null, nil
}

func (w *computingWorld) begin(_ context.Context, task string, revert bool) *computingCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &computingCall{task: task, revert: revert, at: time.Now()}
	w.calls = append(w.calls, c)
	for begun, now := range map[chan struct{}]bool{w.began: true, w.undoes: revert} {
		if now && !isDone(begun) {
			close(begun)
		}
	}
	return c
}

// look checks that only undos started after a request, and that the contexts of the calls in flight have ended.
func (w *computingWorld) look(rt *rapid.T, f computingFlow, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	late := at.Add(time.Second + slack)
	undoing := false
	for _, c := range w.calls {
		undoing = undoing || c.revert
		switch {
		case !c.revert && c.at.After(at) && (undoing || c.at.After(late)):
			rt.Fatalf("%+v: %s started %v after the request", f, c.task, c.at.Sub(at))
		case c.revert && c.at.After(late) && f.Request.name != "cancel" && f.Request.name != "deadline":
			rt.Fatalf("%+v: %s started %v after the request", f, c.task, c.at.Sub(at))
		case f.Request.ends && c.task == "do:deaf" && c.at.Add(callTakes/2).After(at) && c.at.Before(at) && c.ended.IsZero():
			rt.Fatalf("%+v: the context of %s has not ended", f, c.task)
		case c.ended.After(late):
			rt.Fatalf("%+v: the context of %s ended %v after the request", f, c.task, c.ended.Sub(at))
		default:
		}
	}
}

// weight is the count of a computing state: many milliseconds of work, or none.
func (f computingFlow) weight() int {
	if f.Heavy {
		return 20_000
	}
	return 1
}

func (f computingFlow) inASL(t *testing.T) flow.Node {
	t.Helper()
	var b strings.Builder
	first := func(i int) string {
		if i < f.Works {
			return fmt.Sprintf("W%d", i)
		}
		return "Compute"
	}
	fmt.Fprintf(&b, `{"QueryLanguage": "JSONata", "StartAt": %q, "States": {`, first(0))
	undo := `"undo:it"`
	if f.Undo {
		undo = fmt.Sprintf(`{"Resource": "undo:it", "Arguments": "{%% $sum([1..%d].($ * 2)) %%}"}`, f.weight())
	}
	for i := range f.Works {
		fmt.Fprintf(&b, `%q: {"Type": "Task", "Resource": "do:it", "Revert": %s, "Output": "{%% 0 %%}", "Next": %q},`, first(i), undo, first(i+1))
	}
	loop := fmt.Sprintf(`{"StartAt": "Start", "States": {
		"Start": {"Type": "Pass", "Output": 0, "Next": "Lap"},
		"Lap": %s,
		"State": {"Type": "Pass", "Output": "{%% $states.input + 1 + 0 * $count([1..%d].($ * 2)) %%}", "Next": "Enough"},
		"Enough": {"Type": "Choice", "Choices": [{"Condition": "{%% $states.input = %d %%}", "Next": "Done"}], "Default": "Lap"},
		"Done": {"Type": "Succeed"}}}`, map[string]string{
		"nothing": `{"Type": "Pass", "Next": "State"}`,
		"call":    `{"Type": "Task", "Resource": "do:brief", "Output": "{% $states.input %}", "Next": "State"}`,
		"timer":   `{"Type": "Wait", "Seconds": 0, "Next": "State"}`,
		"retry": `{"Type": "Task", "Resource": "do:fails", "Next": "State", "Retry": [{"ErrorEquals": ["Boom"], "MaxAttempts": 2, "IntervalSeconds": 1, "MaxDelaySeconds": 2}],
			"Catch": [{"ErrorEquals": ["Boom"], "Output": "{% $states.input %}", "Next": "State"}]}`,
	}[f.Lap], f.weight(), cmp.Or(f.Laps, -1))
	switch {
	case f.Undo:
		b.WriteString(`"Compute": {"Type": "Fail", "Error": "TooBad"}}`)
	case f.Beside == "none":
		fmt.Fprintf(&b, `"Compute": {"Type": "Parallel", "End": true, "Branches": [%s]}}`, loop)
	default:
		fmt.Fprintf(&b, `"Compute": {"Type": "Parallel", "End": true, "Branches": [%s, {"StartAt": "Beside", "States": {"Beside":
			{"Type": "Task", "Resource": "do:%s", "End": true}}}]}}`, loop, f.Beside)
	}
	if f.deadline() {
		fmt.Fprintf(&b, `, "TimeoutSeconds": %d`, int(deadlineAfter.Seconds()))
	}
	text := strings.Replace(b.String()+"}", `"Start": {"Type": "Pass"`, f.begins(), 1)
	m, err := asl.Parse("asl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// begins makes a flow without works call a task at its start, so that the test knows this moment.
func (f computingFlow) begins() string { return `"Start": {"Type": "Task", "Resource": "do:brief"` }

func (f computingFlow) inSM4C(t *testing.T) flow.Node {
	t.Helper()
	call := func(name string) string {
		return `{"type": "invokeFunction", "functionName": "` + name + `", "waitForCompletion": true`
	}
	undo := `{"functionName": "undo"`
	if f.Undo {
		undo += fmt.Sprintf(`, "arguments": {"n": "${ reduce range(%d) as $i (0; . + 1) }"}`, f.weight())
	}
	var works []string
	for range f.Works {
		works = append(works, fmt.Sprintf(`%s, "revert": %s}}`, call("do"), undo))
	}
	timeout := ""
	if f.deadline() {
		timeout = fmt.Sprintf(`"timeout": {"duration": "PT%dS"},`, int(deadlineAfter.Seconds()))
	}
	lap := map[string]string{
		"nothing": `"transitions": [{"nextState": "State"}]`,
		"call":    `"enterAction": ` + call("brief") + `}, "transitions": [{"nextState": "State"}]`,
		"timer":   `"transitions": [{"nextState": "State", "timeout": "PT0.01S"}]`,
	}[f.Lap]
	next := `{"condition": "${ true }", "nextState": "Lap"}`
	if f.Undo {
		next = `{"condition": "${ true }", "nextState": "Lap", "action": ` + call("fail") + `}}`
		lap = `"transitions": [{"nextState": "State"}]`
	}
	text := fmt.Sprintf(`{"name": "m", "version": "1", %s "functions": [
		{"name": "do", "type": "task", "operation": "do:it"}, {"name": "undo", "type": "task", "operation": "undo:it"},
		{"name": "brief", "type": "task", "operation": "do:brief"}, {"name": "fail", "type": "task", "operation": "do:fails"}],
		"states": [
		{"name": "Start", "start": true, "enterAction": {"type": "sequence", "actions": [%s]}, "transitions": [{"nextState": "Lap"}]},
		{"name": "Lap", %s},
		{"name": "State", "transitions": [{"condition": "${ reduce range(%d) as $i (0; . + 1) | . < 0 }", "nextState": "Lap"}, %s]}]}`,
		timeout, strings.Join(append(works, call("brief")+"}"), ", "), lap, f.weight(), next)
	m, err := sm4c.Parse("m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// grownSoFar is the memory of a grower.
type grownSoFar struct{ Works, Laps int }

// computingGrower is a user's own language that computes.
type computingGrower struct{ f computingFlow }

func (f computingFlow) grower() grow.Language { return computingGrower{f} }

func (g computingGrower) Grow(ask *grow.Ask) grow.Growth {
	f, c := &g.f, &ask.Cause
	var m grownSoFar
	if ask.Memory != nil {
		_ = ask.Memory.Decode(&m)
	}
	var next grow.Growth
	switch {
	case c.Kind == grow.Begin:
		next = add(grow.Spec{Name: "first", Task: "do:brief"})
		if f.deadline() {
			next.Deadline = ask.Now.Add(deadlineAfter)
		}
	case c.Kind == grow.Overdue:
		return grow.Growth{End: &grow.End{Failure: c.Failure, TimedOut: true}}
	case c.Kind == grow.Ended && c.Name == "beside", c.Kind == grow.Stopped:
		return grow.Growth{}
	case c.Kind == grow.Failed && !strings.HasPrefix(c.Name, "lap"):
		return failure(c.Failure)
	case c.Kind == grow.Failed && c.Attempt < 3:
		return grow.Growth{Again: &grow.Again{After: time.Second}}
	case m.Works < f.Works:
		m.Works++
		next = add(grow.Spec{Name: fmt.Sprint("w", m.Works), Task: "do:it", Undo: &grow.Undo{Task: "undo:it"}})
	case f.Undo:
		return failure(&atom.Failure{Code: "TooBad"})
	default:
		next = g.lap(ask, &m)
	}
	next.Memory = atom.MustEncode(m)
	return next
}

// lap computes, and adds the node before the next lap.
func (g computingGrower) lap(ask *grow.Ask, m *grownSoFar) (next grow.Growth) {
	f := &g.f
	if f.Heavy {
		spin(20*time.Millisecond, ask.Done)
	}
	if m.Laps++; m.Laps == 1 && f.Beside != "none" {
		next.Add = append(next.Add, grow.Spec{Name: "beside", Task: "do:" + f.Beside})
	}
	if f.Laps > 0 && m.Laps >= f.Laps {
		return done(m.Laps)
	}
	name := fmt.Sprint("lap", m.Laps)
	switch f.Lap {
	case "call":
		next.Add = append(next.Add, grow.Spec{Name: name, Task: "do:brief"})
	case "timer":
		next.Add = append(next.Add, grow.Spec{Name: name, Kind: grow.Timer, Due: ask.Now.Add(time.Millisecond)})
	case "retry":
		next.Add = append(next.Add, grow.Spec{Name: name, Task: "do:fails"})
	default:
		next.More = atom.Null
	}
	return next
}

func (g computingGrower) Undo(ask *grow.UndoAsk) (atom.Value, error) {
	if g.f.Undo {
		spin(20*time.Millisecond, ask.Interrupted)
	}
	return atom.Null, nil
}

// spin computes for a while, unless it is interrupted.
func spin(d time.Duration, interrupted func() bool) {
	for until := time.Now().Add(d); time.Now().Before(until) && !interrupted(); {
		_ = fmt.Sprint(until)
	}
}
