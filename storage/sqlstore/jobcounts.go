package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

const countJobs = `SELECT state, count(*) AS jobs, min(CASE WHEN not_until > created THEN not_until ELSE created END) AS since
FROM jobs WHERE state <> ` + jobComplete + ` GROUP BY state ORDER BY state`

// JobCounts counts jobs.
func (s *Store) JobCounts(ctx context.Context) ([]storage.JobCount, error) {
	var rows []struct {
		State uint8  `db:"state"`
		Jobs  int    `db:"jobs"`
		Since moment `db:"since"`
	}
	if err := s.glance(ctx, func(r *session) error { return r.once(ctx, &rows, countJobs) }); err != nil {
		return nil, err
	}
	counts := make([]storage.JobCount, len(rows))
	for i, r := range rows {
		counts[i] = storage.JobCount{State: states.Job(r.State), Jobs: r.Jobs, Since: r.Since.time()}
	}
	return counts, nil
}
