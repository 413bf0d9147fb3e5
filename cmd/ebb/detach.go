package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// leave creates the run and prints its id. A process that serves the database drives it.
// If the run exists, leave does not change it.
func (j *runSession) leave(ctx context.Context, opts []engine.RunOption) error {
	eng, err := engine.New(flow.Growing(j.flow, j.machine),
		engine.WithStore(j.store), engine.WithTasks(j.tasks), engine.WithCatalog(&definition.Catalog{Store: j.store}))
	if err != nil {
		return err
	}
	err = eng.Start(ctx, j.id, opts...)
	there := errors.Is(err, storage.ErrExists)
	if broken, ok := errors.AsType[*engine.StoreError](err); ok && !there {
		return unreachable(broken.Err)
	}
	if err != nil && !there {
		return refused(err)
	}
	run, err := findRun(ctx, j.store, j.id)
	if err != nil {
		return err
	}
	if j.session.output == asJSON {
		err = view.NewJSON(j.session.out).Encode(struct {
			Event string      `json:"event"`
			Run   string      `json:"run"`
			Flow  string      `json:"flow"`
			State states.Flow `json:"state"`
			There bool        `json:"there,omitzero"` // it had been made before
		}{"detached", run.ID, run.Flow, run.State, there})
	} else {
		_, err = fmt.Fprintln(j.session.out, run.ID)
	}
	if err != nil {
		return err
	}
	return j.noticeLeft(ctx, &run, there)
}

// noticeLeft says so when nothing comes of a run for now.
func (j *runSession) noticeLeft(ctx context.Context, run *storage.Run, there bool) error {
	if there {
		j.session.noticef("run %s had been begun before; it is %s", visible.Line(run.ID), run.State)
	}
	owners, err := j.store.Owners(ctx)
	if err != nil || run.State.Ended() {
		return unreachable(err)
	}
	for i := range owners {
		if owners[i].Alive && owners[i].ID != j.store.Owner().ID {
			return nil
		}
	}
	j.session.noticef("nobody serves the database now: run %s goes on when somebody does (ebb serve)", visible.Line(run.ID))
	return nil
}
