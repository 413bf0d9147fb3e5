package sqlstore

import (
	"context"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/dbfile"
)

var _ backend.WriteBars = (*store)(nil)

// selectStandby finds the function by the search path, so that a test can put another one before it.
const selectStandby = `SELECT pg_is_in_recovery()`

// Barred implements [backend.WriteBars.Barred].
func (s *store) Barred(ctx context.Context) (why string, err error) {
	if s.server == nil {
		if dbfile.ReadOnly(s.file) {
			return "its file system is mounted for reading only", nil
		}
		return "", nil
	}
	standby := false
	err = s.glance(ctx, func(r *session) error { return r.Get(ctx, &standby, selectStandby) })
	if standby && err == nil {
		why = "the server is a standby (pg_is_in_recovery)"
	}
	return why, err
}
