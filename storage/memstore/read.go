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

// of returns what f returns of a run, while the store is locked.
func of[T any](ctx context.Context, m *Store, run string, f func(r *runRecord) (T, error)) (none T, err error) {
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

// Run returns one run.
func (m *Store) Run(ctx context.Context, id string) (storage.Run, error) {
	return of(ctx, m, id, func(r *runRecord) (storage.Run, error) { return r.record(), nil })
}

// Runs lists runs.
func (m *Store) Runs(ctx context.Context, q storage.RunQuery) ([]storage.Run, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	list := slices.Clone(m.order)
	slices.Reverse(list)
	if !q.Due.IsZero() {
		slices.Reverse(list)
		slices.SortStableFunc(list, func(a, b *runRecord) int { return a.head.Due.Compare(b.head.Due) })
	}
	if q.Before != "" {
		at := slices.IndexFunc(list, func(r *runRecord) bool { return r.head.ID == q.Before })
		if at < 0 {
			return nil, fmt.Errorf("%w: run %q", storage.ErrNotFound, q.Before)
		}
		list = list[at+1:]
	}
	var out []storage.Run
	for _, r := range list {
		if matches(&q, &r.head) {
			out = append(out, r.record())
			if len(out) == q.Limit {
				break
			}
		}
	}
	return out, nil
}

// Labeled returns the runs that have not ended, by a label of theirs.
func (m *Store) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
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

func matches(q *storage.RunQuery, r *storage.Run) bool {
	for k, v := range q.Labels {
		if there, ok := r.Labels[k]; !ok || there != v {
			return false
		}
	}
	return (q.Flow == "" || q.Flow == r.Flow) && (!q.Top || r.Parent == "") &&
		(len(q.States) == 0 || slices.Contains(q.States, r.State)) &&
		(q.Due.IsZero() || r.Owner == "" && !r.Due.IsZero() && !r.Due.After(q.Due))
}

// Atoms returns the atoms of a run that a query selects.
func (m *Store) Atoms(ctx context.Context, run string, q storage.AtomQuery) ([]storage.Atom, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Atom, error) { return r.listAtoms(q) })
}

// Atom returns one atom of a run.
func (m *Store) Atom(ctx context.Context, run, path string) (storage.Atom, error) {
	found, err := m.AtomsAt(ctx, run, path)
	if err != nil {
		return storage.Atom{}, err
	}
	if len(found) == 0 {
		return storage.Atom{}, fmt.Errorf("%w: atom %q of run %q", storage.ErrNotFound, path, run)
	}
	return found[0], nil
}

// AtomsAt returns the atoms at these paths.
func (m *Store) AtomsAt(ctx context.Context, run string, paths ...string) ([]storage.Atom, error) {
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

// Tries returns all that a retry decides by.
func (m *Store) Tries(ctx context.Context, run, path string) (atom.History, error) {
	a, err := m.Atom(ctx, run, path)
	if err != nil {
		return atom.History{}, err
	}
	return of(ctx, m, run, func(r *runRecord) (atom.History, error) { return codec.AllTries(&a, r.payload) })
}

// History returns entries with numbers above after.
func (m *Store) History(ctx context.Context, run string, after int64, limit int) ([]storage.Entry, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Entry, error) { return r.listHistory(after, limit) })
}

// Undos returns entries of the undo stack from below or from the top.
func (m *Store) Undos(ctx context.Context, run string, below int64, limit int) ([]storage.Undo, error) {
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

// RunTimers returns the timers of one run.
func (m *Store) RunTimers(ctx context.Context, run string) ([]storage.TimerRow, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.TimerRow, error) { return r.listTimers(), nil })
}

func (r *runRecord) listTimers() []storage.TimerRow {
	out := slices.Clone(r.timers)
	slices.SortFunc(out, func(a, b storage.TimerRow) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// RunTokens returns the open tokens of one run.
func (m *Store) RunTokens(ctx context.Context, run string) ([]storage.Token, error) {
	return of(ctx, m, run, func(r *runRecord) ([]storage.Token, error) {
		out := make([]storage.Token, len(r.open))
		for i, id := range r.open {
			out[i] = m.token(id)
		}
		slices.SortFunc(out, func(a, b storage.Token) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID)) })
		return out, nil
	})
}

// Token returns one token.
func (m *Store) Token(ctx context.Context, id string) (storage.Token, error) {
	if err := m.enter(ctx); err != nil {
		return storage.Token{}, err
	}
	defer m.mu.Unlock()
	if m.tokens[id] == nil {
		return storage.Token{}, fmt.Errorf("%w: token %q", storage.ErrNotFound, id)
	}
	return m.token(id), nil
}
