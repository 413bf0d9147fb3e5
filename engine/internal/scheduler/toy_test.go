package scheduler_test

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
)

// toyFlow is a program of the toy language: steps, one after the other.
type toyFlow struct {
	Steps    []toyStep
	Deadline time.Duration `json:",omitempty"` // of the run's own flow
}

// toyStep is one step of a program. A step that works fails as often as Fails
// says; a step that failed is tried again as often as Retries says.
type toyStep struct {
	Kind    string // work, timer, fork, more: only to be asked again, or undo: what Under and To say
	Name    string
	Undo    bool          `json:",omitempty"`
	Stuck   bool          `json:",omitempty"` // its undo fails
	Beside  bool          `json:",omitempty"` // work: another task runs beside, whose end no step waits for
	Fails   int           `json:",omitempty"`
	Retries int           `json:",omitempty"`
	After   time.Duration `json:",omitempty"` // timer: how long; else: before it starts, and before it is tried again
	Flows   []toyFlow     `json:",omitempty"` // of a fork
	Slots   int           `json:",omitempty"` // of a fork
	Clean   bool          `json:",omitempty"` // of a fork: its work is undone before a retry
	Pivot   bool          `json:",omitempty"`
	Under   string        `json:",omitempty"`
	To      string        `json:",omitempty"`
}

// beside stands for the step of a task that runs beside a step.
const beside = -1

// toyNote is the language's note of a node.
type toyNote struct{ At, Retries int }

// toy is the language.
type toy struct{}

func decode[T any](v atom.Value) (out T) {
	if err := v.Decode(&out); err != nil {
		panic(err)
	}
	return out
}

// Grow adds an event for each cause, so that a test can see the questions.
func (toy) Grow(ask *grow.Ask) grow.Growth {
	var g grow.Growth
	c := &ask.Cause
	switch c.Kind {
	case grow.Begin:
		var program toyFlow
		if ask.Index < 0 {
			program = decode[toyFlow](c.Input)
		} else {
			program = decode[[]toyFlow](ask.Shared)[ask.Index]
		}
		if program.Deadline > 0 {
			g.Deadline = ask.Now.Add(program.Deadline)
		}
		g.Memory = atom.MustEncode(program)
		program.add(&g, ask, 0)
	case grow.Ended, grow.Joined:
		if decode[toyNote](c.Note).At == beside {
			break
		}
		decode[toyFlow](ask.Memory).add(&g, ask, decode[toyNote](c.Note).At+1)
	case grow.Undone:
		note, program := decode[toyNote](c.Note), decode[toyFlow](ask.Memory)
		if step := program.Steps[note.At]; step.Kind == "fork" {
			g.Add = append(g.Add, step.fork(note, step.Retries-note.Retries))
		} else {
			program.add(&g, ask, note.At+1)
		}
	case grow.UndoFailed:
		g.End = &grow.End{Failure: c.Failure, Note: atom.MustEncode(ask.Path)}
	case grow.Continue:
		decode[toyFlow](ask.Memory).add(&g, ask, decode[int](c.Note)+1)
	case grow.Failed, grow.JoinFailed:
		note := decode[toyNote](c.Note)
		step := decode[toyFlow](ask.Memory).Steps[note.At]
		if note.Retries == 0 {
			g.End = &grow.End{Failure: c.Failure, Note: atom.MustEncode(ask.Path)}
			break
		}
		if step.Clean {
			g.Undo = &grow.Undoing{Under: c.Name, Note: atom.MustEncode(toyNote{note.At, note.Retries - 1})}
			break
		}
		tried := step.Retries - note.Retries + 1
		g.Again = &grow.Again{
			After: step.After, Note: atom.MustEncode(toyNote{note.At, note.Retries - 1}), Input: step.input(tried),
		}
	case grow.Overdue:
		g.End = &grow.End{Failure: c.Failure, TimedOut: true}
	case grow.Stopped: // it has no say
	default:
		panic("unexpected cause " + c.Kind.String())
	}
	g.Events = []grow.Event{{Type: c.Kind.String(), Name: fmt.Sprintf("%s:%s:%s:%s", ask.Path, c.Kind, c.Name, c.Note)}}
	return g
}

// Undo returns the input of the step for its undo.
func (toy) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

// input is the input of a step's node after the given number of failed tries: for a task the step itself, for a fork
// the programs of its children.
func (s toyStep) input(tried int) atom.Value {
	if s.Kind != "fork" {
		s.Fails -= tried
		return atom.MustEncode(s)
	}
	flows := make([]toyFlow, len(s.Flows))
	for i, f := range s.Flows {
		for _, step := range f.Steps {
			step.Fails -= tried
			flows[i].Steps = append(flows[i].Steps, step)
		}
	}
	return atom.MustEncode(flows)
}

// fork returns the node of a fork after the given number of tries. After each undo of its work, it is another node.
func (s toyStep) fork(note toyNote, tried int) grow.Spec {
	name := s.Name
	if tried > 0 {
		name += fmt.Sprintf("#%d", tried+1)
	}
	group := &grow.Group{Count: len(s.Flows), Slots: s.Slots, Shared: s.input(tried)}
	return grow.Spec{Name: name, Kind: grow.Fork, Note: atom.MustEncode(note), Group: group}
}

// add adds the node of a step, or ends the flow.
func (f toyFlow) add(g *grow.Growth, ask *grow.Ask, at int) {
	if at == len(f.Steps) {
		g.End = &grow.End{Value: atom.MustEncode("done"), Note: atom.MustEncode(ask.Path)}
		return
	}
	step := f.Steps[at]
	spec := grow.Spec{Name: step.Name, Note: atom.MustEncode(toyNote{at, step.Retries})}
	if step.After > 0 {
		spec.Due = ask.Now.Add(step.After)
	}
	switch step.Kind {
	case "undo":
		g.Undo = &grow.Undoing{Under: step.Under, To: step.To, Note: spec.Note}
		return
	case "more":
		g.More = atom.MustEncode(at)
		return
	case "timer":
		spec.Kind = grow.Timer
	case "fork":
		spec = step.fork(toyNote{at, step.Retries}, 0)
		if step.After > 0 {
			spec.Due = ask.Now.Add(step.After)
		}
	default:
		spec.Kind, spec.Task, spec.Input = grow.Work, step.Name, step.input(0)
		if step.Undo {
			spec.Undo = &grow.Undo{Task: "undo"}
		}
		spec.Pivot = step.Pivot
	}
	g.Add = append(g.Add, spec)
	if step.Beside {
		spec.Name += "-beside"
		spec.Note = atom.MustEncode(toyNote{At: beside})
		g.Add = append(g.Add, spec)
	}
}
