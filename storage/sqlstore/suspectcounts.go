package sqlstore

import (
	"context"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// countSuspects reads the index of runs that were lost more than once.
const countSuspects = `SELECT count(*) AS runs, coalesce(sum(CASE WHEN trial % 2 = 1 THEN 1 ELSE 0 END), 0) AS tried
FROM runs WHERE lost > 1 AND died > ? AND ended IS NULL`

// Suspected returns how many runs may be why processes died, see [storage.Run.Suspect], and
// how many of them are on trial.
func (s *Store) Suspected(ctx context.Context) (suspects, tried int64, err error) {
	var found struct{ Runs, Tried int64 }
	err = s.glance(ctx, func(r *session) error {
		return r.get(ctx, &found, countSuspects, micros(time.Now().Add(-storage.LostWindow)))
	})
	return found.Runs, found.Tried, err
}
