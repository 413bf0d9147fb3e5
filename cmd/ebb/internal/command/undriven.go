package command

import (
	"context"
	"fmt"

	"github.com/ebbflow/ebb/cmd/ebb/internal/drive"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/engine/inspect"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/storage"
)

// undriven says what lets a run continue that no process drives.
func undriven(ctx context.Context, store storage.Store, run *storage.Run) (string, error) {
	owners, err := store.Owners(ctx)
	if err != nil {
		return "", exit.DatabaseError(err)
	}
	server, err := inspect.Server(ctx, store, run, owners)
	switch {
	case err != nil:
		return "", exit.DatabaseError(err)
	case server != nil:
		return fmt.Sprintf("process %d on %s serves it, and takes it up when it is due", server.PID,
			visible.Line(server.Host)), nil
	case run.Definition != "", drive.IsHeld(run):
		return "resume it with: ebb resume " + visible.Word(run.ID), nil
	default:
		return byProgram(run), nil
	}
}

// byProgram says which program lets a run without a definition continue.
func byProgram(run *storage.Run) string {
	if isExecution(run) {
		return "ebb serve continues it"
	}
	return fmt.Sprintf("it continues when the program that has the flow %s runs it", visible.Line(run.Flow))
}
