package swf_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
)

// The calls that a server makes for its clients, in a world.

// A task is a task that a poll has returned.
type task struct {
	node     *simNode
	token    string
	decision swf.DecisionTask
	activity swf.ActivityTask
}

const domain = "d"

// start starts an execution with complete defaults, changed by mods.
func (w *world) start(id string, mods ...func(*swf.Start)) *simRun {
	w.t.Helper()
	s := swf.Start{Domain: domain, WorkflowID: id, Type: swf.Type{Name: "wt", Version: "1"}, Configuration: swf.Configuration{
		TaskList: &swf.TaskList{Name: "dl"}, TaskStartToCloseTimeout: "60", ExecutionStartToCloseTimeout: "300",
		ChildPolicy: swf.PolicyTerminate,
	}}
	for _, mod := range mods {
		mod(&s)
	}
	input := "in"
	r := w.create(s.Run(swf.RunID(w.bits), &input), nil)
	if r == nil {
		w.t.Fatalf("the execution %q is open", id)
	}
	w.settle()
	return r
}

// poll takes the work of highest priority that has waited longest in a queue, or returns nil.
func (w *world) poll(queue, worker string) *task {
	w.t.Helper()
	var best *simNode
	for _, r := range w.order {
		for _, n := range r.open {
			if n.spec.Queue == queue && n.taken.IsZero() &&
				(best == nil || cmp.Or(cmp.Compare(best.spec.Priority, n.spec.Priority), cmp.Compare(n.seq, best.seq)) < 0) {
				best = n
			}
		}
	}
	if best == nil {
		return nil
	}
	best.taken = w.now
	g := best.run.ask(grow.Cause{Kind: grow.Taken, Call: true, Result: atom.MustEncode(worker)}, best)
	w.settle()
	if g.Reply == nil {
		return nil
	}
	got := &task{node: best, token: best.spec.Token}
	if err := cmp.Or(g.Reply.Decode(&got.decision), g.Reply.Decode(&got.activity)); err != nil {
		w.t.Fatal(err)
	}
	return got
}

// decider polls for a decision task that must be there.
func (w *world) decider(lists ...string) *task {
	w.t.Helper()
	list := cmp.Or(slices.Concat(lists, []string{"dl"})[0], "dl")
	got := w.poll(swf.DecisionQueue(domain, list), "decider-1")
	if got == nil {
		w.t.Fatalf("no decision task on %q\n%s", list, w.order[0].story())
	}
	return got
}

// idle requires that no decision task waits.
func (w *world) idle() {
	w.t.Helper()
	if got := w.poll(swf.DecisionQueue(domain, "dl"), "x"); got != nil {
		w.t.Fatalf("a decision task: %+v\n%s", got.decision, got.node.run.story())
	}
}

func (w *world) worker() *task {
	w.t.Helper()
	got := w.poll(swf.ActivityQueue(domain, "al"), "worker-1")
	if got == nil {
		w.t.Fatal("no activity task")
	}
	return got
}

// answer ends a task by its token. It returns the fault, or nil.
func (w *world) answer(got *task, c grow.Cause) *swf.Fault {
	w.t.Helper()
	if got.node.over || got.node.run.end != nil {
		return &swf.Fault{Type: swf.FaultUnknownResource, Message: "the token has ended"}
	}
	c.Call = true
	g := got.node.run.ask(c, got.node)
	defer w.settle()
	if g.Refuse == nil {
		return nil
	}
	var fault swf.Fault
	if err := g.Refuse.Decode(&fault); err != nil {
		w.t.Fatal(err)
	}
	return &fault
}

// types of the domain.
var (
	all = swf.ActivityDefaults{
		DefaultTaskList: &swf.TaskList{Name: "at-default"}, DefaultTaskHeartbeatTimeout: "NONE",
		DefaultTaskScheduleToCloseTimeout: "60", DefaultTaskScheduleToStartTimeout: "50", DefaultTaskStartToCloseTimeout: "40",
		DefaultTaskPriority: "7",
	}
	undoDefaults = swf.ActivityDefaults{
		DefaultTaskList: &swf.TaskList{Name: "undo"}, DefaultTaskHeartbeatTimeout: "NONE",
		DefaultTaskScheduleToCloseTimeout: "60", DefaultTaskScheduleToStartTimeout: "50", DefaultTaskStartToCloseTimeout: "40",
		DefaultTaskPriority: "7",
	}
	activityTypes = []swf.KnownActivityType{
		{Type: swf.Type{Name: "at", Version: "1"}, Defaults: all},
		{Type: swf.Type{Name: "at-dep", Version: "1"}, Defaults: all, Deprecated: true},
		{Type: swf.Type{Name: "at-bare", Version: "1"}},
		{Type: swf.Type{Name: "at-free", Version: "1"}, Defaults: all},
		{Type: swf.Type{Name: "at-odd", Version: "1"}, Defaults: all},
		{Type: swf.Type{Name: "at-undo", Version: "1"}, Defaults: undoDefaults},
	}
	full = swf.WorkflowDefaults{
		DefaultTaskList: &swf.TaskList{Name: "wt-default"}, DefaultTaskStartToCloseTimeout: "60",
		DefaultExecutionStartToCloseTimeout: "300", DefaultChildPolicy: swf.PolicyTerminate, DefaultTaskPriority: "3",
	}
	workflowTypes = []swf.KnownWorkflowType{
		{Type: swf.Type{Name: "wt", Version: "1"}, Defaults: full},
		{Type: swf.Type{Name: "wt", Version: "2"}, Defaults: full},
		{Type: swf.Type{Name: "wt-dep", Version: "1"}, Defaults: full, Deprecated: true},
		{Type: swf.Type{Name: "wt-bare", Version: "1"}},
	}
)

// complete completes a decision task. Only the types that the batch names are known, as from a server.
func (w *world) complete(got *task, c swf.Completion, decisions ...string) *swf.Fault {
	w.t.Helper()
	c.Decisions = json.RawMessage("[" + strings.Join(decisions, ",") + "]")
	if batch, fault := swf.ParseDecisions(c.Decisions); fault == nil {
		for _, k := range activityTypes {
			if slices.Contains(batch.ActivityTypes(), k.Type) {
				c.ActivityTypes = append(c.ActivityTypes, k)
			}
		}
		var own swf.Start
		if err := got.node.run.info.Attributes.Decode(&own); err != nil {
			w.t.Fatal(err)
		}
		for _, k := range workflowTypes {
			if slices.Contains(batch.WorkflowTypes(own.Type), k.Type) {
				c.WorkflowTypes = append(c.WorkflowTypes, k)
			}
		}
	}
	return w.answer(got, grow.Cause{Kind: grow.Ended, Result: atom.MustEncode(c)})
}

// respond completes a decision task, which must succeed.
func (w *world) respond(got *task, decisions ...string) {
	w.t.Helper()
	if fault := w.complete(got, swf.Completion{}, decisions...); fault != nil {
		w.t.Fatalf("%v", fault)
	}
}

// decide polls and responds.
func (w *world) decide(decisions ...string) {
	w.t.Helper()
	w.respond(w.decider(), decisions...)
}

func (w *world) heartbeat(got *task, details string) (cancelRequested bool) {
	w.t.Helper()
	if got.node.over {
		w.t.Fatal("the token has ended")
	}
	got.node.beat, got.node.details = w.now, swf.Text(&details)
	return got.node.gaveUp
}

func (w *world) call(r *simRun, name string, body any) *swf.Fault {
	w.t.Helper()
	if r.end != nil {
		return &swf.Fault{Type: swf.FaultUnknownResource}
	}
	g := r.ask(grow.Cause{Kind: grow.Asked, Call: true, Name: name, Input: atom.MustEncode(body)}, nil)
	w.settle()
	var fault *swf.Fault
	if g.Refuse != nil {
		_ = g.Refuse.Decode(&fault)
	} else if g.Reply == nil {
		w.t.Fatal("the caller has no reply")
	}
	return fault
}

func (w *world) signal(r *simRun, name string) {
	w.t.Helper()
	input := "i-" + name
	if fault := w.call(r, swf.CallSignal, swf.Signal{SignalName: name, Input: &input}); fault != nil {
		w.t.Fatal(fault)
	}
}

// event returns the attributes of the nth event of a type, from 1.
func (r *simRun) event(typ string, n int) (attributes map[string]any) {
	r.world.t.Helper()
	for i := range r.events {
		if r.events[i].Type == typ {
			if n--; n == 0 {
				if err := r.events[i].Details.Decode(&attributes); err != nil {
					r.world.t.Fatal(err)
				}
				return attributes
			}
		}
	}
	r.world.t.Fatalf("no %s\n%s", typ, r.story())
	return nil
}

// last returns the number of the last event of a type; 0 if there is none.
func (r *simRun) last(typ string) float64 {
	for i, e := range slices.Backward(r.events) {
		if e.Type == typ {
			return float64(i + 1)
		}
	}
	return 0
}

// expect compares attributes with pairs of a name and a value.
func expect(tb testing.TB, a map[string]any, pairs ...any) {
	tb.Helper()
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		want := pairs[i+1]
		if n, ok := want.(int); ok {
			want = float64(n)
		}
		if got, there := a[name]; got != want || want == nil && there {
			tb.Errorf("%s is %v, want %v (of %v)", name, got, want, a)
		}
	}
}

// ends requires the types of the events from a number on.
func (r *simRun) ends(from int, types ...string) {
	r.world.t.Helper()
	if got := r.types(from); !slices.Equal(got, types) {
		r.world.t.Errorf("from event %d: %v\nwant %v", from, got, types)
	}
}

// a decision, with pairs of members and values that JSON can hold.
func decide(typ string, pairs ...any) string {
	attributes := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if name, ok := pairs[i].(string); ok {
			attributes[name] = pairs[i+1]
		}
	}
	text, err := json.Marshal(map[string]any{
		"decisionType": typ, strings.ToLower(typ[:1]) + typ[1:] + "DecisionAttributes": attributes,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func named(name string) map[string]string { return map[string]string{"name": name} }

func typed(name string) map[string]string { return map[string]string{"name": name, "version": "1"} }

func timer(id, seconds string) string {
	return decide("StartTimer", "timerId", id, "startToFireTimeout", seconds, "control", "ctl-"+id)
}

func marker(name string) string { return decide("RecordMarker", "markerName", name, "details", "d") }

func activity(id string, pairs ...any) string {
	return decide("ScheduleActivityTask", append([]any{
		"activityType", typed("at"), "activityId", id, "taskList", named("al"), "input", "in-" + id, "control", "ctl-" + id,
	}, pairs...)...)
}

func startChild(id string, pairs ...any) string {
	return decide("StartChildWorkflowExecution", append([]any{
		"workflowType", typed("wt"), "workflowId", id, "taskList", named("cl"), "input", "child-in", "control", "child-ctl",
	}, pairs...)...)
}

var complete = decide("CompleteWorkflowExecution", "result", "res")

const second = time.Second
