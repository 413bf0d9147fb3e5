package memstore

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

// A family is the set of runs with the same Root.
type family struct {
	born int64 // number of runs created so far
	left int64 // number of runs that are not purged
}

// bear counts a new run. If root is "", the run has no ancestor.
func (m *memory) bear(root string) {
	if root == "" {
		return
	}
	f := m.families[root]
	if f == nil {
		f = &family{}
		m.families[root] = f
	}
	f.born++
	f.left++
}

// evict counts a purged run, and drops the family with its last run.
func (m *memory) evict(r *storage.Run) {
	root := r.Root
	if root == "" {
		root = r.ID
	}
	f := m.families[root]
	if f == nil {
		return
	}
	if r.Root != "" {
		f.left--
	}
	if f.left == 0 && m.runs[root] == nil {
		delete(m.families, root)
	}
}

// Descendants implements [backend.Reader.Descendants].
func (m *store) Descendants(ctx context.Context, root string) (int64, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	if f := m.families[root]; f != nil {
		return f.born, nil
	}
	return 0, nil
}
