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
			"Map iteration failure count must be less than or equal to the number of Map iterations.")
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

// intolerable reports whether more iterations have failed than the state tolerates. Unless a Retry or Catch of the
// state applies, the mock defines the state's result.
func (t *Test) intolerable(w *interpreter.Interpreter, count int) bool {
	if len(w.State.Retry) == 0 && len(w.State.Catch) == 0 {
		return false
	}
	failed, most, share := t.Configuration.MapIterationFailureCount, int64(0), w.Inspection.ToleratedPercentage
	if tolerated := w.Inspection.ToleratedCount; tolerated != nil {
		most = *tolerated
	}
	if (w.Inspection.ToleratedCount != nil || share == nil) && int64(failed) > most {
		return true
	}
	return share != nil && float64(failed)*100 > *share*float64(count)
}
