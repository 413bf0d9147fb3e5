package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

const releaseRun = `UPDATE runs SET owner = '', due = $1, ` + endIsolation +
	` WHERE n = $2 AND fence = $3 AND claim = $4 AND owner <> '' AND wakeups = $5`

// Release implements [backend.Driver.Release].
func (s *store) Release(ctx context.Context, claim backend.Claim, wakeups int64, due time.Time) error {
	return s.update(ctx, &write{
		runs: []string{claim.Run},
		do: func(ctx context.Context, w *session) error {
			if err := w.hold(ctx, claim.Run); err != nil {
				return err
			}
			row, err := findRun(ctx, w, claim.Run)
			if err != nil {
				return err
			}
			done, err := w.Exec(ctx, releaseRun, micros(due), row.N, claim.Fence, claim.ID, wakeups)
			switch {
			case err != nil || done == 1:
				return err
			case row.Fence != claim.Fence || row.Claim != claim.ID || row.Owner == "":
				return fmt.Errorf("%w: run %q", storage.ErrFenced, claim.Run)
			default:
				return storage.ErrNewMessages
			}
		},
		then:     func() { s.claims.drop(claim.ID) },
		arrivals: wakeup.Moves,
	})
}
