package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// Run returns one run.
func (m *MemoryStore) Run(ctx context.Context, id string) (Run, error) {
	if err := m.enter(ctx); err != nil {
		return Run{}, err
	}
	defer m.mu.Unlock()
	r, err := m.find(id)
	if err != nil {
		return Run{}, err
	}
	return r.record(), nil
}

// Runs lists runs.
func (m *MemoryStore) Runs(ctx context.Context, q RunQuery) ([]Run, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	list := slices.Clone(m.order)
	slices.Reverse(list)
	if !q.Due.IsZero() {
		slices.Reverse(list)
		slices.SortStableFunc(list, func(a, b *memoryRun) int { return a.head.Due.Compare(b.head.Due) })
	}
	if q.Before != "" {
		at := slices.IndexFunc(list, func(r *memoryRun) bool { return r.head.ID == q.Before })
		if at < 0 {
			return nil, fmt.Errorf("%w: run %q", ErrNotFound, q.Before)
		}
		list = list[at+1:]
	}
	var out []Run
	for _, r := range list {
		if q.matches(&r.head) {
			out = append(out, r.record())
			if len(out) == q.Limit {
				break
			}
		}
	}
	return out, nil
}

// Labeled returns the runs that have not ended, by a label of theirs.
func (m *MemoryStore) Labeled(ctx context.Context, value string, keys ...string) (map[string][]string, error) {
	if err := CheckLabeled(value, keys); err != nil {
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

func (q *RunQuery) matches(r *Run) bool {
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
func (m *MemoryStore) Atoms(ctx context.Context, run string, q AtomQuery) ([]Atom, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return nil, err
	}
	return r.listAtoms(q)
}

// Atom returns one atom of a run.
func (m *MemoryStore) Atom(ctx context.Context, run, path string) (Atom, error) {
	found, err := m.AtomsAt(ctx, run, path)
	if err != nil {
		return Atom{}, err
	}
	if len(found) == 0 {
		return Atom{}, fmt.Errorf("%w: atom %q of run %q", ErrNotFound, path, run)
	}
	return found[0], nil
}

// AtomsAt returns the atoms at these paths.
func (m *MemoryStore) AtomsAt(ctx context.Context, run string, paths ...string) ([]Atom, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return nil, err
	}
	var out []Atom
	for _, path := range paths {
		record, there := r.atoms.find(path)
		if !there {
			continue
		}
		a, err := DecodeAtom(path, record, r.payload)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Tries returns all that a retry decides by.
func (m *MemoryStore) Tries(ctx context.Context, run, path string) (atom.History, error) {
	a, err := m.Atom(ctx, run, path)
	if err != nil {
		return atom.History{}, err
	}
	if err := m.enter(ctx); err != nil {
		return atom.History{}, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return atom.History{}, err
	}
	return a.AllTries(r.payload)
}

// History returns entries with numbers above after.
func (m *MemoryStore) History(ctx context.Context, run string, after int64, limit int) ([]Entry, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return nil, err
	}
	return r.listHistory(after, limit)
}

// Undos returns entries of the undo stack from below or from the top.
func (m *MemoryStore) Undos(ctx context.Context, run string, below int64, limit int) ([]Undo, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return nil, err
	}
	var out []Undo
	stack := r.undo
	if below > 0 {
		stack = stack[:min(below-1, int64(len(stack)))]
	}
	for i, path := range slices.Backward(stack) {
		if len(out) == limit && limit > 0 {
			break
		}
		out = append(out, Undo{N: int64(i) + 1, Path: path})
	}
	return out, nil
}

// Timers returns timers due by then, of runs without an owner.
func (m *MemoryStore) Timers(ctx context.Context, by time.Time, limit int) ([]TimerRow, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var out []TimerRow
	for _, r := range m.order {
		if r.head.Owner != "" {
			continue
		}
		for _, t := range r.timers {
			if !t.Due.After(by) {
				out = append(out, t)
			}
		}
	}
	sortTimers(out)
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

// RunTimers returns the timers of one run.
func (m *MemoryStore) RunTimers(ctx context.Context, run string) ([]TimerRow, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return nil, err
	}
	return r.listTimers(), nil
}

func (r *memoryRun) listTimers() []TimerRow {
	out := slices.Clone(r.timers)
	sortTimers(out)
	return out
}

// RunTokens returns the open tokens of one run.
func (m *MemoryStore) RunTokens(ctx context.Context, run string) ([]Token, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	r, err := m.find(run)
	if err != nil {
		return nil, err
	}
	out := make([]Token, len(r.open))
	for i, id := range r.open {
		out[i] = m.token(id)
	}
	slices.SortFunc(out, func(a, b Token) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// sortTimers puts the nearest first, and makes the order among equals certain.
func sortTimers(rows []TimerRow) {
	slices.SortFunc(rows, func(a, b TimerRow) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Run, b.Run),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
}

// Token returns one token.
func (m *MemoryStore) Token(ctx context.Context, id string) (Token, error) {
	if err := m.enter(ctx); err != nil {
		return Token{}, err
	}
	defer m.mu.Unlock()
	if m.tokens[id] == nil {
		return Token{}, fmt.Errorf("%w: token %q", ErrNotFound, id)
	}
	return m.token(id), nil
}
