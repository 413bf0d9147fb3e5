package asl

import (
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// A place is where the definition has a state: in a branch of another state.
type place struct {
	in     string // "" at the top
	branch int
}

// A tracedLevel is a level that the run is in.
type tracedLevel struct {
	path    string
	owner   string // name of the state that the level belongs to; "" for the machine
	branch  int
	outside *tracedLevel            // around the level
	inside  map[string]*tracedLevel // of the open visit, by path
	inline  bool                    // its events are those of the flow around it
	visits  map[string]int          // of each state
	open    *grow.Visit             // nil between two states
	broke   *atom.Failure           // why the open visit's last attempt failed
	ended   *grow.Visit             // the visit before
	last    int64                   // number of the last event
}

// has reports whether the states of a place are in the level.
func (l *tracedLevel) has(p place) bool {
	return l.owner == p.in && (l.branch == p.branch || p.in == "")
}

func (l *tracedLevel) keep(inner *tracedLevel) {
	if l.inside == nil {
		l.inside = map[string]*tracedLevel{}
	}
	l.inside[inner.path] = inner
}

// into returns the level of a branch whose events are those of the flow around it.
func (l *tracedLevel) into(branch int) *tracedLevel { return l.child(branch, branch) }

func (l *tracedLevel) child(index, branch int) *tracedLevel {
	inner := &tracedLevel{
		path: nodepath.Child(l.open.Path, 1, index), owner: l.open.State, branch: branch,
		outside: l, inline: true, visits: map[string]int{},
	}
	l.inside = nil // the branch before has ended
	l.keep(inner)
	return inner
}

// visit returns something that happened to the level itself.
func (l *tracedLevel) visit(stage grow.VisitStage, number int64) grow.Visit {
	return grow.Visit{Stage: stage, Path: l.path, Level: l.outside.path, Entered: number}
}

func (t *tracer) place(l *syntax.Level, in string, branch int) {
	for _, s := range l.States {
		t.places[s.Name] = place{in, branch}
		for i, inner := range s.Within() {
			t.place(inner, s.Name, i)
		}
	}
}

// levelOf returns the level of a flow that a state is in.
func (t *tracer) levelOf(path, state string) *tracedLevel {
	l := t.flow(path)
	is, known := t.places[state]
	for known && !l.has(is) {
		switch {
		case l.open != nil && l.open.State == is.in:
			l = l.into(is.branch)
		case l.inline:
			l = l.outside
		default:
			known = false // a run of a distributed Map's item, or a level of another version
		}
	}
	t.flows[path] = l
	return l
}

// flow returns the level that a flow is in.
func (t *tracer) flow(path string) *tracedLevel {
	if l := t.flows[path]; l != nil {
		return l
	}
	l := &tracedLevel{path: path, visits: map[string]int{}}
	if path != "" {
		around, last := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			around, last = path[:i], path[i+1:]
		}
		fork, index, _ := nodepath.CutIndex(last)
		if l.owner, l.branch = nodepath.State(fork), index; t.machine.States[l.owner] == nil {
			if at := strings.LastIndexByte(fork, '@'); at > 0 { // a further attempt
				l.owner = nodepath.State(fork[:at])
			}
		}
		if s := t.machine.States[l.owner]; s != nil && s.Items != nil {
			l.branch = 0
		}
		if l.outside = t.flow(around); l.outside.open != nil {
			l.outside.keep(l)
		}
	}
	t.flows[path] = l
	return l
}
