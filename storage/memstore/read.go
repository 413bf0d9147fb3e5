package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/codec"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/internal/rules"
)

// of locks the store, finds the run and returns the result of f.
func of[T any](ctx context.Context, m *store, run string, f func(r *runRecord) (T, error)) (none T, err error) {
	if err := m.enter(ctx); err != nil {
		return none, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return none, err
	}
	return f(r)
}

// Run implements [backend.Reader.Run].
func (m *store) Run(ctx context.Context, id string) (storage.Run, error) {
	return of(ctx, m, id, func(r *runRecord) (storage.Run, error) { return r.record(), nil })
}

// Labeled implements [backend.Reader.Labeled].
func (m *store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
	if err := rules.CheckLabeled(value, keys); err != nil {
		return nil, err
	}
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	asked := make(map[string]bool, len(keys))
	for _, key := range keys {
		asked[key] = true
	}
	out := map[string][]string{}
	for _, r := range m.order {
		if r.head.State.Ended() {
			continue
		}
		for key, has := range r.head.Labels {
			if has == value && asked[key] {
				out[key] = append(out[key], r.head.ID)
			}
		}
	}
	for _, ids := range out {
		slices.Sort(ids)
	}
	return out, nil
}

// Atoms implements [backend.Reader.Atoms].
func (m *store) Atoms(ctx context.Context, run string, q storage.AtomQuery) ([]storage.Atom, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Atom, error) { return r.listAtoms(q) })
}

// Atom implements [backend.Reader.Atom].
func (m *store) Atom(ctx context.Context, run, path string) (storage.Atom, error) {
	found, err := m.AtomsAt(ctx, run, path)
	if err != nil {
		return storage.Atom{}, err
	}
	if len(found) == 0 {
		return storage.Atom{}, fmt.Errorf("%w: atom %q of run %q", storage.ErrNotFound, path, run)
	}
	return found[0], nil
}

// AtomsAt implements [backend.Reader.AtomsAt].
func (m *store) AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Atom, error) {
		var out []storage.Atom
		for _, path := range paths {
			record, there := r.atoms.find(path)
			if !there {
				continue
			}
			a, err := codec.DecodeAtom(path, record, r.payload)
			if err != nil {
				return nil, err
			}
			out = append(out, a)
		}
		return out, nil
	})
}

// Tries implements [backend.Reader.Tries].
func (m *store) Tries(ctx context.Context, run, path string) (atom.History, error) {
	a, err := m.Atom(ctx, run, path)
	if err != nil {
		return atom.History{}, err
	}
	return of(ctx, m, run, func(r *runRecord) (atom.History, error) { return codec.AllTries(&a, r.payload) })
}

// History implements [backend.Reader.History].
func (m *store) History(ctx context.Context, run string, after int64, limit int) ([]storage.Entry, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Entry, error) { return r.listHistory(after, limit) })
}

// Events implements [backend.Reader.Events].
func (m *store) Events(ctx context.Context, run string, q storage.EventQuery) ([]storage.Entry, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Entry, error) { return r.listEvents(&q) })
}

// Undos implements [backend.Reader.Undos].
func (m *store) Undos(ctx context.Context, run string, below int64, limit int) ([]storage.Undo, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Undo, error) {
		var out []storage.Undo
		stack := r.undo
		if below > 0 {
			stack = stack[:min(below-1, int64(len(stack)))]
		}
		for i, path := range slices.Backward(stack) {
			if len(out) == limit && limit > 0 {
				break
			}
			out = append(out, storage.Undo{N: int64(i) + 1, Path: path})
		}
		return out, nil
	})
}

// RunTimers implements [backend.Reader.RunTimers].
func (m *store) RunTimers(ctx context.Context, run string) ([]storage.TimerRow, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.TimerRow, error) { return r.listTimers(), nil })
}

func (r *runRecord) listTimers() []storage.TimerRow {
	out := slices.Clone(r.timers)
	slices.SortFunc(out, func(a, b storage.TimerRow) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// RunTokens implements [backend.Reader.RunTokens].
func (m *store) RunTokens(ctx context.Context, run string) ([]storage.Token, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Token, error) {
		out := make([]storage.Token, len(r.open))
		for i, id := range r.open {
			out[i] = m.token(id)
		}
		slices.SortFunc(out,
			func(a, b storage.Token) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID)) })
		return out, nil
	})
}

// Token implements [backend.Reader.Token].
func (m *store) Token(ctx context.Context, id string) (storage.Token, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	if m.tokens[id] == nil {
		return storage.Token{}, fmt.Errorf("%w: token %q", storage.ErrNotFound, id)
	}
	return m.token(id), nil
}
