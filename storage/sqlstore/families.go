package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ebbflow/ebb/storage"
)

const (
	countBorn = `INSERT INTO families (root, born) VALUES ($1, $2)
ON CONFLICT (root) DO UPDATE SET born = families.born + excluded.born`
	selectBorn = `SELECT born FROM families WHERE root = $1`
	// forgetFamily deletes the count of a root if no run of the family is left, see backend.Reader.
	forgetFamily = `DELETE FROM families WHERE root = $1 AND NOT EXISTS (SELECT 1 FROM origins WHERE id = families.root)
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

// countBorn writes the counts of bear. It is the last write of a transaction and uses the same order in all of
// them. Therefore, transactions that share families cannot deadlock: no transaction locks anything afterwards.
func (s *session) countBorn(ctx context.Context) error {
	for _, root := range slices.Sorted(maps.Keys(s.born)) {
		if err := s.Post(ctx, nil, countBorn, root, s.born[root]); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the count of a family if none of its runs is left.
func (s *session) forget(ctx context.Context, root string) error {
	return s.Post(ctx, nil, forgetFamily, root)
}

// Descendants implements [backend.Reader.Descendants].
func (s *store) Descendants(ctx context.Context, root string) (born int64, err error) {
	err = s.glance(ctx, func(r *session) error {
		err := r.Get(ctx, &born, selectBorn, root)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
	return born, err
}
