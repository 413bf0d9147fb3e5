package interpreter

import (
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/nodepath"
)

// arguments returns the arguments of a call.
func (w *interpreter) arguments(a *syntax.Action) (map[string]any, *stateerror.Error) {
	if a.Arguments == nil {
		return map[string]any{}, nil
	}
	input, f := w.seen().value()
	if f != nil {
		return nil, f
	}
	value, f := a.Arguments.Resolve(w.ask.Interrupted, input)
	object, _ := value.(map[string]any)
	return object, f
}

// invokeFunction calls a function.
func (w *interpreter) invokeFunction(a *syntax.Action) step {
	args, f := w.arguments(a)
	if f != nil {
		return w.settle(failed(f))
	}
	if formula := a.Function.Formula; formula != nil {
		input, f := w.seen().value()
		var value any
		if f == nil {
			value, f = formula.Evaluate(w.ask.Interrupted, input, args)
		}
		if f != nil {
			return w.settle(failed(f))
		}
		return w.settle(given(treeValue(value))) // an expression function returns at once
	}
	input, f := treeValue(args).encoded()
	if f != nil {
		return w.settle(failed(f))
	}
	fr := w.top()
	fr.node, fr.begun = w.node(a.Name, a.Repeats), w.ask.Now
	if !a.Waits {
		spec := grow.Spec{Name: fr.node, Kind: grow.Nested, Input: input, Child: w.callRun(a.Function)}
		w.undoBy(&spec, a)
		w.add(spec)
		return nil
	}
	spec := grow.Spec{Name: fr.node, Kind: grow.Work, Task: a.Function.Task(), Input: input}
	w.limit(a, 0)
	w.undoBy(&spec, a)
	if a.Revert.Reverts() {
		spec.Undo = &grow.Undo{Task: a.Revert.Function.Task(), Note: strconv.Itoa(a.Number)}
	}
	w.add(spec)
	return nil
}

// undoBy records in the node of a call that the call is a point of no return, or that its work stays done.
func (w *interpreter) undoBy(spec *grow.Spec, a *syntax.Action) {
	r := a.Revert
	spec.Pivot = r != nil && r.Pivot
	if !r.Reverts() {
		spec.LeaveUndone(r == nil || !r.None, w.machine.Undoes)
	}
}

// invokeSubflow runs another machine as a child run.
func (w *interpreter) invokeSubflow(a *syntax.Action) step {
	input := w.seen()
	if a.Arguments != nil {
		args, f := w.arguments(a)
		if f != nil {
			return w.settle(failed(f))
		}
		input = treeValue(args)
	}
	encoded, f := input.encoded()
	if f != nil {
		return w.settle(failed(f))
	}
	depth := w.told4c().Depth + 1
	if depth > maxDepth {
		return w.settle(failed(stateerror.New(stateerror.CodeSubflow, "subflows nest deeper than %d", maxDepth)))
	}
	fr := w.top()
	fr.node, fr.begun = w.node(a.Name, a.Repeats), w.ask.Now
	spec := grow.Spec{
		Name: fr.node, Kind: grow.Nested, Input: encoded,
		Child: &grow.Child{Flow: a.Subflow, Attributes: w.attributes(own{Depth: depth}), Detached: !a.Waits},
	}
	if a.Waits {
		w.limit(a, 0)
	}
	w.undoBy(&spec, a)
	if a.Revert.Reverts() {
		spec.Undo = &grow.Undo{}
	}
	w.add(spec)
	return nil
}

// callFailed continues after a call that failed or, if it is not awaited, could not be started. A subflow that
// exceeded its own timeout results in null.
func (w *interpreter) callFailed(a *syntax.Action) step {
	failure := w.ask.Cause.Failure
	switch {
	case a.Kind == syntax.InvokeSubflow && failure.Code == stateerror.CodeTimeout:
		return w.settle(given(nullValue()))
	case a.Kind == syntax.InvokeSubflow:
		return w.settle(failed(stateerror.Subflow(a.Subflow, failure)))
	}
	return w.settle(failed(stateerror.Function(failure)))
}

// own contains what this language stores for itself in the attributes of its child runs.
type own struct {
	Call  string `json:"call,omitempty"`  // name of the function that the run calls; the run does nothing else
	Depth int    `json:"depth,omitempty"` // number of runs around it
}

const ownMember = "sm4c"

// told4c returns the part of the run's attributes that this language stored.
func (w *interpreter) told4c() own {
	var attributes struct {
		Own own `json:"sm4c"`
	}
	if err := w.ask.Run.Attributes.Decode(&attributes); err != nil {
		return own{}
	}
	return attributes.Own
}

// attributes returns the attributes of a child run: those of this run, with the part of the language.
func (w *interpreter) attributes(o own) atom.Value {
	all := map[string]any{}
	if a := w.ask.Run.Attributes; len(a) > 0 {
		if tree, err := jq.Decode(a.JSON()); err == nil {
			if object, ok := tree.(map[string]any); ok {
				all = object
			}
		}
	}
	all[ownMember] = map[string]any{"depth": o.Depth}
	if o.Call != "" {
		all[ownMember] = map[string]any{"call": o.Call, "depth": o.Depth}
	}
	text, err := jq.Encode(all, atom.MaxValue-1)
	if err != nil {
		return nil
	}
	return atom.FromJSON(text)
}

// callRun returns the child run for a call that is not awaited. It has the same definition, but only calls a
// function. It is therefore started in the same commit, and continues whatever happens to this run.
func (w *interpreter) callRun(f *syntax.Function) *grow.Child {
	return &grow.Child{
		Flow: w.ask.Run.Flow, Definition: w.ask.Run.Definition, Detached: true,
		Attributes: w.attributes(own{Call: f.Name, Depth: w.told4c().Depth}),
	}
}

// call returns the name of the function that the run calls; "" if it is a run of the machine.
func (w *interpreter) call() string { return w.told4c().Call }

// beginCall calls the function of a run that only calls a function.
func (w *interpreter) beginCall(name string) step {
	m := w.mem
	m.stage, m.data = calling, treeValue(map[string]any{})
	for _, f := range w.machine.Functions {
		if f.Name == name && f.Formula == nil {
			w.add(grow.Spec{Name: nodepath.Escape(name), Kind: grow.Work, Task: f.Task(), Input: w.ask.Cause.Input})
			return nil
		}
	}
	return w.fail(stateerror.New(stateerror.CodeFunction, "there is no function %s", jsontext.Quote(name)))
}

// callOver ends a run that only calls a function.
func (w *interpreter) callOver() step {
	cause := &w.ask.Cause
	if cause.Kind == grow.Failed {
		w.end(&grow.End{Failure: stateerror.Function(cause.Failure).Failure()})
		return nil
	}
	value := cause.Result
	if len(value) == 0 {
		value = atom.Null
	}
	w.end(&grow.End{Value: value})
	return nil
}
