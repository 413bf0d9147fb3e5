package interpreter

import (
	"math"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
)

// Leave processes the data at the end of a state. It receives the value with which the transition leaves: the state's
// result, the caught error, or the input.
func (w *surroundings) Leave(by *syntax.Transition, with *data.Value) (Step, *stateerror.Error) {
	v := &expression.View{Input: with, In: w, As: by.As}
	output := with
	var f *stateerror.Error
	tested := by == &w.State.Out
	if tested {
		w.Inspected(WorkResult, with)
	}
	if by.Selector != nil {
		if output, f = by.Selector.Of(v); f != nil {
			return Step{}, f
		}
		v.Input = output
	}
	if tested {
		w.Inspected(AfterResultSelector, output)
	}
	if by.Output != nil {
		if output, f = by.Output.Of(v); f != nil {
			return Step{}, f
		}
	}
	if output, f = w.merge(by.ResultPath, output); f != nil {
		return Step{}, f
	}
	if tested {
		w.Inspected(AfterResultPath, output)
	}
	if output, f = w.View(output).Apply(by.OutputPath, output); f != nil {
		return Step{}, f
	}
	if output.TooLarge() {
		return Step{}, stateerror.TooLarge(w.State.Name)
	}
	assigned, f := w.assigned(by.Assign, v)
	return Step{Output: output, Next: by.Next, Assigned: assigned}, f
}

// merge puts a result into the raw input.
func (w *surroundings) merge(p expression.DataPath, result *data.Value) (*data.Value, *stateerror.Error) {
	switch {
	case p.None:
		return w.Input, nil
	case p.Path == nil:
		return result, nil
	}
	into, f := w.Input.Look()
	if f != nil {
		return nil, f
	}
	value, f := result.Look()
	if f != nil {
		return nil, f
	}
	tree, err := p.Path.Set(into, value)
	if err != nil {
		return nil, stateerror.Localf(stateerror.ResultPath, "Unable to apply ReferencePath %s to input %s", p.Path.Text(),
			w.Input.Encoded())
	}
	return data.Tree(tree), nil
}

// seen returns the value that the fields of the state see: its input, after InputPath.
func (w *surroundings) seen() (*expression.View, *stateerror.Error) {
	v := w.View(w.Input)
	var f *stateerror.Error
	if v.Input, f = v.Apply(w.State.InputPath, w.Input); f == nil {
		w.Inspected(AfterInputPath, v.Input)
	}
	return v, f
}

// Effective returns the effective input of the state: the seen value, or its Parameters.
func (w *surroundings) Effective() (*data.Value, *stateerror.Error) {
	v, f := w.seen()
	if f != nil {
		return nil, f
	}
	input := v.Input
	if w.State.Arguments != nil {
		if input, f = w.computed(w.State.Arguments, v); f != nil {
			return nil, f
		}
	}
	w.Inspected(AfterParameters, input)
	return input, nil
}

// computed returns the value of a payload, or an error if it is too large.
func (w *surroundings) computed(p expression.Payload, v *expression.View) (*data.Value, *stateerror.Error) {
	value, f := p.Of(v)
	if f == nil && value.TooLarge() {
		return nil, stateerror.TooLarge(w.State.Name)
	}
	return value, f
}

// View returns what expressions see when $ is d.
func (w *surroundings) View(d *data.Value) *expression.View { return &expression.View{Input: d, In: w} }

// Amount returns the number, which must be in a range unless it is fixed.
func (w *surroundings) Amount(n *syntax.Amount, least, most int64) (int64, *stateerror.Error) {
	switch {
	case n.Query != nil:
		return n.Query.Whole(w.View(w.Input), least, most)
	case n.Path == nil:
		return n.Fixed, nil
	}
	value, f := w.located(n.Path)
	if f != nil {
		return 0, f
	}
	found, ok := expression.AsWhole(value)
	if ok && least == 0 && found < 0 {
		return 0, stateerror.Runtimef("Expected non-negative integer for %s, got '%d' instead.",
			strings.TrimSuffix(n.Field, "Path"), found)
	}
	if !ok || found < least || found > most {
		return 0, stateerror.Runtimef("The %s field refers to value \"%s\" which is not a valid integer: %s", n.Field,
			expression.Plain(value), n.Path.Text())
	}
	return found, nil
}

// located returns the value that a path names in the data that the state sees.
func (w *surroundings) located(path *jsonpath.Path) (any, *stateerror.Error) {
	v, f := w.seen()
	if f != nil {
		return nil, f
	}
	return v.Resolve(path)
}

// fraction is Amount for a number that need not be an integer.
func (w *surroundings) fraction(n *syntax.Amount) (float64, *stateerror.Error) {
	switch {
	case n.Query != nil:
		value, f := n.Query.Typed(w.View(w.Input), jsonata.Number)
		if f != nil {
			return 0, f
		}
		found, err := strconv.ParseFloat(expression.Shown(data.Query(value)), 64)
		if err != nil {
			return 0, expression.QueryErrorf(&n.Query.At, "The %s field cannot be parsed as a number: %s", n.Query.At.Field,
				expression.Shown(data.Query(value)))
		}
		return found, nil
	case n.Path == nil:
		return n.Number, nil
	}
	value, f := w.located(n.Path)
	if f != nil {
		return 0, f
	}
	found, err := strconv.ParseFloat(expression.Plain(value), 64)
	if err != nil || math.IsNaN(found) || math.IsInf(found, 0) {
		return 0, stateerror.Runtimef("The %s field refers to value \"%s\" which is not a valid float: %s", n.Field,
			expression.Plain(value), n.Path.Text())
	}
	return found, nil
}
