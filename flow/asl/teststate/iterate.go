package teststate

import (
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
)

// iterate evaluates the items of a Map state, up to its iterations. The error is an [Error].
func (t *Test) iterate(w *interpreter.Interpreter) (out interpreter.Step, f *stateerror.Error, err error) {
	if w.State.Items.Distributed != nil && w.State.Items.Distributed.Reader != nil {
		if len(t.Configuration.MapItemReaderData) == 0 {
			return out, nil, invalidTest(
				"ItemReader data must be specified when testing a Map state with ItemReader specified.")
		}
		w.Read = data.Text(t.Configuration.MapItemReaderData)
	}
	told := &interpreter.Shared{}
	count, slots, f := w.MapOver(told)
	if f != nil {
		return out, f, nil
	}
	w.Inspection.Concurrency = &slots
	if f := selectItems(w, told, count); f != nil {
		return out, f, nil
	}
	if t.Configuration.MapIterationFailureCount > count {
		return out, nil, invalidTest(
			"Map iteration failure count must be less than or equal to the number of Map iterations.")
	}
	broken, f := t.intolerable(w, count)
	if f != nil {
		return out, f, nil
	}
	if broken && t.Mock.ErrorOutput == nil {
		return out, &stateerror.Error{
			Name:  stateerror.Tolerated,
			Cause: "The specified tolerated failure threshold was exceeded",
		}, nil
	}
	if err := t.checkItems(w.State, count); err != nil {
		return out, nil, err
	}
	out, f = t.joined(w)
	return out, f, nil
}

// selectItems computes the input of each iteration.
func selectItems(w *interpreter.Interpreter, told *interpreter.Shared, count int) *stateerror.Error {
	if w.State.Items.Selector == nil {
		return nil
	}
	told.Outer = w.Visible()
	items := make([]any, 0, count)
	for i := range count {
		ask := *w.Ask
		ask.Index = i
		one := interpreter.NewInterpreter(w.Machine, &ask)
		one.State, one.EnteredAt, one.Group, one.Steps = w.State, w.EnteredAt, told, w.Steps
		input, f := one.Item()
		if f != nil {
			return f
		}
		tree, f := input.Look()
		if f != nil {
			return f
		}
		items = append(items, tree)
	}
	w.Inspected(interpreter.AfterItemSelector, data.Tree(items))
	return nil
}

// intolerable reports whether more iterations have failed than the state tolerates. Unless a Retry or Catch of the
// state applies, the mock defines the state's result.
func (t *Test) intolerable(w *interpreter.Interpreter, count int) (bool, *stateerror.Error) {
	failed, counted := t.Configuration.MapIterationFailureCount, w.State.Items.Count.Said
	most, f := w.Amount(&w.State.Items.Count, 0, syntax.MaxItems)
	if f != nil {
		return false, f
	}
	if counted {
		tolerated := int(most)
		w.Inspection.ToleratedCount = &tolerated
	}
	share, shared, f := toleratedShare(w)
	if f != nil {
		return false, f
	}
	if shared {
		w.Inspection.ToleratedPercentage = &share
	}
	if len(w.State.Retry) == 0 && len(w.State.Catch) == 0 {
		return false, nil
	}
	tooMany := (counted || !shared) && int64(failed) > most
	return tooMany || shared && float64(failed)*100 > share*float64(count), nil
}

// toleratedShare returns the percentage of iterations that may fail, and whether the state sets it.
func toleratedShare(w *interpreter.Interpreter) (share float64, said bool, f *stateerror.Error) {
	n := &w.State.Items.Percentage
	switch {
	case n.Query != nil:
		value, f := n.Query.Typed(w.View(w.Input), jsonata.Number)
		return value.Number(), true, f
	case n.Path != nil:
		whole, f := w.Amount(n, 0, 100)
		return float64(whole), true, f
	}
	return n.Number, n.Said, nil
}
