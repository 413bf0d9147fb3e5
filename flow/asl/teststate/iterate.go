package teststate

import (
	"github.com/ebbflow/ebb/flow/asl/internal/interpreter"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
)

// iterate evaluates the items of a Map state, up to its iterations. The error is an [Error].
func (t *Test) iterate(w *interpreter.Interpreter) (out interpreter.Step, f *stateerror.Error, err error) {
	if d := w.State.Items.Distributed; d != nil && d.Reader != nil {
		if len(t.Configuration.MapItemReaderData) == 0 {
			return out, nil, invalidTest(
				"ItemReader data must be specified when testing a Map state with ItemReader specified.")
		}
		if w.Read, f = itemsRead(&d.Reader.Config.ReaderConfig, t.Configuration.MapItemReaderData); f != nil {
			return out, f, nil
		}
		if d.Reader.Config.ItemsPointer != "" {
			w.Inspected(interpreter.AfterItemsPointer, w.Read)
		}
	}
	count, f := w.TestMap()
	if f != nil {
		return out, f, nil
	}
	if t.Configuration.MapIterationFailureCount > count {
		return out, nil, invalidTest(
			"Map iteration failure count must be less than or equal to the number of Map iterations")
	}
	if t.Mock.ErrorOutput == nil && t.intolerable(w, count) {
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

// intolerable reports whether more iterations have failed than the state tolerates. If the state neither says how many
// it tolerates nor handles errors, the mock defines its result.
func (t *Test) intolerable(w *interpreter.Interpreter, count int) bool {
	failed, tolerated, share := t.Configuration.MapIterationFailureCount, w.Inspection.ToleratedCount,
		w.Inspection.ToleratedPercentage
	if tolerated == nil && share == nil {
		return failed > 0 && len(w.State.Retry)+len(w.State.Catch) > 0
	}
	if tolerated != nil && int64(failed) > *tolerated {
		return true
	}
	return share != nil && float64(failed)*100 > *share*float64(count)
}
