package asl_test

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// A simulator runs a language in virtual time, without an engine: it holds the
// contract of package flow and nothing else.
type simulator struct {
	lang grow.Language
	run  *grow.RunInfo
	// task says how a task ends; nil gives every task its input back.
	task func(call call) answer
	// steps is how many steps are taken before the run is left as it is; 0 is many.
	steps int
	// subs are the runs that were begun by this one.
	subs []*simulator
	// stopAt ends the run from outside; zero never does.
	stopAt time.Time

	tokens int
	now    time.Time
	events []grow.Event
	queue  timeline
	seq    int
	end    *grow.End
	status string
	top    *simFlow
	asked  int
	undone []*simNode // revertible nodes that ended, in order, and were not undone
	// undo says how the undoing of a node ends; nil undoes all. What was undone is in reverted.
	undo     func(path string) *atom.Failure
	past     map[string]*grow.Past // of nodes, by their paths
	reverted []string
	fault    error // a broken contract
	recalled int   // how often an answer has recalled a node, at most
	random   uint64
}

type call struct {
	name, path, resource string
	input                atom.Value
	attempt              int
	timeout              time.Duration
}

type answer struct {
	output    string // JSON
	submitted string // JSON: the result of a call whose task its token ended; "" is {}
	worker    string // the worker that took the work
	failure   *atom.Failure
	after     time.Duration
	never     bool
}

type simFlow struct {
	path   string
	index  int
	shared atom.Value
	memory atom.Value
	parent *simNode
	open   []*simNode
	names  map[string]bool
	over   bool
	end    *grow.End
}

type simNode struct {
	flow     *simFlow
	spec     grow.Spec
	attempt  int
	children []*simFlow
	begun    int
	ended    int
	gone     bool
	memo     any // of the children
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

// simulate runs a machine to its end, or until nothing is left that could happen.
func simulate(tb testing.TB, lang grow.Language, input string, task func(call) answer) *simulator {
	tb.Helper()
	s := &simulator{lang: lang, task: task}
	s.start(input)
	if s.fault != nil {
		tb.Fatal(s.fault)
	}
	return s
}

func (s *simulator) start(input string) {
	if s.run == nil {
		s.run = &grow.RunInfo{ID: "run-1", Flow: "test", Started: epoch}
	}
	s.now = s.run.Started
	if input != "" {
		s.run.Input = atom.FromJSON([]byte(input))
	}
	s.top = &simFlow{index: -1, names: map[string]bool{}}
	s.at(s.now, func() { s.ask(s.top, grow.Cause{Kind: grow.Begin, Input: s.run.Input}) })
	if !s.stopAt.IsZero() {
		s.at(s.stopAt, s.stop)
	}
	for steps := 0; len(s.queue) > 0 && s.end == nil && s.fault == nil; steps++ {
		if steps == s.steps && steps > 0 {
			return
		}
		m := heap.Pop(&s.queue).(moment)
		s.now = m.at
		m.do()
	}
}

func (s *simulator) stop() {
	s.ask(s.top, grow.Cause{Kind: grow.Stopped, Aborted: openPaths(s.top)})
	s.status = "ABORTED"
	s.end = &grow.End{}
}

func (s *simulator) at(when time.Time, do func()) {
	if when.Before(s.now) {
		when = s.now
	}
	s.seq++
	heap.Push(&s.queue, moment{when, s.seq, do})
}

func (s *simulator) brokenf(format string, args ...any) {
	if s.fault == nil {
		s.fault = fmt.Errorf(format, args...)
	}
}

func (s *simulator) ask(f *simFlow, cause grow.Cause) {
	if f.over {
		return
	}
	s.asked++
	recalled := 0
	var memo *any
	if f.parent != nil {
		memo = &f.parent.memo
	}
	g := s.lang.Grow(&grow.Ask{
		Run: s.run, Path: f.path, Index: f.index, Shared: f.shared, Memo: memo, Memory: f.memory, Cause: cause,
		Now: s.now, Event: int64(len(s.events)) + 1,
		Token: func() string { s.tokens++; return fmt.Sprintf("token-%d", s.tokens) },
		Recall: func(name string) (grow.Past, bool) {
			recalled++
			past := s.past[(&simNode{flow: f, spec: grow.Spec{Name: name}}).path()]
			if past == nil {
				return grow.Past{}, false
			}
			return *past, true
		},
		Random: func() uint64 {
			s.random = s.random*6364136223846793005 + 1442695040888963407
			return s.random ^ s.random<<32
		},
	})
	s.recalled = max(s.recalled, recalled)
	for _, e := range g.Events {
		if e.Prev > int64(len(s.events)) {
			s.brokenf("event %d %s follows from event %d", len(s.events)+1, e.Type, e.Prev)
		}
		if len(e.Details) > 0 && !json.Valid(e.Details.JSON()) || len(e.Body) > 0 && !json.Valid(e.Body.JSON()) {
			s.brokenf("event %s is not JSON: %s %s", e.Type, e.Details, e.Body)
		}
		s.events = append(s.events, e)
	}
	if cause.Kind == grow.Stopped {
		return
	}
	if g.Memory != nil {
		f.memory = g.Memory
	}
	f.drop(g.Drop, g.DropNext)
	for _, spec := range g.Add {
		s.add(f, spec)
	}
	if g.Undo != nil {
		s.at(s.now, func() { s.rollBack(f, g.Undo) })
	}
	switch {
	case g.Again != nil:
		s.again(f, cause, g.Again)
	case cause.Kind == grow.Taken || cause.Kind == grow.Called:
		f.note(cause.Name, g.Note)
	case cause.Kind != grow.Begin && cause.Kind != grow.Continue && cause.Kind != grow.Overdue:
		f.remove(cause.Name)
	}
	if !g.Deadline.IsZero() {
		s.at(g.Deadline, func() {
			if !f.over {
				s.ask(f, grow.Cause{Kind: grow.Overdue, Aborted: openPaths(f)})
			}
		})
	}
	if g.More != nil {
		s.at(s.now, func() { s.ask(f, grow.Cause{Kind: grow.Continue, Note: g.More}) })
	}
	switch {
	case g.End != nil:
		s.close(f, g.End)
	case len(f.open) == 0 && g.More == nil && g.Undo == nil:
		s.brokenf("%q after %s: nothing is left that could happen", f.path, cause.Kind)
	}
}

// rollBack undoes the part that a flow wants undone.
func (s *simulator) rollBack(f *simFlow, want *grow.Undoing) {
	cause := grow.Cause{Kind: grow.Undone, Note: want.Note}
	within := func(path, name string) bool {
		rest, ok := strings.CutPrefix(path, (&simNode{flow: f, spec: grow.Spec{Name: name}}).path())
		return ok && (rest == "" || rest[0] == '[' || rest[0] == '@')
	}
	var left []*simNode
	for i, n := range slices.Backward(s.undone) {
		if want.To != "" && within(n.path(), want.To) {
			left = append(s.undone[:i+1:i+1], left...)
			break
		}
		mine := f.path == "" || strings.HasPrefix(n.path(), f.path+"/")
		if !mine || want.Under != "" && !within(n.path(), want.Under) {
			left = append([]*simNode{n}, left...)
			continue
		}
		if s.undo != nil {
			if cause.Failure = s.undo(n.path()); cause.Failure != nil {
				cause.Kind = grow.UndoFailed
				left = append(s.undone[:i+1:i+1], left...)
				break
			}
		}
		s.reverted = append(s.reverted, n.path())
	}
	s.undone = left
	s.ask(f, cause)
}

func (f *simFlow) note(name string, note atom.Value) {
	for _, n := range f.open {
		if n.spec.Name == name && note != nil {
			n.spec.Note = note
		}
	}
}

func (f *simFlow) drop(names []string, next int) {
	for i, n := range f.open {
		n.gone = n.gone || i < next || slices.Contains(names, n.spec.Name)
	}
	f.open = slices.DeleteFunc(f.open, func(n *simNode) bool { return n.gone })
}

func (f *simFlow) remove(name string) {
	for i, n := range f.open {
		if n.spec.Name == name {
			f.open = append(f.open[:i:i], f.open[i+1:]...)
			return
		}
	}
}

// close ends a flow and tells its parent.
func (s *simulator) close(f *simFlow, end *grow.End) {
	f.over, f.end = true, end
	cancel(f)
	if f.parent == nil {
		s.end = end
		switch {
		case end.TimedOut:
			s.status = "TIMED_OUT"
		case end.Failure != nil:
			s.status = "FAILED"
		default:
			s.status = "SUCCEEDED"
		}
		return
	}
	n := f.parent
	cause := grow.Cause{Name: n.spec.Name, Note: n.spec.Note, Attempt: n.attempt, EndNote: end.Note}
	if end.Failure != nil {
		cause.Kind, cause.Failure, cause.Index = grow.JoinFailed, end.Failure, f.index
		for _, child := range n.children {
			if !child.over {
				cause.Aborted = append(cause.Aborted, openPaths(child)...)
				child.over = true
				cancel(child)
			}
		}
		s.ask(n.flow, cause)
		return
	}
	if n.ended++; n.ended < len(n.children) {
		s.beginChildren(n)
		return
	}
	cause.Kind = grow.Joined
	for _, child := range n.children {
		cause.Results = append(cause.Results, child.end.Value)
	}
	s.ask(n.flow, cause)
}

// cancel ends all open nodes of a flow.
func cancel(f *simFlow) {
	for _, n := range f.open {
		n.gone = true
		for _, child := range n.children {
			child.over = true
			cancel(child)
		}
	}
}

func openPaths(f *simFlow) []string {
	var paths []string
	for _, n := range f.open {
		paths = append(paths, n.path())
		for _, child := range n.children {
			if !child.over {
				paths = append(paths, openPaths(child)...)
			}
		}
	}
	return paths
}

// types returns the types of the events, with their states.
func (s *simulator) types() []string {
	out := make([]string, len(s.events))
	for i, e := range s.events {
		out[i] = e.Type
		if e.Name != "" {
			out[i] += " " + e.Name
		}
	}
	return out
}
