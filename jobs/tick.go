package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// tickPage is the number of schedules that Tick reads at a time.
const tickPage = 100

// Now returns the store's time: the server's, or this machine's for a file. By it, jobs and schedules are due. So a time
// to wait counts from it, not from this process's clock.
func (b *Board) Now(ctx context.Context) (time.Time, error) {
	_, now, _, err := b.store.DueSchedules(ctx, 1)
	return now, err
}

// AddSchedule adds a schedule, or replaces the schedule with the same id. A paused schedule stays paused. If the
// Spec does not change, no tick is lost or posted again. Therefore, a program can add its schedules at each start.
// The first tick of a new schedule is after now. If the schedule is not valid, has no flow, sets a field that it
// must not set, or never ticks, AddSchedule returns [storage.ErrInvalid] with the reason.
func (b *Board) AddSchedule(ctx context.Context, s Schedule) error {
	now, err := b.Now(ctx)
	if err != nil {
		return err
	}
	record, err := s.record(now)
	if err != nil {
		return err
	}
	job := storage.Job{ID: record.ID, Flow: record.Flow, Version: record.Version, Input: record.Input}
	if err := b.checkInputs(ctx, []storage.Job{job}); err != nil {
		return err
	}
	return b.store.PutSchedule(ctx, record)
}

// RemoveSchedule removes a schedule. Jobs that the schedule has posted stay. If the schedule does not exist, it
// returns ErrNotFound.
func (b *Board) RemoveSchedule(ctx context.Context, id string) error {
	return b.store.DeleteSchedule(ctx, id)
}

// PauseSchedule pauses or resumes a schedule. Ticks during the pause post no jobs later. If the schedule does not
// exist, it returns ErrNotFound.
func (b *Board) PauseSchedule(ctx context.Context, id string, paused bool) error {
	for {
		s, err := b.store.Schedule(ctx, id)
		if err != nil || s.Paused == paused {
			return err
		}
		now, err := b.Now(ctx)
		if err != nil {
			return err
		}
		move, err := resumed(&s, paused, now)
		if err != nil {
			return err
		}
		// Otherwise another process changed the schedule meanwhile.
		if err = b.store.MoveSchedule(ctx, move); !errors.Is(err, storage.ErrFenced) {
			return err
		}
	}
}

// Schedules returns all schedules, ordered by id.
func (b *Board) Schedules(ctx context.Context) ([]storage.Schedule, error) {
	return b.store.Schedules(ctx)
}

// Tick posts the jobs of the ticks that have passed, by the store's clock. It returns their ids, and how long to
// wait until the next tick; 0 if none is known. If several processes call Tick at the same time, each job is posted
// once. If a schedule is not valid in this version, Tick still handles the others, and returns an error together
// with the ids. A conductor calls Tick itself.
func (b *Board) Tick(ctx context.Context) (posted []string, wait time.Duration, err error) {
	due, now, next, err := b.store.DueSchedules(ctx, tickPage)
	if err != nil {
		return nil, 0, err
	}
	var errs []error
	for i := range due {
		move, err := ticked(&due[i], now)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var ids []string // of the jobs that are not there yet
		for j := range move.Jobs {
			if _, err := b.store.Job(ctx, move.Jobs[j].ID); errors.Is(err, ErrNotFound) {
				ids = append(ids, move.Jobs[j].ID)
			}
		}
		switch err := b.store.MoveSchedule(ctx, move); {
		case err == nil:
			posted = append(posted, ids...)
			if !move.Next.IsZero() && (next.IsZero() || move.Next.Before(next)) {
				next = move.Next
			}
		// Another process changed or removed the schedule.
		case errors.Is(err, storage.ErrFenced), errors.Is(err, storage.ErrNotFound):
			next = now
		default:
			errs = append(errs, err)
		}
	}
	if !next.IsZero() {
		wait = max(next.Sub(now), time.Millisecond)
	}
	return posted, wait, errors.Join(errs...)
}
