package doctor

import (
	"context"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	model "github.com/ebbflow/ebb/flow/swf"
	"github.com/ebbflow/ebb/server/swf"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// mostEvents is how many events of executions the doctor reads.
const mostEvents = 200_000

// executions checks that the rows of executions of Amazon SWF are what their events say: open ones first, and the
// newest of each kind.
func (d *doctor) executions(ctx context.Context, store *sqlstore.Store) error {
	checked, wrong, events := 0, 0, int64(0)
	var first, why string
	for _, q := range []storage.RunQuery{
		{Flow: model.FlowName, Brief: true, Limit: lookAt, States: swf.OpenStates()},
		{Flow: model.FlowName, Brief: true, Limit: lookAt, States: swf.ClosedStates()},
	} {
		runs, err := store.Runs(ctx, q)
		if err != nil {
			return err
		}
		for i := range runs {
			if events += runs[i].Events; events > mostEvents && checked > 0 {
				break
			}
			found, err := swf.Check(ctx, store, runs[i].ID)
			if err != nil {
				return err
			}
			if checked++; len(found) == 0 {
				continue
			}
			if wrong++; wrong == 1 {
				first, why = runs[i].ID, found[0]
			}
		}
	}
	switch {
	case wrong > 0:
		d.findf("executions", Wrong, "restore the database: something other than ebb has changed its tables; otherwise "+
			"ebb doctor --repair gives keys back, and ebb cancel RUN ends an execution, which undoes it, too",
			"%s of %d not what their events say, such as %s: %s", view.Count(wrong, "execution"), checked, first, why)
	case checked > 0:
		d.findf("executions", OK, "", "%s of Amazon SWF as their events say", view.Count(checked, "execution"))
	}
	return nil
}
