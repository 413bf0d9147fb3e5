package command

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// resend sends parked messages of a run again. The run may have ended and been pruned.
func (s subcommands) resend(ctx context.Context, id string) error {
	resent := 0
	err := s.WithExisting(ctx, func(store *sqlstore.Store) error {
		all, err := store.RunOutbox(ctx, id, 0)
		if err != nil {
			return exit.DatabaseError(err)
		}
		for _, out := range all {
			if !out.Parked {
				continue
			}
			out.Parked, out.Attempts, out.NotUntil = false, 0, time.Time{}
			if err := store.Unsent(ctx, out); err != nil && !errors.Is(err, storage.ErrNotFound) {
				// Not an error: another process resent the message, and it was sent
				return exit.DatabaseError(err)
			}
			resent++
			s.Done = true
		}
		if len(all) == 0 {
			_, err = session.FindRun(ctx, store, id)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case resent == 0:
		return exit.Usagef("no message of run %q is parked", id)
	}
	return s.Emit(struct {
		Event    string `json:"event"`
		Run      string `json:"run"`
		Messages int    `json:"messages"`
	}{"resent", id, resent},
		"%s: parked messages to be sent again: %d (ebb serve --sink sends them)", visible.Line(id), resent)
}
