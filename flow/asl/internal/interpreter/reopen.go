package interpreter

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
)

// AWS calls this a redrive: an execution that did not succeed continues with the states that were entered and not left.
// They start again with the same input, and their retriers count from 0. The engine asks twice about a level. One
// question is about the level itself, whose note describes a state that failed without a node. The other is about the
// node that was open.

// The labels of a run that was redriven.
const (
	RedriveLabel     = "redriveCount" // how often
	RedriveDateLabel = "redriveDate"  // when it was last redriven, as in RFC 3339
)

var errExpress = errors.New("an Express execution cannot be redriven; start another execution")

// Reopens returns why a run cannot be redriven.
func Reopens(run *grow.RunInfo) error {
	a := &Attributes{}
	if err := run.Attributes.Decode(a); err == nil && a.Express {
		return errExpress
	}
	return nil
}

// reopened starts again what did not succeed in a level.
func (w *Interpreter) reopened() error {
	cause := &w.Ask.Cause
	if cause.Name == "" && w.Ask.Index < 0 {
		if err := w.redriven(); err != nil {
			return err
		}
	}
	if cause.Name == "" && cause.Note == nil {
		return nil // a node starts again
	}
	n, err := readNote(cause.Note)
	if err != nil {
		return err
	}
	if n.state == "" {
		return w.beginChild()
	}
	if w.State = w.Machine.States[n.state]; w.State == nil {
		return fmt.Errorf("asl: %s: the definition has no state %q", w.Machine.Name, n.state)
	}
	before := w.last
	w.revisit(n)
	if before > 0 {
		w.last = before
	} else if w.Ask.Index < 0 {
		w.last = w.Ask.Event - 1
	}
	switch {
	case cause.Name != "":
		w.startOver()
	case n.through != nil:
		w.proceed(w.through(n.through))
	case n.entered == 0:
		w.run(w.State, w.Input)
	default:
		w.proceed(w.Visit())
	}
	return nil
}

// revisit restores the visit of a state with retriers that were not used yet.
func (w *Interpreter) revisit(n *levelState) {
	w.entered, w.EnteredAt, w.Input = n.entered, n.at, n.input
	w.last, w.visits, w.before = n.last, n.visits, n.entered
	w.used, w.redrives = n.used, w.Ask.Run.Reopens
	for _, tries := range n.tries {
		w.used += tries
	}
	if w.Input == nil { // the state passes its input to its node unchanged
		w.Input = w.given()
	}
}

// startOver starts the node again that was open, or whose failure ended the level.
func (w *Interpreter) startOver() {
	n, err := readNote(w.Ask.Cause.Note)
	if err != nil || n.paused { // the state was about to start again, and does so without the wait
		w.proceed(w.Visit())
		return
	}
	switch w.State.Kind {
	case syntax.TaskState:
		w.attempted = true
		spec, f := w.WorkSpec(w.Ask.Cause.Name)
		if f != nil {
			w.proceed(Step{}, f)
			return
		}
		w.growth.Again = &grow.Again{
			Token: spec.Token, Child: spec.Child, Input: spec.Input, Note: w.note(w.remembers()),
		}
	case syntax.WaitState:
		w.waitAgain()
	case syntax.ParallelState, syntax.MapState:
		w.growth.Again = &grow.Again{Note: w.note(true)}
	default: // other states have no nodes
		w.proceed(w.Visit())
	}
}

// waitAgain waits anew. A time that has passed ends the state at once.
func (w *Interpreter) waitAgain() {
	due, f := w.due()
	switch {
	case f == nil && due.Sub(w.Ask.Now) > longestWait:
		f = stateerror.Runtimef("Wait state delay is too long.")
		fallthrough
	case f != nil:
		w.proceed(Step{}, f)
	case due.After(w.Ask.Now):
		w.growth.Again = &grow.Again{After: due.Sub(w.Ask.Now), Note: w.note(true)}
	default:
		w.proceed(w.Waited())
	}
}

// redriven writes the event that the execution continues, and starts its time limit again.
func (w *Interpreter) redriven() error {
	level, err := w.top()
	if err != nil {
		return err
	}
	if t := w.timeout(level); t > 0 {
		w.growth.Deadline = w.Ask.Now.Add(t)
	}
	count := int64(w.Ask.Run.Reopens)
	w.last = w.Ask.Event - 1
	details := newDetails()
	details.Number("redriveCount", count)
	w.record(grow.Event{Type: "ExecutionRedriven", Details: ended(details)})
	w.growth.Labels = map[string]string{
		RedriveLabel: strconv.FormatInt(count, 10), RedriveDateLabel: w.Ask.Now.UTC().Format(time.RFC3339Nano),
	}
	return nil
}

// toReopen returns the note with which a level that fails continues if the execution is redriven; nil if its node
// starts again.
func (w *Interpreter) toReopen(f *stateerror.Error) []byte {
	if w.State == w.owner() && w.Ask.Index >= 0 { // nothing of the level has started
		return (&levelState{}).encode()
	}
	forks := w.State.Kind == syntax.ParallelState || w.State.Kind == syntax.MapState
	if w.nodeFailed && (!forks || f.Name != stateerror.DataLimitExceeded) {
		return nil
	}
	n := w.noted(true)
	n.tries, n.paused, n.child = nil, false, nil
	if f.Name != stateerror.DataLimitExceeded {
		n.through = w.passing
	}
	n.used = w.used + w.retries()
	if w.attempted || w.nodeFailed {
		n.used++
	}
	if w.nothing { // a task that received its input unchanged
		n.input = w.given()
	}
	return n.encode()
}

// given returns the input of the node that the question is about.
func (w *Interpreter) given() *data.Value {
	if w.Ask.Recall != nil {
		if past, ok := w.Ask.Recall(w.Ask.Cause.Name); ok && len(past.Input) > 0 {
			return data.Text(past.Input)
		}
	}
	return data.EmptyObject
}
