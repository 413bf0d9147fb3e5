package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// tickPage is the number of schedules that Tick reads at a time.
const tickPage = 100

// Now returns the store's time: the server's, or this machine's for a file. By it, jobs and schedules are due. So a
// time to wait counts from it, not from this process's clock.
func (b *Board) Now(ctx context.Context) (time.Time, error) {
	_, now, _, err := b.store.DueSchedules(ctx, backend.Schedule{}, 1)
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
// returns storage.ErrNotFound.
func (b *Board) RemoveSchedule(ctx context.Context, id string) error {
	return b.store.DeleteSchedule(ctx, id)
}

// PauseSchedule pauses or resumes a schedule. Ticks during the pause post no jobs later. If the schedule does not
// exist, it returns storage.ErrNotFound.
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

// Tick posts the jobs of the ticks that have passed, by the store's clock. It returns their ids, and how long to
// wait until the next tick; 0 if none is known. If several processes call Tick at the same time, each job is posted
// once. If schedules are damaged or not valid in this version, Tick leaves them as they are, handles all others, and
// returns an error together with the ids. A conductor calls Tick itself.
func (b *Board) Tick(ctx context.Context) (posted []string, wait time.Duration, err error) {
	var began, next time.Time
	var errs failures
	for after := (backend.Schedule{}); ; {
		due, now, later, err := b.store.DueSchedules(ctx, after, tickPage)
		if err != nil {
			return posted, 0, err
		}
		if began.IsZero() {
			began = now
		}
		for i := range due {
			ids, at, err := b.tick(ctx, &due[i], now)
			errs.add(err)
			posted = append(posted, ids...)
			next = earlier(next, at)
		}
		if n := len(due); n > 0 && later.Equal(now) && !due[n-1].Next.After(began) { // there may be more
			after = due[n-1]
			continue
		}
		if next = earlier(next, later); !next.IsZero() {
			wait = max(next.Sub(now), time.Millisecond)
		}
		return posted, wait, errs.join()
	}
}

// tick posts the jobs of one schedule. It returns the ids of those that were not there yet, and the next tick.
func (b *Board) tick(
	ctx context.Context, s *backend.Schedule, now time.Time,
) (ids []string, next time.Time, err error) {
	if s.Err != nil {
		return nil, next, s.Err
	}
	move, err := ticked(s, now)
	if err != nil {
		return nil, next, fmt.Errorf("schedule %q: %w", s.ID, err)
	}
	for j := range move.Jobs {
		if _, err := b.store.Job(ctx, move.Jobs[j].ID); errors.Is(err, storage.ErrNotFound) {
			ids = append(ids, move.Jobs[j].ID)
		}
	}
	err = b.store.MoveSchedule(ctx, move)
	switch {
	case err == nil:
		return ids, move.Next, nil
	case errors.Is(err, storage.ErrFenced), errors.Is(err, storage.ErrNotFound): // another process changed or removed it
		return nil, now, nil
	default:
		return nil, next, fmt.Errorf("schedule %q: %w", s.ID, err)
	}
}

// earlier returns the earlier of two times; a zero time is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// namedFailures is the number of errors that an error of many schedules names.
const namedFailures = 10

// failures are the errors of many schedules.
type failures struct {
	named []error
	more  int
}

func (f *failures) add(err error) {
	switch {
	case err == nil:
	case len(f.named) < namedFailures:
		f.named = append(f.named, err)
	default:
		f.more++
	}
}

func (f *failures) join() error {
	if f.more > 0 {
		return fmt.Errorf("%w\nand %d more schedules", errors.Join(f.named...), f.more)
	}
	return errors.Join(f.named...)
}
