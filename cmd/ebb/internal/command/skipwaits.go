package command

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/doctor"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
)

// notices are what a client with a key reads at /readyz.
func (f *serveFlags) notices() []string {
	if f.skipWaits {
		return []string{"waits are skipped (--skip-waits)"}
	}
	return nil
}

// reportSkippedWaits logs that this process skips waits, and records it for ebb doctor until end is called.
func (s subcommands) reportSkippedWaits(ctx context.Context, store storage.Store) (end func() error, err error) {
	s.Logger().Warn(logevent.WaitsSkipped)
	record := storage.RecordWrite{
		Kind: doctor.SkippedWaits, Key: store.Owner().ID, Was: storage.AnyRevision, Body: atom.Null,
	}
	_, err = store.WriteRecords(ctx, record)
	return func() error {
		record.Body, record.Delete = nil, true
		_, err := store.WriteRecords(context.WithoutCancel(ctx), record)
		if errors.Is(err, storage.ErrClosed) {
			return nil
		}
		return err
	}, err
}
