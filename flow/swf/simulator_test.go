package swf_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// A world runs executions in virtual time, without an engine: it holds the contract of package flow and nothing else.
// What was committed with an answer is all that the next question knows. It checks the contract, and each event.
type world struct {
	t    testing.TB
	lang *swf.Language
	// function calls a lambda function; nil returns its payload at once.
	function func(name string, payload json.RawMessage) (result string, failure *atom.Failure, after time.Duration)

	now     time.Time
	random  uint64
	runs    map[string]*simRun
	order   []*simRun
	keys    map[string]*simRun
	lost    bool     // the histories of closed executions are deleted
	broken  int      // how often what finds the next undo still fails
	signals int      // accepted by a run, of the API and of other executions
	ready   []func() // what happens at once, after the commit of an answer
	seq     int
}

type simRun struct {
	world  *world
	info   *flow.RunInfo
	memory atom.Value
	open   []*simNode
	names  map[string]bool
	events []flow.Event
	times  []time.Time
	fold   swf.Fold
	labels map[string]string
	end    *flow.End
	parent *simNode
	person string // what a person must decide, or ""
	listen bool
}

type simNode struct {
	run                *simRun
	spec               flow.Spec
	seq                int
	began, taken, beat time.Time
	details            atom.Value // of the last heartbeat
	gaveUp, over       bool
	child              *simRun
	ends               time.Time // of a task of the engine
	taskEnd            flow.Cause
}

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func newWorld(tb testing.TB, settings swf.Settings) *world {
	tb.Helper()
	return &world{t: tb, lang: swf.New(settings), now: epoch, runs: map[string]*simRun{}, keys: map[string]*simRun{}, random: 1}
}

func (w *world) bits() uint64 {
	w.random = w.random*6364136223846793005 + 1442695040888963407
	return w.random ^ w.random>>29
}

// create makes a run, unless an open run has its key.
func (w *world) create(c *flow.Child, parent *simNode) *simRun {
	w.t.Helper()
	if c.Key != "" && w.keys[c.Key] != nil {
		return nil
	}
	r := &simRun{
		world: w, memory: nil, names: map[string]bool{}, labels: map[string]string{}, parent: parent,
		info: &flow.RunInfo{ID: c.ID, Flow: c.Flow, Key: c.Key, Started: w.now, Input: c.Input, Attributes: c.Attributes},
	}
	maps.Copy(r.labels, c.Labels)
	if w.runs[c.ID] != nil || c.ID == "" || (c.Key == "") != c.Detached || c.Flow != swf.FlowName {
		w.t.Fatalf("the run %+v cannot be created", c)
	}
	w.runs[c.ID], w.order = r, append(w.order, r)
	if c.Key != "" {
		w.keys[c.Key] = r
	}
	w.ready = append(w.ready, func() { r.ask(flow.Cause{Kind: flow.Begin, Input: c.Input}, nil) })
	return r
}

// settle executes everything that happens at once.
func (w *world) settle() {
	for len(w.ready) > 0 {
		f := w.ready[0]
		w.ready = w.ready[1:]
		f()
	}
}

// ask asks the language, and commits its answer unless it refuses a call. n is the node that the cause is about.
func (r *simRun) ask(c flow.Cause, n *simNode) *flow.Growth {
	w := r.world
	w.t.Helper()
	if r.end != nil {
		return nil
	}
	if n != nil {
		c.Name, c.Note, c.Attempt = n.spec.Name, n.spec.Note, 1
	}
	g := w.lang.Grow(&flow.Ask{
		Run: r.info, Index: -1, Memory: slices.Clone(r.memory), Cause: c, Now: w.now, Event: int64(len(r.events)) + 1,
		Random: w.bits, Token: func() string { return fmt.Sprintf("token-%d", w.bits()) },
	})
	if g.Refuse != nil {
		if !c.Call || g.End != nil || len(g.Events)+len(g.Add)+len(g.Send) > 0 || g.Memory != nil {
			w.t.Fatalf("%v: a refusal that does something: %+v", c.Kind, g)
		}
		return &g
	}
	r.commit(&c, &g, n)
	return &g
}

func (r *simRun) commit(c *flow.Cause, g *flow.Growth, n *simNode) {
	w := r.world
	w.t.Helper()
	if g.More != nil || g.Undo != nil || g.Outer != nil || !g.Deadline.IsZero() || len(g.Out) > 0 {
		w.t.Fatalf("the world does not know this answer: %+v", g)
	}
	switch {
	case g.Again != nil:
		n.ends = w.now.Add(g.Again.After)
		n.call()
	case n != nil && (c.Kind == flow.Ended || c.Kind == flow.Failed):
		r.remove(n)
	}
	if r.listen = g.Listen; g.Person != nil {
		r.person = g.Person.Message
	}
	if g.Note != nil && n != nil {
		n.spec.Note = g.Note
	}
	r.memory = g.Memory
	maps.Copy(r.labels, g.Labels)
	for _, name := range g.Drop {
		r.remove(r.find(name))
	}
	for _, name := range g.GiveUp {
		r.find(name).gaveUp = true
	}
	for _, spec := range g.Add {
		r.begin(spec)
	}
	for _, name := range g.Leave {
		left := r.find(name)
		if left.spec.Kind != flow.Nested {
			w.t.Fatalf("%s is left, but not a run", name)
		}
		if left.child != nil {
			left.child.parent = nil
		}
		r.remove(left)
	}
	for _, m := range g.Send {
		w.ready = append(w.ready, func() { w.deliver(r, m) })
	}
	r.record(g)
	if g.End != nil {
		r.close(g.End)
	}
	r.check()
}

func (r *simRun) find(name string) *simNode {
	for _, n := range r.open {
		if n.spec.Name == name {
			return n
		}
	}
	r.world.t.Helper()
	r.world.t.Fatalf("no open node %q", name)
	return nil
}

func (r *simRun) remove(n *simNode) {
	n.over = true
	r.open = slices.DeleteFunc(r.open, func(o *simNode) bool { return o == n })
}

func (r *simRun) begin(spec flow.Spec) {
	w := r.world
	w.t.Helper()
	if r.names[spec.Name] {
		w.t.Fatalf("the node %q is added twice", spec.Name)
	}
	r.names[spec.Name] = true
	w.seq++
	n := &simNode{run: r, spec: spec, seq: w.seq, began: w.now}
	r.open = append(r.open, n)
	switch spec.Kind {
	case flow.Timer:
	case flow.Work:
		if spec.Token == "" {
			n.call()
		} else if spec.Queue == "" || spec.Task != "" {
			w.t.Fatalf("work with a token and without a queue: %+v", spec)
		}
	case flow.Nested:
		if spec.Child.Detached {
			w.create(spec.Child, nil)
			r.remove(n)
			return
		}
		if n.child = w.create(spec.Child, n); n.child == nil {
			w.ready = append(w.ready, func() {
				n.endWith(flow.Cause{Kind: flow.Failed, Failure: &atom.Failure{Code: atom.CodeKeyTaken}})
			})
			return
		}
		if spec.Report {
			w.ready = append(w.ready, func() {
				if !n.over {
					r.ask(flow.Cause{Kind: flow.Called, Run: true, Result: atom.MustEncode(n.child.info.ID)}, n)
				}
			})
		}
	default:
		w.t.Fatalf("the world does not know this node: %+v", spec)
	}
}

// call lets the engine call the task of a node.
func (n *simNode) call() {
	w := n.run.world
	if n.spec.Task == swf.UndoTask {
		n.findUndo()
		return
	}
	var in struct {
		FunctionName string
		Payload      json.RawMessage
	}
	if err := n.spec.Input.Decode(&in); err != nil || n.spec.Task != swf.LambdaTask {
		w.t.Fatalf("task %s of %s: %v", n.spec.Task, n.spec.Input, err)
	}
	result, failure, after := string(in.Payload), (*atom.Failure)(nil), time.Duration(0)
	if w.function != nil {
		result, failure, after = w.function(in.FunctionName, in.Payload)
	}
	n.ends, n.taskEnd = w.now.Add(after), flow.Cause{Kind: flow.Failed, Failure: failure}
	if failure == nil {
		n.taskEnd = flow.Cause{Kind: flow.Ended, Result: atom.FromJSON([]byte(`{"StatusCode":200,"Payload":` + result + `}`))}
	}
	if n.spec.Timeout > 0 && after > n.spec.Timeout {
		n.ends, n.taskEnd = w.now.Add(n.spec.Timeout), flow.Cause{Kind: flow.Failed, Failure: &atom.Failure{Code: atom.CodeTimeout}}
	}
}

// findUndo finds what an execution that undoes has to undo next.
func (n *simNode) findUndo() {
	w := n.run.world
	n.ends = w.now.Add(time.Millisecond)
	var ask swf.UndoAsk
	if err := n.spec.Input.Decode(&ask); err != nil {
		w.t.Fatal(err)
	}
	if w.broken > 0 {
		w.broken--
		n.taskEnd = flow.Cause{Kind: flow.Failed, Failure: &atom.Failure{Code: "Boom"}}
		return
	}
	step, err := swf.NextUndo(&ask, func(before int64) iter.Seq2[swf.NumberedEvent, error] {
		return func(yield func(swf.NumberedEvent, error) bool) {
			of := w.runs[ask.RunID]
			for i := min(before-2, int64(len(of.events))-1); i >= 0 && !w.lost; i-- {
				if !yield(swf.NumberedEvent{Number: i + 1, Event: of.events[i]}, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if i := slices.IndexFunc(activityTypes, func(k swf.KnownActivityType) bool { return k.Type == step.By }); i >= 0 && step.Item != nil {
		step.Known = &activityTypes[i]
	}
	n.taskEnd = flow.Cause{Kind: flow.Ended, Result: atom.MustEncode(step)}
}

func (n *simNode) endWith(c flow.Cause) {
	if !n.over {
		n.run.ask(c, n)
	}
}

// deliver delivers a message by its key, and tells the sender of it.
func (w *world) deliver(from *simRun, m flow.Message) {
	w.t.Helper()
	to := w.keys[m.ToKey]
	receipt := flow.Cause{Kind: flow.Receipt, Name: m.Receipt, Note: m.Note, Failure: &atom.Failure{Code: atom.CodeUndelivered}}
	if to != nil && (m.To == "" || m.To == to.info.ID) {
		if m.Name == "signal" {
			w.signals++
		}
		to.ask(flow.Cause{Kind: flow.Told, Message: m.Kind, Name: m.Name, Result: m.Body, From: from.info.ID}, nil)
		receipt.Failure, receipt.Result = nil, atom.MustEncode(to.info.ID)
	}
	if m.Receipt != "" {
		from.ask(receipt, nil)
	}
}

func (r *simRun) close(end *flow.End) {
	w := r.world
	r.end = end
	for _, n := range r.open {
		n.over = true
		if n.child != nil {
			w.t.Fatalf("the child %s of a closed execution is neither awaited nor left", n.spec.Name)
		}
	}
	r.open = nil
	delete(w.keys, r.info.Key)
	n := r.parent
	if end.Successor != nil {
		next := w.create(end.Successor, n)
		if n != nil {
			n.child = next
		}
		return
	}
	if n == nil {
		return
	}
	n.child = nil
	cause := flow.Cause{Kind: flow.Ended, Run: true, Result: end.Value, Failure: end.Failure}
	if end.Failure != nil {
		cause.Kind = flow.Failed
	}
	w.ready = append(w.ready, func() { n.endWith(cause) })
}

// due returns when something happens to a node by itself, and what.
func (n *simNode) due() (at time.Time, cause flow.Cause) {
	earliest := func(t time.Time, c flow.Cause) {
		if at.IsZero() || t.Before(at) {
			at, cause = t, c
		}
	}
	limit := func(from time.Time, d time.Duration, code string) {
		if !from.IsZero() && d > 0 {
			f := &atom.Failure{Code: code}
			if code == atom.CodeHeartbeatLost || code == atom.CodeStartToClose || code == atom.CodeTimeout {
				f.Details = n.details
			}
			earliest(from.Add(d), flow.Cause{Kind: flow.Failed, Failure: f})
		}
	}
	switch s := &n.spec; {
	case s.Kind == flow.Timer:
		earliest(s.Due, flow.Cause{Kind: flow.Ended})
	case s.Kind == flow.Work && s.Token == "":
		earliest(n.ends, n.taskEnd)
	case s.Kind == flow.Work:
		limit(n.began, s.Timeout, atom.CodeTimeout)
		if n.taken.IsZero() {
			limit(n.began, s.ToStart, atom.CodeScheduleToStart)
			break
		}
		limit(n.taken, s.ToClose, atom.CodeStartToClose)
		beat := n.taken
		if n.beat.After(beat) {
			beat = n.beat
		}
		limit(beat, s.Heartbeat, atom.CodeHeartbeatLost)
	}
	return at, cause
}

// advance lets time pass.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	w.settle()
	until := w.now.Add(d)
	for {
		var next *simNode
		var at time.Time
		var cause flow.Cause
		for _, r := range w.order {
			for _, n := range r.open {
				if due, c := n.due(); !due.IsZero() && !due.After(until) && (next == nil || due.Before(at)) {
					next, at, cause = n, due, c
				}
			}
		}
		if next == nil {
			break
		}
		if at.After(w.now) {
			w.now = at
		}
		next.endWith(cause)
		w.settle()
	}
	w.now = until
}

// record appends events, and compares each with the table.
func (r *simRun) record(g *flow.Growth) {
	w := r.world
	w.t.Helper()
	wanted := false
	for i := range g.Events {
		e := &g.Events[i]
		scheduled := r.fold.Counts().OpenDecisionTasks
		if err := r.fold.Add(e); err != nil {
			w.t.Fatal(err, "\n", r.story())
		}
		r.events, r.times = append(r.events, *e), append(r.times, w.now)
		r.checkEvent(e)
		entry := history.ByType(e.Type)
		wanted = wanted || entry.Schedules != history.Never
		if strings.Contains(e.Details.String(), "UNHANDLED_DECISION") && scheduled == 0 {
			w.t.Fatalf("%s, but no decision task is scheduled\n%s", e.Type, r.story())
		}
		if entry.Closes && (i < len(g.Events)-1 || g.End == nil) {
			w.t.Fatalf("%s is not the end", e.Type)
		}
	}
	if wanted && g.End == nil {
		if c := r.fold.Counts(); c.OpenDecisionTasks == 0 {
			w.t.Fatalf("no decision task is scheduled\n%s", r.story())
		}
	}
}

// checkEvent compares the attributes of the last event with the table.
func (r *simRun) checkEvent(e *flow.Event) {
	t := r.world.t
	t.Helper()
	seen.note(t, e)
	var a map[string]json.RawMessage
	if err := e.Details.Decode(&a); err != nil {
		t.Fatalf("%s: %v", e.Type, err)
	}
	for _, attribute := range history.ByType(e.Type).Attributes {
		raw, there := a[attribute.Name]
		delete(a, attribute.Name)
		if !there {
			if attribute.Required {
				t.Fatalf("%s lacks %s: %s", e.Type, attribute.Name, e.Details)
			}
			continue
		}
		var text string
		var n int64
		var object map[string]string
		var list []string
		var err error
		switch attribute.Kind {
		case history.Text:
			err = json.Unmarshal(raw, &text)
		case history.Ref:
			if err = json.Unmarshal(raw, &n); err == nil && !attribute.Foreign {
				r.checkRef(e, &attribute, n)
			}
		case history.Tags:
			err = json.Unmarshal(raw, &list)
		default:
			err = json.Unmarshal(raw, &object)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", e.Type, attribute.Name, err)
		}
	}
	for name := range a {
		t.Fatalf("%s: the attribute %s is not in the table", e.Type, name)
	}
}

func (r *simRun) checkRef(e *flow.Event, a *history.Attribute, n int64) {
	t := r.world.t
	t.Helper()
	switch {
	case n == 0 && a.Zero:
	case n < 1 || n >= int64(len(r.events)):
		t.Fatalf("%s: %s is %d, of %d events", e.Type, a.Name, n, len(r.events))
	case r.events[n-1].Type != a.To:
		t.Fatalf("%s: %s is a %s, not a %s\n%s", e.Type, a.Name, r.events[n-1].Type, a.To, r.story())
	}
}

// check compares the run with its history: closed or not, open counts, and the nodes.
func (r *simRun) check() {
	t := r.world.t
	t.Helper()
	d, err := swf.Describe(r.memory)
	if err != nil {
		t.Fatal(err)
	}
	counts := r.fold.Counts()
	if d.OpenCounts != counts || (r.end != nil) != r.fold.Closed {
		t.Fatalf("the memory has %+v, the events have %+v; closed: %t, %t\n%s", d.OpenCounts, counts, r.end != nil, r.fold.Closed, r.story())
	}
	nodes := map[flow.Kind]int{}
	work := 0
	for _, n := range r.open {
		nodes[n.spec.Kind]++
		if n.spec.Kind == flow.Work && n.spec.Task == swf.LambdaTask {
			work++
		}
	}
	timeouts := 0
	if nodes[flow.Timer] > counts.OpenTimers {
		timeouts = 1
	}
	if r.end == nil && len(r.open) == 0 && !r.listen {
		t.Fatalf("there is nothing to wait for\n%s", r.story())
	}
	if r.end == nil && (nodes[flow.Timer] != counts.OpenTimers+timeouts || nodes[flow.Nested] != counts.OpenChildWorkflowExecutions ||
		work != counts.OpenLambdaFunctions || nodes[flow.Work]-work != counts.OpenActivityTasks+counts.OpenDecisionTasks) {
		t.Fatalf("the nodes are %v, the events have %+v\n%s", nodes, counts, r.story())
	}
}

// story returns the history for people.
func (r *simRun) story() (s string) {
	for i, e := range r.events {
		s += fmt.Sprintf("%4d %v %s %s\n", i+1, r.times[i].Sub(epoch), e.Type, e.Details)
	}
	return s
}

// types returns the types of the events, from an event on.
func (r *simRun) types(from int) (types []string) {
	for _, e := range r.events[from-1:] {
		types = append(types, e.Type)
	}
	return types
}
