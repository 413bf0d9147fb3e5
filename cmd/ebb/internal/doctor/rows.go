package doctor

import (
	"context"
	"errors"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/clip"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// rows reports rows that cannot be read. It reads lists, which leave them out.
func (d *doctor) rows(ctx context.Context, store *sqlstore.Store) error {
	var named []string
	name := func(err error) {
		if err != nil {
			named = append(named, err.Error())
		}
	}
	runs, err := store.Runs(ctx, storage.RunQuery{Limit: lookAt, Brief: true})
	for i := range runs {
		name(runs[i].Err)
	}
	jobs, failed := store.JobList(ctx, storage.JobQuery{Limit: lookAt})
	err = errors.Join(err, failed)
	for i := range jobs {
		name(jobs[i].Err)
	}
	for schedule, err := range backend.EachSchedule(ctx, store, backend.ScheduleQuery{}) {
		if err != nil {
			return err
		}
		name(schedule.Err)
	}
	_, definitions := store.Definitions(ctx, backend.DefinitionQuery{Limit: lookAt})
	_, outgoing := store.Outgoing(ctx, store.Now(), lookAt)
	_, parked := store.ParkedMessages(ctx, lookAt)
	_, limits := store.Limits(ctx)
	_, audit := store.Audit(ctx, backend.AuditQuery{Limit: lookAt})
	_, _, progress := store.InProgress(ctx, runs, lookAt)
	if err := errors.Join(err, definitions, outgoing, parked, limits, audit, progress); err != nil {
		return err
	}
	if named = append(named, store.Damaged()...); len(named) == 0 {
		d.findf("rows", OK, "", "each one that was looked at can be read")
		return nil
	}
	const most = 200
	d.findf("rows", Wrong, "correct or delete the row, or restore a backup", "%s cannot be read, such as %s",
		view.Count(len(named), "row"), clip.Text(named[0], most))
	return nil
}
