package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// A LimitUse says how much of a limit on driven runs is in use.
type LimitUse struct {
	storage.Limit

	Used  int    // driven runs; of a limit by label, those of the value with the most
	Value string // of a limit by label: that value
	Least bool   // more runs may be driven, because not all runs were looked at
}

// String describes the limit and its use, such as "at most 3 at once of trip: 2 driven now".
func (u *LimitUse) String() string {
	if u.Runs == 0 {
		return u.Limit.String()
	}
	least, of := "", ""
	if u.Least {
		least = "at least "
	}
	if u.Value != "" {
		of = ", for " + u.Label + "=" + u.Value
	}
	return fmt.Sprintf("%v: %s%d driven now%s", &u.Limit, least, u.Used, of)
}

// LimitUses returns the limits of a store, with their use. It looks at the newest 10,000 runs that have not ended.
// Errors are the store's.
func LimitUses(ctx context.Context, store backend.Store) ([]LimitUse, error) {
	limits, err := store.Limits(ctx)
	if err != nil || len(limits) == 0 {
		return nil, err
	}
	uses, counts := make([]LimitUse, len(limits)), make([]map[string]int, len(limits))
	ofFlow := map[string][]int{} // the limits that may count a run
	for i := range limits {
		uses[i].Limit, counts[i] = limits[i], map[string]int{}
		ofFlow[limits[i].Flow] = append(ofFlow[limits[i].Flow], i)
	}
	looked := 0
	q := storage.RunQuery{States: openStates(), Brief: true, Limit: waitingPage}
	for looked < waitingRuns {
		runs, err := store.Runs(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			if runs[i].Owner == "" {
				continue
			}
			for _, n := range slices.Concat(ofFlow[""], ofFlow[runs[i].Flow]) {
				uses[n].count(&runs[i], counts[n])
			}
		}
		if looked += len(runs); len(runs) == 0 {
			return uses, nil
		}
		q.After = &runs[len(runs)-1]
	}
	for i := range uses {
		uses[i].Least = true
	}
	return uses, nil
}

// count counts a driven run.
func (u *LimitUse) count(run *storage.Run, counts map[string]int) {
	value, has := "", true
	if u.Label != "" {
		value, has = run.Labels[u.Label]
	}
	if !has {
		return
	}
	if counts[value]++; counts[value] > u.Used {
		u.Used, u.Value = counts[value], value
	}
}
