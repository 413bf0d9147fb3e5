package taskflowtest

import (
	"encoding/json"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
)

// Final returns the final stored state of a case, in the form of records. s is a scheduler that loaded only this state.
func Final(c *conformance.TaskFlowCase, plan *flow.Plan, s *scheduler.Scheduler) conformance.TaskFlowFinal {
	f := final{plan, s}
	out := conformance.TaskFlowFinal{
		Flow: s.Flow().String(), Atoms: map[string]conformance.TaskFlowAtom{}, Symbols: map[string][]json.RawMessage{},
	}
	for i := range plan.Atoms {
		out.Atoms[plan.Atoms[i].Name()] = f.atom(int32(i))
	}
	symbols := slices.Collect(plan.Symbols)
	for symbol := range c.Store {
		symbols = append(symbols, symbol)
	}
	for _, symbol := range symbols {
		values, all := f.symbol(symbol)
		if value, stored := c.Store[symbol]; stored {
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

type final struct {
	plan *flow.Plan
	s    *scheduler.Scheduler
}

func (f final) atom(i int32) conformance.TaskFlowAtom {
	a, r := f.plan.Atoms[i], &f.s.Unit(i).Rec
	out := conformance.TaskFlowAtom{Kind: "T", State: r.State.String(), Intention: f.s.Intention(i).String()}
	switch {
	case a.Kind() == atom.KindRetry:
		out.Kind, out.History = "R", ShowHistory(r.Tries())
	case r.State == states.TaskSuccess:
		out.Result = r.Result.JSON()
	}
	if r.Failure != nil {
		out.Failure = Show(r.Failure)
	}
	if failed := r.RevertFailure(); failed != nil {
		out.RevertFailure = Show(failed)
	}
	if r.State == states.TaskReverted && r.Extra != nil && r.Extra.RevertResult.String() != "null" {
		out.RevertResult = r.Extra.RevertResult.JSON()
	}
	return out
}

// symbol returns what atoms provide under a symbol, and whether each of them
// has a value: otherwise it is not listed. Providers that were left out, and
// failures, do not count.
func (f final) symbol(symbol string) (values []json.RawMessage, all bool) {
	all = true
	f.plan.AllProviders(symbol, func(from int32, part atom.Provide) bool {
		r := f.s.Unit(from).Rec
		if r.Failure != nil && part.From == atom.Whole || r.Failure == nil && r.State == states.TaskIgnore {
			return true
		}
		value, has := f.s.ValueOf(from)
		if has {
			value, has = part.Of(value)
		}
		all = all && has
		values = append(values, value.JSON())
		return true
	})
	return values, all
}
