package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

const (
	countBorn = `INSERT INTO families (root, born) VALUES (?, ?)
ON CONFLICT (root) DO UPDATE SET born = families.born + excluded.born`
	selectBorn = `SELECT born FROM families WHERE root = ?`
	// forgetFamily finds no other run of the family that is left, see storage.Reader.
	forgetFamily = `DELETE FROM families WHERE root = ? AND NOT EXISTS (SELECT 1 FROM origins WHERE id = families.root)
  AND NOT EXISTS (SELECT 1 FROM origins o WHERE o.root = families.root AND o.root <> '')`
)

// bear counts a run that this transaction creates.
func (s *session) bear(root string) {
	if root == "" {
		return
	}
	if s.born == nil {
		s.born = map[string]int64{}
	}
	s.born[root]++
}

// countBorn writes what bear has counted. It is the last thing that a transaction writes,
// in one order for all: so transactions that share families do not wait for each other in
// a circle, as none of them locks anything afterwards.
func (s *session) countBorn(ctx context.Context) error {
	for _, root := range slices.Sorted(maps.Keys(s.born)) {
		if err := s.post(ctx, nil, countBorn, root, s.born[root]); err != nil {
			return err
		}
	}
	return nil
}

// forget forgets a family when no run of it is left.
func (s *session) forget(ctx context.Context, root string) error {
	return s.post(ctx, nil, forgetFamily, root)
}

// Descendants returns how many runs were created with a root.
func (s *Store) Descendants(ctx context.Context, root string) (born int64, err error) {
	err = s.glance(ctx, func(r *session) error {
		err := r.get(ctx, &born, selectBorn, root)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
	return born, err
}
