package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// tickPage is how many schedules are ticked for at a time.
const tickPage = 100

// now returns the store's time.
func (b *Board) now(ctx context.Context) (time.Time, error) {
	_, now, _, err := b.store.DueSchedules(ctx, 1)
	return now, err
}

// AddSchedule sets the schedule of that id, and replaces an earlier one. A paused schedule
// stays paused. If the ticks are the same as before, no tick is lost or posted again. So a
// program may add its schedules whenever it starts. The first tick is the next after now.
// If the schedule cannot be read, names no flow, sets a field that it must not, or never
// ticks, AddSchedule returns [storage.ErrInvalid] with the reason.
func (b *Board) AddSchedule(ctx context.Context, s Schedule) error {
	now, err := b.now(ctx)
	if err != nil {
		return err
	}
	record, err := s.record(now)
	if err != nil {
		return err
	}
	return b.store.PutSchedule(ctx, record)
}

// RemoveSchedule removes a schedule; the jobs that it has posted stay. If there is no such
// schedule, RemoveSchedule returns ErrNotFound.
func (b *Board) RemoveSchedule(ctx context.Context, id string) error {
	return b.store.DeleteSchedule(ctx, id)
}

// PauseSchedule pauses a schedule, or resumes it. Ticks that it missed while paused are not
// made up for. It returns ErrNotFound.
func (b *Board) PauseSchedule(ctx context.Context, id string, paused bool) error {
	for {
		s, err := b.store.Schedule(ctx, id)
		if err != nil || s.Paused == paused {
			return err
		}
		now, err := b.now(ctx)
		if err != nil {
			return err
		}
		move, err := resumed(&s, paused, now)
		if err != nil {
			return err
		}
		if err = b.store.MoveSchedule(ctx, move); !errors.Is(err, storage.ErrFenced) { // else it ticked meanwhile
			return err
		}
	}
}

// Schedules returns all schedules, ordered by id.
func (b *Board) Schedules(ctx context.Context) ([]storage.Schedule, error) {
	return b.store.Schedules(ctx)
}

// Tick posts the jobs of the ticks that have come, by the store's clock. It returns
// their ids, and how long to wait until the next tick; 0 if none is known. If several
// processes call Tick at the same time, only one posts each job. A schedule that this
// version cannot read does not delay the others: Tick returns its error beside the ids. A
// conductor calls Tick by itself.
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
		switch err := b.store.MoveSchedule(ctx, move); {
		case err == nil:
			for j := range move.Jobs {
				posted = append(posted, move.Jobs[j].ID)
			}
			if !move.Next.IsZero() && (next.IsZero() || move.Next.Before(next)) {
				next = move.Next
			}
		case errors.Is(err, storage.ErrFenced), errors.Is(err, storage.ErrNotFound): // moved elsewhere, or changed
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
