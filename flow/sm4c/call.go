package sm4c

import (
	"strconv"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jq"
)

// arguments returns what a call is given.
func (w *interpreter) arguments(a *action) (map[string]any, *stateError) {
	if a.arguments == nil {
		return map[string]any{}, nil
	}
	input, f := w.seen().value()
	if f != nil {
		return nil, f
	}
	value, f := a.arguments.resolve(w.ask.Interrupted, input)
	object, _ := value.(map[string]any)
	return object, f
}

// invokeFunction calls a function.
func (w *interpreter) invokeFunction(a *action) step {
	args, f := w.arguments(a)
	if f != nil {
		return w.settle(failed(f))
	}
	if formula := a.function.formula; formula != nil {
		input, f := w.seen().value()
		var value any
		if f == nil {
			value, f = formula.evaluate(w.ask.Interrupted, input, args)
		}
		if f != nil {
			return w.settle(failed(f))
		}
		return w.settle(given(treeValue(value))) // always at once
	}
	input, f := treeValue(args).encoded()
	if f != nil {
		return w.settle(failed(f))
	}
	fr := w.top()
	fr.node, fr.begun = w.node(a.name, a.repeats), w.ask.Now
	if !a.waits {
		w.add(flow.Spec{Name: fr.node, Kind: flow.Nested, Input: input, Child: w.callRun(a.function)})
		return nil
	}
	spec := flow.Spec{Name: fr.node, Kind: flow.Work, Task: a.function.task(), Input: input}
	w.limit(a, 0)
	if r := a.revert; r != nil {
		spec.Pivot = r.pivot
		if r.function != nil {
			spec.Undo = &flow.Undo{Task: r.function.task(), Note: strconv.Itoa(a.number)}
		}
	}
	w.add(spec)
	return nil
}

// invokeSubflow runs another machine, as a run of its own.
func (w *interpreter) invokeSubflow(a *action) step {
	input := w.seen()
	if a.arguments != nil {
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
		return w.settle(failed(newError(CodeSubflow, "subflows nest deeper than %d", maxDepth)))
	}
	fr := w.top()
	fr.node, fr.begun = w.node(a.name, a.repeats), w.ask.Now
	spec := flow.Spec{
		Name: fr.node, Kind: flow.Nested, Input: encoded,
		Child: &flow.Child{Flow: a.subflow, Attributes: w.attributes(own{Depth: depth}), Detached: !a.waits},
	}
	if a.waits {
		w.limit(a, 0)
		if r := a.revert; r != nil {
			spec.Pivot = r.pivot
			if !r.pivot {
				spec.Undo = &flow.Undo{}
			}
		}
	}
	w.add(spec)
	return nil
}

// callFailed goes on behind a call that failed, or, if it is not waited for, could
// not be begun. A subflow that took longer than its own timeout gives null.
func (w *interpreter) callFailed(a *action) step {
	failure := w.ask.Cause.Failure
	switch {
	case a.kind == invokeSubflow && failure.Code == CodeTimeout:
		return w.settle(given(nullValue()))
	case a.kind == invokeSubflow:
		return w.settle(failed(subflowError(a.subflow, failure)))
	}
	return w.settle(failed(functionError(failure)))
}

// own is what this language tells itself about runs that it begins; it is a
// member of their attributes.
type own struct {
	Call  string `json:"call,omitempty"`  // the run is a call of this function, and nothing else
	Depth int    `json:"depth,omitempty"` // how many runs are around it
}

const ownMember = "sm4c"

// told4c returns what the run's attributes say to this language.
func (w *interpreter) told4c() own {
	var attributes struct {
		Own own `json:"sm4c"`
	}
	if err := w.ask.Run.Attributes.Decode(&attributes); err != nil {
		return own{}
	}
	return attributes.Own
}

// attributes returns the attributes of a run that is begun: those of this run,
// with what the language tells itself.
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

// callRun returns the run that a call is which is not waited for: of the same
// definition, but only of a function. So it is begun in the same commit, and goes
// on whatever becomes of this run.
func (w *interpreter) callRun(f *function) *flow.Child {
	return &flow.Child{
		Flow: w.ask.Run.Flow, Definition: w.ask.Run.Definition, Detached: true,
		Attributes: w.attributes(own{Call: f.name, Depth: w.told4c().Depth}),
	}
}

// call returns the name of the function that the run is a call of, "" if it is a
// run of the machine.
func (w *interpreter) call() string { return w.told4c().Call }

// beginCall calls the function that the run is a call of.
func (w *interpreter) beginCall(name string) step {
	m := w.mem
	m.stage, m.data = calling, treeValue(map[string]any{})
	for _, f := range w.machine.functions {
		if f.name == name && f.formula == nil {
			w.add(flow.Spec{Name: segment.Replace(name), Kind: flow.Work, Task: f.task(), Input: w.ask.Cause.Input})
			return nil
		}
	}
	return w.fail(newError(CodeFunction, "there is no function %s", quote(name)))
}

// callOver ends a run that is a call of a function.
func (w *interpreter) callOver() step {
	cause := &w.ask.Cause
	if cause.Kind == flow.Failed {
		w.end(&flow.End{Failure: functionError(cause.Failure).failure()})
		return nil
	}
	value := cause.Result
	if len(value) == 0 {
		value = atom.Null
	}
	w.end(&flow.End{Value: value})
	return nil
}
