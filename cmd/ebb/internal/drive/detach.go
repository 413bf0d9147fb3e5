package drive

import (
	"context"
	"errors"
	"slices"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Detach creates the run and prints its id. A process that serves the database drives it. If the run exists, Detach
// does not change it.
func (d *Driver) Detach(ctx context.Context, opts []engine.RunOption) error {
	eng, err := engine.New(flow.Growing(d.Flow, d.Machine), d.Store,
		engine.WithTasks(d.Tasks), engine.WithCatalog(&definition.Catalog{Store: d.Store}))
	if err != nil {
		return err
	}
	err = eng.Start(ctx, d.ID, opts...)
	there := errors.Is(err, storage.ErrExists)
	if broken, ok := errors.AsType[*engine.StoreError](err); ok && !there {
		return exit.DatabaseError(broken.Err)
	}
	if err != nil && !there {
		return exit.Refused(err)
	}
	d.Session.Done = true
	run, err := session.FindRun(ctx, d.Store, d.ID)
	if err != nil { // what is known of it
		run = storage.Run{ID: d.ID, Flow: d.Flow, State: states.FlowPending}
	}
	shown := d.Session.Emit(struct {
		Event string      `json:"event"`
		Run   string      `json:"run"`
		Flow  string      `json:"flow"`
		State states.Flow `json:"state"`
		There bool        `json:"there,omitzero"` // it existed before
	}{"detached", run.ID, run.Flow, run.State, there}, "%s", run.ID)
	if err = errors.Join(shown, err); err != nil {
		return err
	}
	return d.noticeLeft(ctx, &run, there)
}

// noticeLeft tells the user if no process that is known will drive the run for now.
func (d *Driver) noticeLeft(ctx context.Context, run *storage.Run, there bool) error {
	if there {
		d.Session.Noticef("run %s had been begun before; it is %s", visible.Line(run.ID), run.State)
	}
	if run.State.Ended() || run.State == states.FlowSuspended || run.Hold {
		return nil // nobody is missing
	}
	owners, err := d.Store.Owners(ctx)
	if err != nil {
		return exit.DatabaseError(err)
	}
	driven := slices.ContainsFunc(owners, func(o storage.Owner) bool { return o.Alive && o.ID == run.Owner })
	server, err := inspect.Server(ctx, d.Store, run) // other live owners only read, or drive a run of their own
	if err != nil || driven || server != nil {
		return exit.DatabaseError(err)
	}
	d.Session.Noticef("no process is known that serves run %s: it continues when one does (ebb serve)",
		visible.Line(run.ID))
	return nil
}
