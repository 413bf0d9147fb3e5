package drive

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/session"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// Detach creates the run and prints its id. A process that serves the database drives it. If the run exists, Detach
// does not change it.
func (d *Driver) Detach(ctx context.Context, opts []engine.RunOption) error {
	eng, err := engine.New(flow.Growing(d.Flow, d.Machine),
		engine.WithStore(d.Store), engine.WithTasks(d.Tasks), engine.WithCatalog(&definition.Catalog{Store: d.Store}))
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
	run, err := session.FindRun(ctx, d.Store, d.ID)
	if err != nil {
		return err
	}
	err = d.Session.Emit(struct {
		Event string      `json:"event"`
		Run   string      `json:"run"`
		Flow  string      `json:"flow"`
		State states.Flow `json:"state"`
		There bool        `json:"there,omitzero"` // it existed before
	}{"detached", run.ID, run.Flow, run.State, there}, "%s", run.ID)
	if err != nil {
		return err
	}
	return d.noticeLeft(ctx, &run, there)
}

// noticeLeft tells the user if no process will drive the run for now.
func (d *Driver) noticeLeft(ctx context.Context, run *storage.Run, there bool) error {
	if there {
		d.Session.Noticef("run %s had been begun before; it is %s", visible.Line(run.ID), run.State)
	}
	owners, err := d.Store.Owners(ctx)
	if err != nil || run.State.Ended() {
		return exit.DatabaseError(err)
	}
	for i := range owners {
		if owners[i].Alive && owners[i].ID != d.Store.Owner().ID {
			return nil
		}
	}
	d.Session.Noticef("no process serves the database now: run %s continues when one does (ebb serve)",
		visible.Line(run.ID))
	return nil
}
