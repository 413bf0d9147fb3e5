package backend

import (
	"context"
	"fmt"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/storage"
)

// A Schedule defines which jobs to post automatically, and when. Package jobs interprets Spec. A store only knows
// the next tick.
type Schedule struct {
	ID       string            // chosen by the caller
	Spec     string            // times of its ticks, such as "30 2 * * *"; package jobs parses it
	Flow     string            // name of the flow that its jobs run
	Version  int64             // version of the flow; 0 means the latest
	Input    atom.Value        // input of the runs
	Needs    map[string]string // what a process that claims its jobs must offer
	Labels   map[string]string // labels of the runs
	Priority int               // priority of the jobs; a larger priority is claimed first
	CatchUp  int               // maximum number of missed ticks that post a job later, latest ticks only
	Paused   bool              // true if ticks post no jobs
	Created  time.Time         // when it was added

	Next time.Time // the next tick; zero means never again
	Last time.Time // the last tick that posted a job; zero if there is none
	Mark string    // changes with each change of the schedule; the store sets it

	Err error `json:"-"` // from a list: why the record cannot be read; only ID and Next are set then
}

// MaxSchedules is the number of schedules that a store keeps.
//
//limit:scheduling schedules of a database (`backend.MaxSchedules`) | {} | refused
const MaxSchedules = 10_000

// A ScheduleQuery selects schedules.
type ScheduleQuery struct {
	After string // only schedules whose ids sort after this one, for paging; "" means all
	Limit int    // maximum number of schedules; 0 means all
}

// A ScheduleMove changes a schedule and posts the jobs of its ticks, in one transaction. If another process changed
// the schedule meanwhile, it changes nothing.
type ScheduleMove struct {
	ID     string        // id of the schedule
	Mark   string        // Mark of the schedule as the caller read it
	Next   time.Time     // replaces the schedule's Next
	Last   time.Time     // replaces the schedule's Last
	Paused bool          // replaces the schedule's Paused
	Jobs   []storage.Job // jobs to post; a job whose id exists is left out
}

// Schedules is the part of a [Store] that keeps schedules. Programs use package jobs, which builds on it.
type Schedules interface {
	// PutSchedule adds a schedule, or replaces the schedule with the same id. A replaced schedule keeps Last,
	// Paused and Created, and also Next if Spec does not change. Therefore, a program can put its schedules at each
	// start. It returns ErrInvalid for one more than MaxSchedules.
	PutSchedule(ctx context.Context, s Schedule) error
	// MoveSchedule changes a schedule and posts the jobs of its ticks. If another process changed the schedule
	// since the caller read it, MoveSchedule changes nothing and returns ErrFenced. If the schedule does not exist,
	// it returns ErrNotFound.
	MoveSchedule(ctx context.Context, move ScheduleMove) error
	// DeleteSchedule deletes a schedule, or returns ErrNotFound. Jobs that the schedule posted stay.
	DeleteSchedule(ctx context.Context, id string) error
	// Schedule returns the schedule with that id, or ErrNotFound.
	Schedule(ctx context.Context, id string) (Schedule, error)
	// Schedules returns the schedules that q selects, ordered by id. With a limit it may return fewer, see
	// [storage.PageBytes]; an empty result means that none is left. [EachSchedule] reads them page by page. If the
	// record of a schedule is damaged, the error is in the Schedule.
	Schedules(ctx context.Context, q ScheduleQuery) ([]Schedule, error)
	// DueSchedules returns up to limit schedules that are not paused and whose tick has passed, oldest tick first and
	// then by id, after the place of a schedule; limit 0 means all. With a limit it may return fewer, see
	// [storage.PageBytes]. The store's clock decides which ticks have passed. DueSchedules also returns the time by that
	// clock, and the next tick of any other schedule: zero if there is none, and that time if more may be due.
	// If the record of a schedule is damaged, the error is in the Schedule, so that the others still tick.
	DueSchedules(ctx context.Context, after Schedule, limit int) (due []Schedule, now, next time.Time, err error)
}

// Check returns an error that wraps ErrInvalid and names the problem if the schedule cannot be stored.
func (s *Schedule) Check() error {
	switch {
	case s.ID == "":
		return fmt.Errorf("%w: the schedule's id is empty", storage.ErrInvalid)
	case len(s.ID) > MaxScheduleID:
		return fmt.Errorf("%w: the schedule's id %.20q… is longer than %d bytes", storage.ErrInvalid, s.ID, MaxScheduleID)
	case len(s.Flow) > MaxID:
		return longFlow(s.Flow)
	}
	if err := checkTexts(s.ID, s.Flow); err != nil {
		return err
	}
	if err := checkValue("input of schedule "+s.ID, s.Input); err != nil {
		return err
	}
	if err := checkLabels(s.Needs); err != nil {
		return err
	}
	return checkLabels(s.Labels)
}

// Check returns an error that wraps ErrInvalid and names the problem if one of the jobs cannot be posted.
func (m *ScheduleMove) Check() error {
	for i := range m.Jobs {
		if err := CheckJob(&m.Jobs[i]); err != nil {
			return err
		}
	}
	return nil
}
