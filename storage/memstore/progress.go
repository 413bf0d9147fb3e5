package memstore

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// InProgress implements [backend.Lists.InProgress].
func (m *store) InProgress(ctx context.Context, runs []storage.Run, most int) (
	list []backend.Progress, cut bool, err error,
) {
	if err := m.enter(ctx); err != nil {
		return nil, false, err
	}
	defer m.mu.Unlock()
	list = make([]backend.Progress, len(runs))
	atoms, tokens, timers := most, most, most
	for i := range runs {
		r := m.runs[runs[i].ID]
		if r == nil {
			continue
		}
		p := &list[i]
		if p.Atoms, err = r.listAtoms(storage.AtomQuery{Live: true}); err != nil {
			return nil, false, err
		}
		for j := range p.Atoms {
			a := &p.Atoms[j]
			for _, held := range []*storage.Held{&a.Input, &a.Note, &a.Result, &a.RevertResult} {
				*held = stored(*held)
			}
		}
		for _, id := range r.open {
			p.Tokens = append(p.Tokens, m.token(id))
		}
		p.Timers = r.listTimers()
		p.Atoms, p.Tokens = capped(p.Atoms, &atoms, &cut), capped(p.Tokens, &tokens, &cut)
		p.Timers = capped(p.Timers, &timers, &cut)
	}
	return list, cut, nil
}

// capped returns as many of the records as are left, and reports whether some were left out.
func capped[T any](list []T, left *int, cut *bool) []T {
	if len(list) > *left {
		list, *cut = list[:*left], true
	}
	*left -= len(list)
	return list
}
