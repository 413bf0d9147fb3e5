package inspect

import (
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/nodepath"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// A state of a language may have no atom: it only computes, or ends before it starts to work. The visit of such a state
// is a step of the tree, too.

// An openVisit is a visit that an atom may show.
type openVisit struct {
	state string
	shown bool // an atom shows it
}

// Traced returns what a line of a run's history says about visits of states, as the tracer of its language reads it.
// The slice is valid until the next call.
func Traced(tracer grow.Tracer, e *storage.Entry) []grow.Visit {
	return tracer.Trace(e.Number, e.Flow, &grow.Event{
		Type: e.Type, Prev: e.Prev, Name: e.Path, Details: e.Details, Key: e.Key, Body: e.Body.Data,
	})
}

// visit applies an event of a visit to the tree.
func (t *Tree) visit(v *grow.Visit, at time.Time) {
	path := v.Path
	switch {
	case v.Stage == grow.VisitTaken:
		if s := t.steps[path]; s != nil {
			s.taken(at)
		}
		return
	case v.Stage == grow.VisitTried || v.Stage == grow.VisitDid || v.Stage == grow.VisitBroke:
		return
	case v.Stage == grow.VisitEntered && v.Nodes:
		t.open[v.Level] = &openVisit{state: v.State}
	case v.Nodes:
		open := t.open[v.Level]
		if delete(t.open, v.Level); open == nil || open.shown {
			break
		}
		path += "\x00" + strconv.FormatInt(v.Entered, 10) // an atom may have the path
		t.visitStep(path, v, &Change{From: states.TaskPending.String(), To: states.TaskRunning.String(), At: at})
		fallthrough
	default:
		t.visitStep(path, v, visitChange(v, at))
	}
	if s := t.steps[v.After]; s != nil && v.After != "" && v.Stage == grow.VisitEntered {
		s.Next = v.State
	}
}

// visitChange returns the change of a visit's step.
func visitChange(v *grow.Visit, at time.Time) *Change {
	c := &Change{From: states.TaskRunning.String(), At: at, Attempt: 1, Failure: v.Failure}
	switch {
	case v.Stage == grow.VisitEntered:
		c.From, c.To = states.TaskPending.String(), states.TaskRunning.String()
	case v.Stage == grow.VisitFailed || v.Caught:
		c.To = states.TaskFailure.String()
	case v.Stage == grow.VisitAborted:
		c.To = states.TaskCancelled.String()
	default:
		c.To = states.TaskSuccess.String()
	}
	return c
}

// visitStep applies a change to the step of a visit.
func (t *Tree) visitStep(path string, v *grow.Visit, c *Change) {
	c.Path = path
	t.Apply(c)
	if s := t.steps[path]; s != nil && v.State != "" {
		s.Kind, s.Name = v.Kind, v.State
		if v.Number > 1 {
			s.Name = nodepath.Visit(v.State, v.Number)
		}
	}
}

// shown records that an atom shows the visit of its level.
func (t *Tree) shown(path string) {
	level, last := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		level, last = path[:i], path[i+1:]
	}
	if v := t.open[level]; v != nil && v.state == nodepath.State(last) {
		v.shown = true
	}
}
