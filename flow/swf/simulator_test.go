package swf_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf"
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
	info   *grow.RunInfo
	memory atom.Value
	open   []*simNode
	names  map[string]bool
	events []grow.Event
	times  []time.Time
	fold   swf.Fold
	labels map[string]string
	end    *grow.End
	parent *simNode
	person string // what a person must decide, or ""
	listen bool
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
func (w *world) create(c *grow.Child, parent *simNode) *simRun {
	w.t.Helper()
	if c.Key != "" && w.keys[c.Key] != nil {
		return nil
	}
	r := &simRun{
		world: w, memory: nil, names: map[string]bool{}, labels: map[string]string{}, parent: parent,
		info: &grow.RunInfo{ID: c.ID, Flow: c.Flow, Key: c.Key, Started: w.now, Input: c.Input, Attributes: c.Attributes},
	}
	maps.Copy(r.labels, c.Labels)
	if w.runs[c.ID] != nil || c.ID == "" || (c.Key == "") != c.Detached || c.Flow != swf.FlowName {
		w.t.Fatalf("the run %+v cannot be created", c)
	}
	w.runs[c.ID], w.order = r, append(w.order, r)
	if c.Key != "" {
		w.keys[c.Key] = r
	}
	w.ready = append(w.ready, func() { r.ask(grow.Cause{Kind: grow.Begin, Input: c.Input}, nil) })
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
func (r *simRun) ask(c grow.Cause, n *simNode) *grow.Growth {
	w := r.world
	w.t.Helper()
	if r.end != nil {
		return nil
	}
	if n != nil {
		c.Name, c.Note, c.Attempt = n.spec.Name, n.spec.Note, 1
	}
	g := w.lang.Grow(&grow.Ask{
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

func (r *simRun) commit(c *grow.Cause, g *grow.Growth, n *simNode) {
	w := r.world
	w.t.Helper()
	if g.More != nil || g.Undo != nil || g.Outer != nil || !g.Deadline.IsZero() || len(g.Out) > 0 {
		w.t.Fatalf("the world does not know this answer: %+v", g)
	}
	switch {
	case g.Again != nil:
		n.ends = w.now.Add(g.Again.After)
		n.call()
	case n != nil && (c.Kind == grow.Ended || c.Kind == grow.Failed):
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
		if left.spec.Kind != grow.Nested {
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

func (r *simRun) begin(spec grow.Spec) {
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
	case grow.Timer:
	case grow.Work:
		if spec.Token == "" {
			n.call()
		} else if spec.Queue == "" || spec.Task != "" {
			w.t.Fatalf("work with a token and without a queue: %+v", spec)
		}
	case grow.Nested:
		if spec.Child.Detached {
			w.create(spec.Child, nil)
			r.remove(n)
			return
		}
		if n.child = w.create(spec.Child, n); n.child == nil {
			w.ready = append(w.ready, func() {
				n.endWith(grow.Cause{Kind: grow.Failed, Failure: &atom.Failure{Code: atom.CodeKeyTaken}})
			})
			return
		}
		if spec.Report {
			w.ready = append(w.ready, func() {
				if !n.over {
					r.ask(grow.Cause{Kind: grow.Called, Run: true, Result: atom.MustEncode(n.child.info.ID)}, n)
				}
			})
		}
	default:
		w.t.Fatalf("the world does not know this node: %+v", spec)
	}
}

// deliver delivers a message by its key, and tells the sender of it.
func (w *world) deliver(from *simRun, m grow.Message) {
	w.t.Helper()
	to := w.keys[m.ToKey]
	receipt := grow.Cause{Kind: grow.Receipt, Name: m.Receipt, Note: m.Note, Failure: &atom.Failure{Code: atom.CodeUndelivered}}
	if to != nil && (m.To == "" || m.To == to.info.ID) {
		if m.Name == "signal" {
			w.signals++
		}
		to.ask(grow.Cause{Kind: grow.Told, Message: m.Kind, Name: m.Name, Result: m.Body, From: from.info.ID}, nil)
		receipt.Failure, receipt.Result = nil, atom.MustEncode(to.info.ID)
	}
	if m.Receipt != "" {
		from.ask(receipt, nil)
	}
}

func (r *simRun) close(end *grow.End) {
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
	cause := grow.Cause{Kind: grow.Ended, Run: true, Result: end.Value, Failure: end.Failure}
	if end.Failure != nil {
		cause.Kind = grow.Failed
	}
	w.ready = append(w.ready, func() { n.endWith(cause) })
}

// advance lets time pass.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	w.settle()
	until := w.now.Add(d)
	for {
		var next *simNode
		var at time.Time
		var cause grow.Cause
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
