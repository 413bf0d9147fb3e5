package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// A Schedule says when jobs are posted automatically, and which jobs. Package jobs
// defines the meaning of its times; a store only knows the next one.
type Schedule struct {
	ID       string
	Spec     string // when it ticks, as package jobs reads it
	Flow     string
	Version  int64
	Input    atom.Value
	Needs    map[string]string // what a process that claims its jobs must offer
	Labels   map[string]string // of the runs
	Priority int
	CatchUp  int // how many ticks that were missed are made up for, the latest ones
	Paused   bool
	Created  time.Time

	Next time.Time // the tick that is to be posted; zero is never again
	Last time.Time // the tick that was posted last; zero is none so far
	Mark string    // given by the store, another with each change
}

// A ScheduleMove changes a schedule that is as it was seen, in one transaction.
type ScheduleMove struct {
	ID     string
	Mark   string    // of the schedule as it was seen
	Next   time.Time // replaces that of the schedule
	Last   time.Time // replaces that of the schedule
	Paused bool      // replaces that of the schedule
	Jobs   []Job     // are posted, but for those whose ids are taken
}

// Schedules are the records of when jobs are posted by themselves.
type Schedules interface {
	// PutSchedule sets the schedule of that id, in place of the one there was, whose
	// Last, Paused and Created stay, and Next too when the Spec is the same: so a
	// program may put its schedules whenever it starts.
	PutSchedule(ctx context.Context, s Schedule) error
	// MoveSchedule changes a schedule and posts the jobs of its ticks. It returns
	// ErrFenced, and does nothing, when the schedule is not as it was seen any more:
	// another process has posted the tick, or changed it; ErrNotFound.
	MoveSchedule(ctx context.Context, move ScheduleMove) error
	// DeleteSchedule returns ErrNotFound when there is none of that id. Jobs that it
	// has posted stay.
	DeleteSchedule(ctx context.Context, id string) error
	// Schedule returns one schedule, or ErrNotFound.
	Schedule(ctx context.Context, id string) (Schedule, error)
	// Schedules returns all schedules, ordered by id.
	Schedules(ctx context.Context) ([]Schedule, error)
	// DueSchedules returns up to limit schedules whose tick has come and that are
	// not paused, the oldest tick first; limit 0 is all. The store's clock decides which
	// ticks have come. DueSchedules also returns the time by that clock, and when the next
	// tick of any other schedule comes; zero if there is none.
	DueSchedules(ctx context.Context, limit int) (due []Schedule, now, next time.Time, err error)
}

// Check returns ErrInvalid, with the reason, if the schedule cannot be stored as it is.
func (s *Schedule) Check() error {
	switch {
	case s.ID == "":
		return fmt.Errorf("%w: a schedule needs an id", ErrInvalid)
	case len(s.ID) > MaxScheduleID:
		return fmt.Errorf("%w: the schedule's id %.20q… is longer than %d bytes", ErrInvalid, s.ID, MaxScheduleID)
	}
	if err := checkTexts(s.ID, s.Flow); err != nil {
		return err
	}
	if err := checkLabels(s.Needs); err != nil {
		return err
	}
	return checkLabels(s.Labels)
}

// Check returns ErrInvalid, with the reason, if one of the jobs cannot be posted.
func (m *ScheduleMove) Check() error {
	for i := range m.Jobs {
		if err := m.Jobs[i].Check(); err != nil {
			return err
		}
	}
	return nil
}
