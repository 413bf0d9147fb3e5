package inspect

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Waits finds what single runs wait for, as [WaitingOf] groups them. It reads the facts of the store that it needs
// together with the first runs, and does not notice when they change.
type Waits struct {
	store  backend.Store
	search WaitingSearch
	facts  *grouping
}

// A WaitName is the Kind and Name of the [WaitGroup] of a run.
type WaitName struct {
	Kind WaitKind
	Name string
}

// NewWaits returns a Waits of a store. The search's Clock does not count.
func NewWaits(store backend.Store, search WaitingSearch) *Waits {
	return &Waits{store: store, search: search}
}

// Of returns what each of the runs waits for; nothing of a run that has ended or needs a person. If a run has very many
// atoms in progress, Of looks at the first ones. Errors are the store's.
func (w *Waits) Of(ctx context.Context, runs []storage.Run) ([][]WaitName, error) {
	if err := w.readFacts(ctx); err != nil {
		return nil, err
	}
	names := make([][]WaitName, len(runs))
	at := map[string]int{}
	var open []storage.Run
	for i := range runs {
		if at[runs[i].ID] = i; !runs[i].State.Ended() {
			open = append(open, runs[i])
		}
	}
	return names, w.each(ctx, open, func(run string, one RunWait) {
		names[at[run]] = append(names[at[run]], one.WaitName)
	})
}

func (w *Waits) readFacts(ctx context.Context) error {
	if w.facts != nil {
		return nil
	}
	g := newGrouping(w.store, w.search)
	if err := g.readFacts(ctx); err != nil {
		return err
	}
	w.facts = g
	return nil
}

// each calls f with what runs wait for. If they have too much in progress for one read of the store, it reads them half
// by half.
func (w *Waits) each(ctx context.Context, runs []storage.Run, f func(run string, one RunWait)) error {
	type wait struct {
		run string
		one RunWait
	}
	var waits []wait
	g := *w.facts
	g.groups = map[WaitName]*WaitGroup{}
	g.counted = func(run string, one RunWait) { waits = append(waits, wait{run, one}) }
	if err := g.add(ctx, runs); err != nil {
		return err
	}
	if half := len(runs) / 2; g.Least && half > 0 {
		if err := w.each(ctx, runs[:half], f); err != nil {
			return err
		}
		return w.each(ctx, runs[half:], f)
	}
	for _, one := range waits {
		f(one.run, one.one)
	}
	return nil
}
