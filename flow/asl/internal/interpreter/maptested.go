package interpreter

import (
	"encoding/json"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// TestMap evaluates the fields of a Map state that is tested alone, up to what its iterations are given. It returns
// the number of items.
func (w *Interpreter) TestMap() (items int, f *stateerror.Error) {
	told, set, d := &Shared{}, &mapSettings{}, w.State.Items.Distributed
	items, slots, f := w.MapOver(told)
	if f != nil {
		return 0, f
	}
	w.Inspection.Concurrency = &slots
	if f := w.testTolerance(set); f != nil {
		return 0, f
	}
	if d != nil {
		if f := w.sources(set); f != nil {
			return 0, f
		}
		if set.MaxItems < 0 {
			return 0, maxItemsNegative()
		}
		if set.MaxItems > 0 {
			items = int(min(int64(items), set.MaxItems))
		}
	}
	inputs, f := w.inputsOf(told, set, items)
	if f != nil || !set.Batches {
		return items, f
	}
	return items, w.testBatches(set, inputs)
}

// testTolerance evaluates how many iterations may fail.
func (w *Interpreter) testTolerance(set *mapSettings) *stateerror.Error {
	if f := w.tolerance(set); f != nil {
		return f
	}
	if w.State.Items.Count.Said {
		w.Inspection.ToleratedCount = &set.Count
	}
	if w.State.Items.Percentage.Said {
		w.Inspection.ToleratedPercentage = &set.Percentage
	}
	return nil
}

// inputsOf returns the items, after the ItemSelector if there is one. The queries of all items share the visit's
// steps.
func (w *Interpreter) inputsOf(told *Shared, set *mapSettings, count int) ([]*data.Value, *stateerror.Error) {
	inputs := make([]*data.Value, count)
	list, keys := told.entries()
	selector := w.State.Items.Selector
	trees := make([]any, count)
	told.Outer = w.Visible()
	context := w.contextParts()
	for i := range inputs {
		item := &takenItem{index: int64(i), value: data.Text(atom.FromJSON(list[i])), source: set.source()}
		if keys != nil {
			item.key = &keys[i]
		}
		if inputs[i] = item.input(); selector == nil {
			continue
		}
		var f *stateerror.Error
		if inputs[i], f = w.testItem(told, context, item); f != nil {
			return nil, f
		}
		if trees[i], f = inputs[i].Look(); f != nil {
			return nil, f
		}
	}
	if selector != nil {
		w.Inspected(AfterItemSelector, data.Tree(trees))
	}
	return inputs, nil
}

// testItem evaluates the ItemSelector for an item. Context has the members of the context object: they are decoded once
// for all items.
func (w *Interpreter) testItem(told *Shared, context *jsontext.OrderedMap, item *takenItem) (
	*data.Value, *stateerror.Error,
) {
	ask := *w.Ask
	ask.Index = int(item.index)
	one := NewInterpreter(w.Machine, &ask)
	one.State, one.EnteredAt, one.Group, one.Steps = w.State, w.EnteredAt, told, w.Steps
	value, f := item.value.Look()
	if f != nil {
		return nil, f
	}
	of := item.context(func(*data.Value) any { return value })
	if w.State.Items.Distributed == nil {
		of = jsontext.OrderedMapOf("Item", jsontext.OrderedMapOf("Index", data.Number(item.index), "Value", value))
	}
	one.parts = context.With("Map", data.Tree(of))
	if w.Given != nil {
		if tree, err := w.Given.Decoded(); err == nil {
			if object, ok := tree.(*jsontext.OrderedMap); ok {
				one.Given = data.Tree(object.With("Map", of))
			}
		}
	}
	input, f := one.Item()
	w.Steps = one.Steps
	return input, f
}

// contextParts returns the members of the context object, each a *data.Value.
func (w *Interpreter) contextParts() *jsontext.OrderedMap {
	parts := jsontext.NewOrderedMap(w.Context().Len())
	for name, member := range w.Context().All() {
		parts.Set(name, data.Tree(member))
	}
	return parts
}

// testBatches records the inputs of the child executions of a state with an ItemBatcher.
func (w *Interpreter) testBatches(set *mapSettings, items []*data.Value) *stateerror.Error {
	batches := []any{}
	for taken := 0; taken < len(items); {
		input, n, _, f := set.fill(len(items)-taken, int64(taken), func(i int) (*data.Value, *stateerror.Error) {
			return items[taken+i], nil
		})
		if f != nil {
			return f
		}
		tree, f := input.Look()
		if f != nil {
			return f
		}
		batches = append(batches, tree)
		taken += n
	}
	w.Inspected(AfterItemBatcher, data.Tree(batches))
	return nil
}

// source returns the source of the items, as the context object has it.
func (m *mapSettings) source() string {
	if m.Reader == nil {
		return StateData
	}
	var from struct {
		Bucket string `json:"Bucket"` //nolint:tagliatelle // AWS's name
		Key    string `json:"Key"`    //nolint:tagliatelle // AWS's name
	}
	_ = json.Unmarshal(m.Reader.Parameters, &from) // what is not there is not in the source
	if from.Key == "" {
		return "S3://" + from.Bucket
	}
	return "S3://" + from.Bucket + "/" + from.Key
}
