package memstore

import (
	"context"

	"github.com/ebbflow/ebb/storage"
)

// A family is the runs that have the same Root.
type family struct {
	born int64 // so far
	left int64 // those that are not purged
}

// bear counts a run that is created; those without a root have no ancestor.
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

// evict counts a run that is purged. A family is forgotten with its last run.
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

// Descendants returns how many runs were created with a root.
func (m *Store) Descendants(ctx context.Context, root string) (int64, error) {
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	if f := m.families[root]; f != nil {
		return f.born, nil
	}
	return 0, nil
}
