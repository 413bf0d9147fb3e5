package planview

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

// FactsOf returns, by the names of the atoms of a plan, what must not change under a run, as verb phrases without their
// subject, such as "requires price" for an atom of one symbol. Sorted lists are easy to compare.
func FactsOf(p *flow.Plan) map[string][]string {
	all := make(map[string][]string, len(p.Atoms))
	for i := range p.Atoms {
		a, facts := &p.Atoms[i], []string{}
		for _, arg := range a.Args() {
			facts = append(facts, "requires "+arg.Symbol)
		}
		for _, pr := range a.Provides() {
			facts = append(facts, "provides "+pr.Symbol)
		}
		if a.Version() != "" && a.Kind() == atom.KindTask && a.Run == nil {
			facts = append(facts, "has version "+a.Version())
		}
		if a.Run != nil {
			facts = append(facts, "runs the flow "+a.Run.Plan.Flow)
		}
		slices.Sort(facts)
		all[a.Name()] = slices.Compact(facts)
	}
	return all
}

// ReadFacts returns the facts of the plan with that hash. If there is no record of it, it returns an error that wraps
// [storage.ErrNotFound].
func ReadFacts(ctx context.Context, store storage.NamedRecords, hash string) (map[string][]string, error) {
	stored, err := store.NamedRecord(ctx, recordKind, hash)
	if err != nil {
		return nil, err
	}
	var r record
	if err := json.Unmarshal(stored.Body.JSON(), &r); err != nil {
		return nil, fmt.Errorf("engine: the record of the plan %s: %w", hash, err)
	}
	return r.Facts, nil
}
