package sm4c_test

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A world runs languages in virtual time, without an engine. It only implements the contract of package flow. A
// question and its answer are one step. The next question knows only what was committed.
type world struct {
	// flows are the languages by the names of their flows.
	flows map[string]grow.Language
	// task says how a task ends; nil gives every task its input back.
	task func(call call) answer
	// sent receives each event that is sent.
	sent func(m grow.Message)
	// steps is how many steps are taken before the world is left as it is; 0 is
	// many.
	steps int

	now    time.Time
	queue  timeline
	seq    int
	runs   map[string]*simRun
	asked  int
	fault  error // a broken contract
	random uint64
}

type simRun struct {
	world   *world
	lang    grow.Language
	about   *grow.RunInfo
	top     *simFlow
	events  []grow.Event
	end     *grow.End
	endedAt time.Time
	parent  *simNode // that waits for it
	begun   bool
	unread  []grow.Cause
	undone  []*simNode // revertible nodes that ended well, in order
}

type call struct {
	run, path, task string
	input           atom.Value
	attempt         int
}

type answer struct {
	output  string // JSON
	failure *atom.Failure
	after   time.Duration
	then    func()
}

type simFlow struct {
	run    *simRun
	path   string
	index  int
	shared atom.Value
	memory atom.Value
	parent *simNode
	open   []*simNode
	names  map[string]bool
	over   bool
	end    *grow.End
	listen bool
	more   bool
}

type simNode struct {
	flow     *simFlow
	spec     grow.Spec
	attempt  int
	children []*simFlow
	begun    int
	ended    int
	decided  bool
	gone     bool
	child    *simRun
}

func (n *simNode) path() string {
	if n.flow.path == "" {
		return n.spec.Name
	}
	return n.flow.path + "/" + n.spec.Name
}

type moment struct {
	at  time.Time
	seq int
	do  func()
}

type timeline []moment

func (t *timeline) Len() int { return len(*t) }
func (t *timeline) Less(i, j int) bool {
	a, b := (*t)[i], (*t)[j]
	return a.at.Before(b.at) || a.at.Equal(b.at) && a.seq < b.seq
}
func (t *timeline) Swap(i, j int) { (*t)[i], (*t)[j] = (*t)[j], (*t)[i] }
func (t *timeline) Push(x any)    { *t = append(*t, x.(moment)) }
func (t *timeline) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}

var epoch = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func newWorld(flows map[string]grow.Language) *world {
	return &world{flows: flows, now: epoch, runs: map[string]*simRun{}}
}

// start begins a run.
func (w *world) start(id, name string, input, attributes atom.Value) *simRun {
	r := &simRun{
		world: w, lang: w.flows[name],
		about: &grow.RunInfo{ID: id, Flow: name, Definition: "hash of " + name, Started: w.now, Input: input, Attributes: attributes},
	}
	if w.runs[id] != nil {
		w.brokenf("there are two runs %s", id)
	}
	w.runs[id] = r
	r.top = &simFlow{run: r, index: -1, names: map[string]bool{}}
	w.at(w.now, func() {
		r.begun = true
		w.ask(r.top, grow.Cause{Kind: grow.Begin, Input: input})
		for _, cause := range r.unread { // messages go before timers
			w.ask(r.top, cause)
		}
	})
	return r
}

// tell sends a message to a run.
func (w *world) tell(r *simRun, kind grow.MessageKind, name string, body []byte) {
	cause := grow.Cause{Kind: grow.Told, Message: kind, Name: name, Result: atom.FromJSON(body)}
	if !r.begun {
		r.unread = append(r.unread, cause)
		return
	}
	if r.end == nil {
		w.ask(r.top, cause)
	}
}

// live continues until nothing more can happen.
func (w *world) live() {
	for steps := 0; len(w.queue) > 0 && w.fault == nil; steps++ {
		if steps == w.steps && steps > 0 {
			return
		}
		m := heap.Pop(&w.queue).(moment)
		w.now = m.at
		m.do()
	}
}

func (w *world) at(when time.Time, do func()) {
	if when.Before(w.now) {
		when = w.now
	}
	w.seq++
	heap.Push(&w.queue, moment{when, w.seq, do})
}

func (w *world) brokenf(format string, args ...any) {
	if w.fault == nil {
		w.fault = fmt.Errorf(format, args...)
	}
}

func (w *world) ask(f *simFlow, cause grow.Cause) {
	r := f.run
	if f.over || r.end != nil {
		return
	}
	w.asked++
	ask := &grow.Ask{
		Run: r.about, Path: f.path, Index: f.index, Shared: f.shared, Memory: slices.Clone(f.memory), Cause: cause,
		Now: w.now, Event: int64(len(r.events)) + 1,
		Random: func() uint64 {
			w.random = w.random*6364136223846793005 + 1442695040888963407
			return w.random ^ w.random<<32
		},
	}
	if f != r.top {
		ask.Outer = slices.Clone(r.top.memory)
	}
	g := r.lang.Grow(ask)
	for _, e := range g.Events {
		if len(e.Details) > 0 && !json.Valid(e.Details.JSON()) {
			w.brokenf("event %s is not JSON: %s", e.Type, e.Details)
		}
		r.events = append(r.events, e)
	}
	if cause.Kind == grow.Stopped {
		return
	}
	w.grown(f, &cause, &g)
}

func (w *world) grown(f *simFlow, cause *grow.Cause, g *grow.Growth) {
	r := f.run
	for _, memory := range []atom.Value{g.Memory, g.Outer} {
		if memory != nil && !json.Valid(memory.JSON()) {
			w.brokenf("%q: the memory is not JSON: %s", f.path, memory)
		}
	}
	if g.Memory != nil {
		f.memory = g.Memory
	}
	if g.Outer != nil {
		if f == r.top {
			w.brokenf("the run's own flow has no outer memory")
		}
		r.top.memory = g.Outer
	}
	for _, m := range g.Out {
		if w.sent != nil {
			w.sent(m)
		}
	}
	if g.Again != nil {
		w.again(f, cause, g.Again)
	} else if cause.Name != "" && cause.Kind != grow.Told {
		f.remove(cause.Name)
	}
	for _, name := range slices.Concat(g.Drop, g.Leave) {
		w.drop(f, name, slices.Contains(g.Leave, name))
	}
	for _, spec := range g.Add {
		w.add(f, spec)
	}
	if !g.Deadline.IsZero() {
		w.at(g.Deadline, func() {
			if !f.over && r.end == nil {
				cancel(f)
				f.open = nil
				w.ask(f, grow.Cause{Kind: grow.Overdue})
			}
		})
	}
	f.listen = g.Listen
	f.more = g.More != nil
	if g.More != nil {
		w.at(w.now, func() { w.ask(f, grow.Cause{Kind: grow.Continue, Note: g.More}) })
	}
	switch {
	case g.End != nil:
		w.close(f, g.End)
	case len(f.open) == 0 && g.More == nil && !g.Listen:
		w.brokenf("%q after %s: nothing is left that could happen", f.path, cause.Kind)
	}
}

func (f *simFlow) find(name string) *simNode {
	for _, n := range f.open {
		if n.spec.Name == name {
			return n
		}
	}
	return nil
}

func (f *simFlow) remove(name string) {
	f.open = slices.DeleteFunc(f.open, func(n *simNode) bool { return n.spec.Name == name })
}

func (w *world) drop(f *simFlow, name string, leave bool) {
	n := f.find(name)
	if n == nil {
		w.brokenf("%q: the node %q is dropped, but not open", f.path, name)
		return
	}
	if leave && n.child != nil {
		n.child.parent = nil
		n.child = nil
	}
	cancelNode(n)
	f.remove(name)
}

// close ends a flow and tells its parent.
func (w *world) close(f *simFlow, end *grow.End) {
	f.over, f.end = true, end
	cancel(f)
	f.open = nil
	if f.parent == nil {
		w.closeRun(f.run, end)
		return
	}
	n := f.parent
	if n.gone || n.decided {
		return
	}
	group := n.spec.Group
	n.ended++
	cause := grow.Cause{EndNote: end.Note}
	switch {
	case end.Failure != nil:
		cause.Kind, cause.Failure, cause.Index = grow.JoinFailed, end.Failure, f.index
	case n.ended == len(n.children) || group.Need > 0 && n.ended >= group.Need:
		cause.Kind = grow.Joined
		for _, child := range n.children {
			var value atom.Value
			if child.end != nil {
				value = child.end.Value
			}
			cause.Results = append(cause.Results, value)
		}
	default:
		w.beginChildren(n)
		return
	}
	n.decided = true
	for _, child := range n.children {
		child.over = true
		cancel(child)
	}
	w.ended(n, cause)
}

func (w *world) closeRun(r *simRun, end *grow.End) {
	r.end, r.endedAt = end, w.now
	n := r.parent
	if n == nil {
		return
	}
	n.child = nil
	cause := grow.Cause{Kind: grow.Ended, Result: end.Value}
	if end.Failure != nil {
		cause = grow.Cause{Kind: grow.Failed, Failure: end.Failure}
	}
	w.at(w.now, func() { w.ended(n, cause) })
}

// cancel ends all open nodes of a flow.
func cancel(f *simFlow) {
	for _, n := range f.open {
		cancelNode(n)
	}
}

func cancelNode(n *simNode) {
	n.gone = true
	for _, child := range n.children {
		child.over = true
		cancel(child)
	}
	if n.child != nil {
		n.child.end = &grow.End{Failure: &atom.Failure{Code: atom.CodeCancelled}}
		cancel(n.child.top)
	}
}

// trace returns the states that a run has entered.
func (r *simRun) trace() []string {
	trace := []string{}
	for _, e := range r.events {
		if e.Type == "StateEntered" {
			trace = append(trace, e.Name)
		}
	}
	return trace
}
