package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/engine/internal/planview"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/storage"
)

// PlanView returns the diagram of the flow of a run of Go code, with what became of each atom. The items of a flow.Each
// are one node that counts them, however many there are. The engine that runs the
// flow has stored it, so no code is needed. If there is none, because the flow grows while it runs, or has more than
// 2,000 atoms, or an earlier Ebb ran it, PlanView returns an error that wraps [storage.ErrNotFound].
func PlanView(ctx context.Context, store storage.Store, run *storage.Run) (draw.View, error) {
	v, err := planview.Read(ctx, store, run.Structure)
	if err != nil {
		return v, err
	}
	became, counts := make(map[string]string, len(v.Nodes)), map[string]string{}
	for a, err := range Atoms(ctx, store, run) {
		if err != nil {
			return v, err
		}
		became[a.Path] = a.Status
		if a.Run == "" {
			continue
		}
		if counts[a.Path], err = itemCounts(ctx, store, a.Run); err != nil {
			return v, err
		}
	}
	v.Title = run.Flow + "  " + run.ID
	return v.Coloured(became).Counted(counts), nil
}

// mostCounted is how many items of a flow.Each a diagram counts.
const mostCounted = 10_000

// itemCounts returns how many items of a flow.Each, whose run has that id, came to what, such as "2 FAILURE, 38
// SUCCESS". It counts up to mostCounted items, and says that there are more. It returns "" for the run of another flow,
// and for a run that was purged.
func itemCounts(ctx context.Context, store storage.Reader, id string) (string, error) {
	run, err := store.Run(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	counts, counted, more := map[storage.Status]int{}, 0, false
	for a, err := range Atoms(ctx, store, &run) {
		if err != nil {
			return "", err
		}
		if _, numbered := numberOf(a.Path); !numbered {
			continue
		}
		if more = counted == mostCounted; more {
			break
		}
		counts[storage.Status(a.Status)]++
		counted++
	}
	var parts []string
	for _, status := range slices.SortedFunc(maps.Keys(counts), Compare) {
		parts = append(parts, fmt.Sprint(counts[status], " ", status))
	}
	if more {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, ", "), nil
}
