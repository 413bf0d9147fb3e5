package view

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/visible"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// resultsShown is the number of results of steps of a run that Values writes.
const resultsShown = 10

// Values writes the input of a run of a Go flow that succeeded, and the results of its steps. Other runs have an
// output.
func Values(ctx context.Context, out io.Writer, store backend.Reader, run *storage.Run) error {
	if run.State != states.FlowSuccess || run.Definition != "" || run.Output.Data != nil {
		return nil
	}
	if input := run.Secrets.Mask("", run.Input.Data); input != nil && input.String() != "{}" {
		fmt.Fprintln(out, "input:", valueOf(run, input))
	}
	shown := 0
	for a, err := range storage.EachAtom(ctx, store, run.ID, storage.AtomQuery{}) {
		result := a.Result.Data
		if err != nil {
			return err
		}
		if a.Kind != storage.KindTask && a.Kind != storage.KindRun || a.State != states.TaskSuccess || result == nil ||
			slices.Contains([]string{"null", "{}"}, result.String()) {
			continue
		}
		if shown++; shown > resultsShown {
			fmt.Fprintf(out, "… more results: ebb show -o json %s\n", visible.Word(run.ID))
			return nil
		}
		fmt.Fprintf(out, "result of %s: %s\n", visible.Line(a.Path), valueOf(run, run.Secrets.Mask(a.Path, result)))
	}
	return nil
}
