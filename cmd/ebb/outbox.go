package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// resend lets the messages of a run be sent again that were parked. The run may have
// ended, and been pruned.
func (s *session) resend(ctx context.Context, id string) error {
	var parked []storage.Outgoing
	// Looked at first: a database that is not there is not made for this.
	err := s.reading(ctx, func(store storage.Store) error {
		all, err := store.RunOutbox(ctx, id, 0)
		if err != nil {
			return unreachable(err)
		}
		for i := range all {
			if all[i].Parked {
				parked = append(parked, all[i])
			}
		}
		if len(all) == 0 {
			_, err = findRun(ctx, store, id)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case len(parked) == 0:
		return usagef("no message of run %q is parked", id)
	}
	err = s.withStore(ctx, func(store storage.Store) error {
		for _, out := range parked {
			out.Parked, out.Attempts, out.NotUntil = false, 0, time.Time{}
			if err := store.Unsent(ctx, out); err != nil && !errors.Is(err, storage.ErrNotFound) { // not an error: another process resent the message, and it was sent
				return unreachable(err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.output == asJSON {
		return view.NewJSON(s.out).Encode(struct {
			Event    string `json:"event"`
			Run      string `json:"run"`
			Messages int    `json:"messages"`
		}{"resent", id, len(parked)})
	}
	_, err = fmt.Fprintf(s.out, "%s: parked messages to be sent again: %d (ebb serve --sink sends them)\n", visible.Line(id), len(parked))
	return err
}
