package jobs

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/cron"
	"github.com/ebbflow/ebb/storage"
)

// A Schedule posts a job at each of its ticks: one job for each tick, no matter how many processes serve the
// schedule.
//
// Spec has five fields, as in crontab(5): minute (0–59), hour (0–23), day of month (1–31), month (1–12) and day of
// week (0–7, where 0 and 7 are Sunday). A field is a comma-separated list. An element is *, a number or a range
// (1-5), with an optional step (*/15, 0-30/10, 5/20: from 5 on). Months and days of the week also have names: JAN,
// feb, MON-FRI. If both day fields are given and neither begins with *, a day matches if one of them matches;
// otherwise both must match. Instead of the fields, Spec may be @yearly (or @annually), @monthly, @weekly, @daily
// (or @midnight) or @hourly. It may also be @every and a duration of whole seconds, such as @every 90s, which ticks
// at its multiples since 1970.
//
// Times are in UTC, whatever the machine's own zone, unless a zone precedes them: TZ=Europe/Rome 30 2 * * *. If
// clocks change for daylight saving time, the hour field decides. If it begins with *, the schedule ticks at each
// moment at which the local time matches: twice in a repeated hour, and not in a skipped hour. Otherwise, it ticks
// once for each time that it names. A skipped time ticks at the moment of the change. A repeated time ticks only
// the first time. Several times at the same moment are one tick.
type Schedule struct {
	ID   string // chosen by the caller
	Spec string // when the schedule ticks
	// Job is the job that it posts. The job of a tick, and its run, have the id of the schedule, @ and the time of
	// the tick: "nightly@2026-11-22T02:30:00Z". Do not set ID, Run, NotBefore and Unique.
	Job Job
	// CatchUp is the number of missed ticks that post a job later, latest ticks only, after a time in which no
	// process served the schedule; 0 means 1.
	CatchUp int
}

// MaxCatchUp is the maximum of [Schedule.CatchUp].
//
//limit:scheduling missed ticks of a schedule to make up for (`--catch-up`, `jobs.MaxCatchUp`) | 1*, up to {} |
//limit:and older ones are dropped
const MaxCatchUp = 1000

func parse(spec string) (*cron.Schedule, error) {
	s, err := cron.Parse(spec)
	if err != nil {
		err = fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	return s, err
}

// Ticks returns the first n ticks of a Spec after a given time; fewer if there are fewer within fifty years. If the
// Spec is not valid, it returns [storage.ErrInvalid].
func Ticks(spec string, after time.Time, n int) ([]time.Time, error) {
	when, err := parse(spec)
	if err != nil {
		return nil, err
	}
	var ticks []time.Time
	for at := when.Next(after); len(ticks) < n && !at.IsZero(); at = when.Next(at) {
		ticks = append(ticks, at)
	}
	return ticks, nil
}

// record returns the stored form of a schedule, with its first tick after now.
func (s *Schedule) record(now time.Time) (backend.Schedule, error) {
	bad := func(format string, args ...any) (backend.Schedule, error) {
		return backend.Schedule{}, fmt.Errorf("%w: schedule %q: %s", storage.ErrInvalid, s.ID, fmt.Sprintf(format, args...))
	}
	when, err := parse(s.Spec)
	if err != nil {
		return backend.Schedule{}, err
	}
	next := when.Next(now)
	switch {
	case s.Job.ID != "" || s.Job.Run != "" || !s.Job.NotBefore.IsZero() || s.Job.Unique != "":
		return bad("the schedule sets the id, the run and the time of its jobs, which have no Unique: leave them out")
	case s.CatchUp < 0 || s.CatchUp > MaxCatchUp:
		return bad("catch-up is %d ticks; want 1 to %d", s.CatchUp, MaxCatchUp)
	case next.IsZero():
		return bad("%s never ticks", s.Spec)
	}
	template := s.Job
	template.ID = s.ID
	j, err := template.record(now)
	if err != nil {
		return backend.Schedule{}, err
	}
	return backend.Schedule{
		ID: s.ID, Spec: s.Spec, Flow: j.Flow, Version: j.Version, Input: j.Input, Needs: j.Labels, Labels: j.RunLabels,
		Priority: j.Priority,
		CatchUp:  max(s.CatchUp, 1), Created: now, Next: next,
	}, nil
}

// ticked returns the change of a schedule whose tick has passed: the jobs of the passed ticks, up to the catch-up,
// and the next tick.
func ticked(s *backend.Schedule, now time.Time) (backend.ScheduleMove, error) {
	when, err := parse(s.Spec)
	if err != nil {
		return backend.ScheduleMove{}, err
	}
	move := backend.ScheduleMove{ID: s.ID, Mark: s.Mark, Next: when.Next(now), Last: s.Last}
	for _, tick := range when.Last(max(s.CatchUp, 1), s.Next.Add(-time.Nanosecond), now) {
		id := TickID(s.ID, tick)
		move.Jobs = append(move.Jobs, storage.Job{
			ID: id, Run: id, Flow: s.Flow, Version: s.Version, Input: s.Input, Labels: s.Needs, RunLabels: s.Labels,
			Priority: s.Priority, Created: now,
		})
		move.Last = tick
	}
	return move, nil
}

// TickID returns the id of the job, and of its run, that a schedule posts at a tick.
func TickID(schedule string, tick time.Time) string {
	return schedule + "@" + tick.UTC().Format(time.RFC3339)
}

// resumed returns the change of a schedule that is paused or resumed now.
func resumed(s *backend.Schedule, paused bool, now time.Time) (backend.ScheduleMove, error) {
	when, err := parse(s.Spec)
	if err != nil {
		return backend.ScheduleMove{}, err
	}
	return backend.ScheduleMove{ID: s.ID, Mark: s.Mark, Next: when.Next(now), Last: s.Last, Paused: paused}, nil
}
