package asl

import "slices"

// A transition leads out of a state: by Next, a rule, Default or a catcher. It says
// what is handed on, which variables are set and what is next.
type transition struct {
	next       *state   // nil: the level ends
	as         string   // what queries call what it leads out with: result, errorOutput or neither
	output     payload  // Output; nil: what it leads out with
	selector   payload  // ResultSelector; nil: the result as it is
	resultPath dataPath // nil path: the result takes the input's place; none: it is dropped
	outputPath dataPath
	assign     []variable
}

// needsInput reports whether the state's raw input is looked at by the transition.
func (o *transition) needsInput() bool {
	if o.resultPath.path != nil || o.resultPath.none || looksAt(o.output, usesInput) {
		return true
	}
	return slices.ContainsFunc(o.assign, func(v variable) bool { return looksAt(v.value, usesInput) })
}

// leave is the data processing at the end of a state. It is given what the
// transition leads out with: the state's result, what was caught, or the input.
func (w *interpreter) leave(by *transition, with *jsonValue) (step, *stateError) {
	v := &view{input: with, walk: w, as: by.as}
	output := with
	var f *stateError
	tested := by == &w.state.out
	if tested {
		w.inspected(workResult, with)
	}
	if by.selector != nil {
		if output, f = by.selector.of(v); f != nil {
			return step{}, f
		}
		v.input = output
	}
	if tested {
		w.inspected(afterResultSelector, output)
	}
	if by.output != nil {
		if output, f = by.output.of(v); f != nil {
			return step{}, f
		}
	}
	if output, f = w.merge(by.resultPath, output); f != nil {
		return step{}, f
	}
	if tested {
		w.inspected(afterResultPath, output)
	}
	if output, f = w.view(output).apply(by.outputPath, output); f != nil {
		return step{}, f
	}
	if output.tooLarge() {
		return step{}, limitError(w.state.name)
	}
	assigned, f := w.assigned(by.assign, v)
	return step{output: output, next: by.next, assigned: assigned}, f
}

// merge puts a result into the raw input.
func (w *interpreter) merge(p dataPath, result *jsonValue) (*jsonValue, *stateError) {
	switch {
	case p.none:
		return w.input, nil
	case p.path == nil:
		return result, nil
	}
	into, f := w.input.look()
	if f != nil {
		return nil, f
	}
	value, f := result.look()
	if f != nil {
		return nil, f
	}
	tree, err := p.path.Set(into, value)
	if err != nil {
		return nil, localError(statesResultPath, "Unable to apply ReferencePath %s to input %s", p.path.Text(), w.input.encoded())
	}
	return treeValue(tree), nil
}
