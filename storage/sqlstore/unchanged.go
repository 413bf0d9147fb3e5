package sqlstore

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/storage"
)

const selectRevision = `SELECT revision FROM records WHERE kind = $1 AND key = $2`

// A recordName identifies a named record.
type recordName struct{ kind, key string }

// readChecked reads the revisions of all records that the writes of a batch check. On a server, it keeps them
// unchanged until the transaction ends, and needs one round trip.
func (s *session) readChecked(ctx context.Context, batch []*write) error {
	s.revisions = nil
	for _, one := range batch {
		for _, c := range one.checks {
			if s.revisions == nil {
				s.revisions = map[recordName]*[]int64{}
			}
			s.revisions[recordName{c.Kind, c.Key}] = new([]int64)
		}
	}
	if s.revisions == nil {
		return nil
	}
	before := s.Changed
	if s.dialect.locks {
		if err := s.Post(ctx, nil, shareRecords); err != nil {
			return err
		}
	}
	for name, rows := range s.revisions {
		if err := s.PostQuery(ctx, rows, same, selectRevision, name.kind, name.key); err != nil {
			return err
		}
	}
	err := s.Flush(ctx)
	s.Changed = before // no row has changed
	return err
}

// unchanged returns an error if one of the checks of a new run does not hold. If the run exists, the error is taken.
func (s *session) unchanged(ctx context.Context, run string, checks []storage.RecordCheck, taken error) error {
	for i := range checks {
		var revision int64
		if rows := s.revisions[recordName{checks[i].Kind, checks[i].Key}]; rows != nil && len(*rows) > 0 {
			revision = (*rows)[0]
		}
		changed := checks[i].Against(revision)
		if changed == nil {
			continue
		}
		_, err := numberOf(ctx, s, run)
		switch {
		case err == nil:
			return taken
		case errors.Is(err, storage.ErrNotFound):
			return changed
		default:
			return err
		}
	}
	return nil
}
