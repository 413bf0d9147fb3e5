package scheduler_test

import (
	"encoding/json"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/taskflowtest"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
)

// final returns what is stored in the end, as records have it.
func (d *driver) final() conformance.TaskFlowFinal {
	out := conformance.TaskFlowFinal{
		Flow: d.kept.flow.String(), Atoms: map[string]conformance.TaskFlowAtom{}, Symbols: map[string][]json.RawMessage{},
	}
	for i := range d.plan.Atoms {
		out.Atoms[d.plan.Atoms[i].Name()] = d.finalAtom(int32(i))
	}
	symbols := slices.Collect(d.plan.Symbols)
	for symbol := range d.c.Store {
		symbols = append(symbols, symbol)
	}
	for _, symbol := range symbols {
		values, all := d.symbol(symbol)
		if value, stored := d.c.Store[symbol]; stored {
			values = append(values, value)
		}
		if all && len(values) > 0 {
			out.Symbols[symbol] = values
		}
	}
	for _, values := range out.Symbols {
		slices.SortFunc(values, slices.Compare)
	}
	return out
}

func (d *driver) finalAtom(i int32) conformance.TaskFlowAtom {
	a, r := d.plan.Atoms[i], d.kept.records[i]
	out := conformance.TaskFlowAtom{Kind: kind(a.Kind()), State: r.State.String(), Intention: d.sched.Intention(i).String()}
	switch {
	case a.Kind() == atom.KindRetry:
		out.History = taskflowtest.ShowHistory(r.Tries())
	case r.State == states.TaskSuccess:
		out.Result = r.Result.JSON()
	}
	if r.Failure != nil {
		out.Failure = taskflowtest.Show(r.Failure)
	}
	if f := r.RevertFailure(); f != nil {
		out.RevertFailure = taskflowtest.Show(f)
	}
	if r.State == states.TaskReverted && r.Rare != nil && r.Rare.RevertResult.String() != "null" {
		out.RevertResult = r.Rare.RevertResult.JSON()
	}
	return out
}

// symbol returns what atoms provide under a symbol, and whether each of them has
// a value: otherwise it is not listed. Providers that were left out, and failures, do not
// count.
func (d *driver) symbol(symbol string) (values []json.RawMessage, all bool) {
	all = true
	d.plan.AllProviders(symbol, func(from int32, part atom.Provide) bool {
		r := d.sched.Record(from)
		if r.Failure != nil && part.From == atom.Whole || r.Failure == nil && r.State == states.TaskIgnore {
			return true
		}
		value, has := d.sched.ValueOf(from)
		if has {
			value, has = part.Of(value)
		}
		all = all && has
		values = append(values, value.JSON())
		return true
	})
	return values, all
}
