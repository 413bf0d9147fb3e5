package command

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/doctor"
	"github.com/ebbflow/ebb/internal/buildinfo"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/logevent"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// notices returns what /readyz reports to a client with a key.
func (f *serveFlags) notices() []string {
	if f.skipWaits {
		return []string{"waits are skipped (--skip-waits)"}
	}
	return nil
}

const (
	describeEach = time.Minute     // how often a process that commits updates its description
	tellFault    = 2 * time.Second // how soon it adds a fault of the database, if it can, or the end of one
)

// A description maintains the record from which ebb doctor reads what only this process knows.
type description struct {
	store  *sqlstore.Store
	is     inspect.ProcessRecord
	latest sqlstore.Counts // after the record was written
}

// describe writes the record of a process that serves a database. It deletes the records of processes that died.
func (s subcommands) describe(ctx context.Context, store *sqlstore.Store, f *serveFlags) (*description, error) {
	if f.skipWaits {
		s.Logger().Warn(logevent.WaitsSkipped)
	}
	if err := doctor.Prune(ctx, store); err != nil {
		return nil, err
	}
	version, revision, _ := buildinfo.Read()
	d := &description{store: store, is: inspect.ProcessRecord{
		Version: version, Revision: revision, Go: runtime.Version(), SkipsWaits: f.skipWaits, Address: f.listen.address,
	}}
	return d, d.write(ctx)
}

// write writes the record.
func (d *description) write(ctx context.Context) error {
	counts := d.store.Counts()
	d.is.Commits, d.is.Writes = counts.Commits, counts.Writes
	health := d.store.Health()
	d.is.Fault, d.is.Since = health.Fault, health.Since
	body, err := atom.Encode(d.is)
	if err != nil {
		return err
	}
	_, err = d.store.WriteRecords(ctx, storage.RecordWrite{
		Kind: inspect.ProcessRecords, Key: d.store.Owner().ID, Was: storage.AnyRevision, Body: body,
	})
	d.latest = d.store.Counts()
	return err
}

// update writes the record at intervals while the process commits, and deletes it when the context ends.
func (d *description) update(ctx context.Context) {
	tick, look := time.NewTicker(describeEach), time.NewTicker(tellFault)
	defer tick.Stop()
	defer look.Stop()
	for told := d.is.Fault; ; {
		select {
		case <-ctx.Done():
			_ = d.end(context.WithoutCancel(ctx)) // a remaining record does no harm, because its process is not alive
			return
		case <-tick.C:
			if d.store.Counts().Commits != d.latest.Commits {
				_ = d.write(ctx) // the next update repeats it
			}
		case <-look.C:
			if fault := d.store.Health().Fault; fault != told && d.write(ctx) == nil {
				told = fault
			}
		}
	}
}

// end deletes the record.
func (d *description) end(ctx context.Context) error {
	_, err := d.store.WriteRecords(ctx, storage.RecordWrite{
		Kind: inspect.ProcessRecords, Key: d.store.Owner().ID, Was: storage.AnyRevision, Delete: true,
	})
	if errors.Is(err, storage.ErrClosed) {
		return nil
	}
	return err
}
