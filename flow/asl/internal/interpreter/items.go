package interpreter

import (
	"fmt"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
)

// items returns what a Map state goes over, which may be no array.
func (w *surroundings) items(v *expression.View) (*data.Value, *stateerror.Error) {
	m := w.State.Items
	switch {
	case w.Read != nil:
		return w.Read, nil
	case m.Path != nil:
		value, missing, f := v.Find(m.Path)
		if f == nil && missing != nil { // AWS has a name and words of its own for it
			f = &stateerror.Error{Name: stateerror.ReferencePath, Local: true}
			f.Cause = fmt.Sprintf("Unable to apply step \"%s\" to input %s", missing.Step, v.Input.Encoded())
		}
		return data.Tree(value), f
	case m.Items != nil:
		items, f := m.Items.Of(v)
		if f == nil && items.TooLarge() {
			f = stateerror.TooLarge(w.State.Name)
		}
		return items, f
	}
	return v.Input, nil
}

// noArray is what goes wrong when there is no array to go over.
func (w *surroundings) noArray(found *data.Value) *stateerror.Error {
	m := w.State.Items
	switch {
	case m.Items != nil:
		return expression.Unexpected(&m.Items.At, jsonata.Array, found)
	case w.State.Language == syntax.JSONata:
		return stateerror.Localf(stateerror.QueryEvaluation, "Map state input must be an array but was: %s", expression.Shown(found))
	case m.Path != nil:
		return stateerror.Runtimef("Reference path \"%s\" must point to array.", expression.UnderRoot(m.Path))
	}
	return stateerror.Runtimef("Reference path \"$\" must point to array.")
}

// Item returns the input of an iteration.
func (w *surroundings) Item() (*data.Value, *stateerror.Error) {
	item, ok := w.Group.element(w.Ask.Index)
	if !ok {
		return nil, stateerror.Runtimef("there is no item %d", w.Ask.Index)
	}
	selector := w.State.Items.Selector
	if selector == nil {
		return data.Text(item), nil
	}
	w.Input = w.Group.input
	input, f := selector.Of(w.View(w.Input))
	if f == nil && input.TooLarge() {
		f = stateerror.TooLarge(w.State.Name)
	}
	return input, f
}
