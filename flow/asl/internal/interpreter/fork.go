package interpreter

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// fork passes through the branches of a Parallel state, or the iterations of a Map state, or adds the node that
// runs them.
func (w *Interpreter) fork() (Step, *stateerror.Error) {
	group, told, f := w.forkGroup()
	switch {
	case f != nil:
		return Step{}, f
	case group.Count == 0: // a Map over nothing
		return w.levelsEnded(arrayOf(nil), w.last)
	case w.State.AtOnce:
		return w.through(&progress{group: told, count: group.Count})
	}
	group.Shared = told.encode()
	w.growth.Add = append(w.growth.Add, grow.Spec{
		Name: w.visitName(), Kind: grow.Fork, Group: group,
		Note: w.note(w.remembers()),
	})
	return Step{Waits: true}, nil
}

// forkGroup returns the levels as a group, and the data that they share.
func (w *Interpreter) forkGroup() (*grow.Group, *Shared, *stateerror.Error) {
	s := w.State
	told := &Shared{state: s.Name, entered: w.entered, at: w.EnteredAt, Outer: w.Visible()}
	group := &grow.Group{Count: len(s.Branches)}
	var f *stateerror.Error
	switch {
	case s.Kind == syntax.ParallelState:
		if told.input, f = w.Effective(); f != nil {
			return nil, nil, f
		}
		if item := w.mapContext(func(d *data.Value) any { return d }); item != nil {
			told.item = data.Tree(item)
		}
		w.event("ParallelStateStarted", nil)
	case s.Items.Distributed != nil:
		group.Count = 1 // the map run
		if f = w.distribute(told); f != nil {
			return nil, nil, f
		}
	default:
		if group.Count, group.Slots, f = w.MapOver(told); f != nil {
			return nil, nil, f
		}
		told.slots = group.Slots
		w.mapStarted(group.Count)
	}
	told.started = w.last
	return group, told, nil
}

// MapOver evaluates the items of a Map state, and how many may run concurrently.
func (w *Interpreter) MapOver(told *Shared) (count, slots int, f *stateerror.Error) {
	m := w.State.Items
	v, f := w.seen()
	if f != nil {
		return 0, 0, f
	}
	if m.Selector != nil {
		told.input = v.Input
	}
	if told.items, f = w.items(v); f != nil {
		return 0, 0, f
	}
	if count, f = w.lengthOf(told.items); f != nil {
		return 0, 0, f
	}
	if w.Read == nil {
		w.Inspected(AfterItemsPath, told.items)
	}
	most, f := w.Amount(&m.Concurrency, 0, math.MaxInt64)
	return count, int(min(most, syntax.MaxSeconds)), f
}

// forkAgain runs all branches again.
func (w *Interpreter) forkAgain(after time.Duration) (Step, *stateerror.Error) {
	_, told, f := w.forkGroup()
	if f != nil {
		return Step{}, f
	}
	w.growth.Again = &grow.Again{After: after, Note: w.note(true), Input: told.encode()}
	return Step{Waits: true}, nil
}

// beginChild starts a branch or an iteration.
func (w *Interpreter) beginChild() error {
	group := w.Group
	w.last = group.started
	s := w.Machine.States[group.state]
	if s == nil {
		return fmt.Errorf("asl: %s: the definition has no state %q", w.Machine.Name, group.state)
	}
	w.State, w.entered, w.EnteredAt = s, group.entered, group.at
	if s.Kind == syntax.ParallelState {
		if w.Ask.Index >= len(s.Branches) {
			return fmt.Errorf("asl: %s: the state %q has no branch %d", w.Machine.Name, s.Name, w.Ask.Index)
		}
		w.run(s.Branches[w.Ask.Index].Start, group.input)
		return nil
	}
	input, f := w.Item()
	if f != nil { // the iteration does not start
		w.tell(f)
		note := w.toReopen(f)
		w.fail(f)
		w.growth.End.Reopen = note
		return nil
	}
	if freed := group.freed; group.slots > 0 && w.Ask.Index >= group.slots && freed > 0 && freed < w.Ask.Event+w.told {
		w.last = freed
	}
	w.iterationEvent("MapIterationStarted", s.Name, w.Ask.Index)
	w.ctx, w.ctxQuery = nil, nil
	w.run(s.Items.Processor.Start, input)
	return nil
}

// joined continues after every branch has succeeded.
func (w *Interpreter) joined(results []atom.Value) (Step, *stateerror.Error) {
	exit := w.childEnded()
	if s := w.State; s.Items != nil && s.Items.Distributed != nil && len(results) == 1 {
		// The map run has already combined the results.
		return w.levelsEnded(data.Text(results[0]), exit)
	}
	return w.levelsEnded(arrayOf(results), exit)
}

// levelsEnded continues with the result of a state whose levels have all succeeded. The event of its exit follows from
// the event with the number exit.
func (w *Interpreter) levelsEnded(result *data.Value, exit int64) (Step, *stateerror.Error) {
	w.event(w.State.Kind.String()+"StateSucceeded", nil)
	told := w.last
	w.last = exit
	var out Step
	f := stateerror.TooLarge(w.State.Name)
	if !result.TooLarge() {
		out, f = w.Leave(&w.State.Out, result)
	}
	if f != nil {
		w.last = told // a failure follows from the success event
	}
	return out, f
}

// arrayOf returns an array of results, with null for each missing result.
func arrayOf(results []atom.Value) *data.Value {
	b := []byte{atom.CodecJSON, '['}
	for i, result := range results {
		if i > 0 {
			b = append(b, ',')
		}
		if len(result) == 0 {
			result = atom.Null
		}
		b = append(b, result.JSON()...)
	}
	return data.Text(atom.Value(append(b, ']')))
}

// joinFailed continues after a branch has failed and the others were ended.
func (w *Interpreter) joinFailed(failure *atom.Failure) *stateerror.Error {
	w.childEnded()
	return w.levelFailed(failure, w.Ask.Cause.Aborted)
}

// levelFailed continues with the failure of a level, because of which open nodes were ended.
func (w *Interpreter) levelFailed(failure *atom.Failure, aborted []string) *stateerror.Error {
	f := stateerror.OfTask(failure, w.State.Name)
	f.Local = f.Name == stateerror.DataLimitExceeded
	if !w.ends(f) {
		w.aborted(aborted)
		w.broken = true
	}
	if name := w.Rules().BranchFailure; name != "" && w.State.Kind == syntax.ParallelState {
		f = &stateerror.Error{Name: name, Also: f.Name, Cause: f.Cause, Local: true}
	}
	return f
}

// accepted writes the events of the attempts that had ended before their states were aborted. As on AWS, these
// states go no further.
func (w *Interpreter) accepted() {
	for _, path := range w.Ask.Cause.Accepted {
		past, _ := w.Ask.Recall(strings.TrimPrefix(path, w.Ask.Path+"/"))
		n, err := readNote(past.Note)
		if err != nil || w.Machine.States[n.state] == nil {
			continue // the answer is not needed
		}
		if w.State, w.last = w.Machine.States[n.state], n.last; past.Failure != nil {
			_ = w.TaskFailed(past.Failure)
		} else {
			_, _ = w.taskResult(past.Result)
		}
	}
	w.State, w.last = nil, 0
}

// childEnded continues the history after the last event of the child that decided the join. It returns the number of
// the event from which the exit follows: on AWS that of a distributed Map follows from the start of its map run.
func (w *Interpreter) childEnded() (exit int64) {
	note := w.Ask.Cause.EndNote
	var p mapProgress
	switch last, err := jsontext.NewReader(note.JSON()).Int(); {
	case err == nil:
		w.last = last
	case len(note) > 0 && note.Decode(&p) == nil:
		w.last = p.Last
		return p.Began
	}
	return w.last
}

// progress is how far an interpreter has come through the levels of a state.
type progress struct {
	group   *Shared
	count   int    // of the levels
	done    int    // number of levels that have succeeded
	results []byte // results of these levels, as the elements of an array
}

// through passes through the remaining levels. If this answer has done enough, the next answer continues.
func (w *Interpreter) through(p *progress) (Step, *stateerror.Error) {
	p.group.Outer, w.passing = w.Visible(), p
	for ; p.done < p.count && len(p.results) <= data.MaxPayload; p.done++ {
		if w.budget <= 0 {
			w.paused, w.growth.More = false, w.between(p)
			return Step{Waits: true}, nil
		}
		end, err := w.level(p)
		if err != nil {
			return Step{}, &stateerror.Error{Name: atom.CodeLanguage, Cause: err.Error()}
		}
		if end.Failure != nil {
			return Step{}, w.levelFailed(end.Failure, nil)
		}
		p.results = append(data.Separated(p.results, p.done), end.Value.JSON()...)
	}
	w.passing = nil
	return w.levelsEnded(data.Text(atom.FromJSON(slices.Concat([]byte{'['}, p.results, []byte{']'}))), w.last)
}

// level passes through the next level and returns how it ended.
func (w *Interpreter) level(p *progress) (*grow.End, error) {
	ask := *w.Ask
	ask.Index, ask.Memory = p.done, nil
	in := NewInterpreter(w.Machine, &ask)
	in.Group, in.vars, in.visits, in.Steps, in.budget = p.group, map[string]*data.Value{}, map[string]int{}, w.Steps,
		syntax.MaxInstant+1
	in.attrs, in.runInput, in.drawn = w.attrs, w.runInput, w.drawn
	in.growth.Events, in.told = w.growth.Events, w.told
	err := in.beginChild()
	w.growth.Events, w.told, w.last = in.growth.Events, in.told, in.last
	w.attrs, w.runInput, w.drawn = in.attrs, in.runInput, in.drawn
	w.budget -= syntax.MaxInstant + 1 - in.budget
	return in.growth.End, err
}

// between returns the note with which the interpreter continues at the next level.
func (w *Interpreter) between(p *progress) atom.Value {
	n := w.noted(true)
	n.through = p
	return n.encode()
}

func (p *progress) encode() []byte {
	w := jsontext.NewWriter()
	w.Int("c", int64(p.count))
	w.Int("d", int64(p.done))
	group := *p.group
	group.Outer = nil // the level has it in its own memory
	w.Raw("g", group.encode().JSON())
	w.Raw("r", slices.Concat([]byte{'['}, p.results, []byte{']'}))
	return w.Bytes()
}

func readProgress(r *jsontext.Reader) (*progress, error) {
	p := &progress{}
	err := r.Members(func(name string) (err error) {
		var n int64
		switch name {
		case "c":
			n, err = r.Int()
			p.count = int(n)
		case "d":
			n, err = r.Int()
			p.done = int(n)
		case "g":
			p.group, err = readShared(atom.FromJSON(r.Skip()))
		case "r":
			results := r.Skip()
			p.results = slices.Clone(results[1 : len(results)-1])
		default:
			r.Skip()
		}
		return err
	})
	return p, err
}
