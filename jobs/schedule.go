package jobs

import (
	"fmt"
	"time"

	"github.com/ebbflow/ebb/internal/cron"
	"github.com/ebbflow/ebb/storage"
)

// A Schedule posts a job at each of its ticks: one for each, however many processes
// look after it.
//
// When it ticks is said by five fields, as crontab(5) has them: minute (0–59), hour
// (0–23), day of month (1–31), month (1–12) and day of week (0–7, where 0 and 7 are
// Sunday). A field is a list, parted by commas, of * or a number or a range (1-5),
// each of them with a step if need be (*/15, 0-30/10, 5/20: from 5 on). Months and
// days of the week have names too: JAN, feb, MON-FRI. When both days are given,
// neither beginning with *, a day that fits one of them does; else a day must fit
// both. Instead of the fields there may be @yearly (or @annually), @monthly, @weekly,
// @daily (or @midnight), @hourly, or @every and a duration of whole seconds, such as
// @every 90s: that ticks at its multiples since 1970.
//
// It is read in UTC, whatever the machine's own zone is, unless a zone is named
// before it: TZ=Europe/Rome 30 2 * * *. Where clocks are put forward and back, a
// schedule whose hour begins with * is one of intervals: it ticks at each moment at
// which the clock on the wall fits, twice in an hour that comes twice, and not in one
// that is left out. Any other is one of appointments: it ticks once for each time
// that it names. One that is left out ticks at the moment at which the clock is put
// forward; one that comes twice ticks the first time only; several that fall on the
// same moment are one tick.
type Schedule struct {
	ID   string
	Spec string // when it ticks
	// Job is what it posts. The job of a tick, and its run, have the id of the
	// schedule, @ and the time of the tick: "nightly@2026-11-22T02:30:00Z". ID, Run
	// and NotBefore are to be left out.
	Job Job
	// CatchUp is how many ticks are made up for, the latest ones, after a time in
	// which no process served the schedule; 0 is 1.
	CatchUp int
}

// MaxCatchUp is how many ticks can be made up for.
const MaxCatchUp = 1000

func parse(spec string) (*cron.Schedule, error) {
	s, err := cron.Parse(spec)
	if err != nil {
		err = fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	return s, err
}

// Ticks returns the first n ticks after a moment of a schedule of that Spec, fewer
// when there are not so many within fifty years; [storage.ErrInvalid].
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

// record returns a schedule as it is stored, with its next tick after now.
func (s *Schedule) record(now time.Time) (storage.Schedule, error) {
	bad := func(format string, args ...any) (storage.Schedule, error) {
		return storage.Schedule{}, fmt.Errorf("%w: schedule %q: %s", storage.ErrInvalid, s.ID, fmt.Sprintf(format, args...))
	}
	when, err := parse(s.Spec)
	if err != nil {
		return storage.Schedule{}, err
	}
	next := when.Next(now)
	switch {
	case s.Job.ID != "" || s.Job.Run != "" || !s.Job.NotBefore.IsZero():
		return bad("the id, the run and the time of its jobs follow from its ticks: leave them out")
	case s.CatchUp < 0 || s.CatchUp > MaxCatchUp:
		return bad("it is to make up for %d ticks; want 1 to %d", s.CatchUp, MaxCatchUp)
	case next.IsZero():
		return bad("%s never ticks", s.Spec)
	}
	template := s.Job
	template.ID = s.ID
	j, err := template.record(now)
	if err != nil {
		return storage.Schedule{}, err
	}
	return storage.Schedule{
		ID: s.ID, Spec: s.Spec, Flow: j.Flow, Version: j.Version, Input: j.Input, Needs: j.Labels, Labels: j.RunLabels, Priority: j.Priority,
		CatchUp: max(s.CatchUp, 1), Created: now, Next: next,
	}, nil
}

// ticked returns what becomes of a schedule whose tick has come by now: the jobs of
// those ticks that have, as far as they are made up for, and the next.
func ticked(s *storage.Schedule, now time.Time) (storage.ScheduleMove, error) {
	when, err := parse(s.Spec)
	if err != nil {
		return storage.ScheduleMove{}, err
	}
	move := storage.ScheduleMove{ID: s.ID, Mark: s.Mark, Next: when.Next(now), Last: s.Last}
	for _, tick := range when.Last(max(s.CatchUp, 1), s.Next.Add(-time.Nanosecond), now) {
		id := TickID(s.ID, tick)
		move.Jobs = append(move.Jobs, storage.Job{
			ID: id, Run: id, Flow: s.Flow, Version: s.Version, Input: s.Input, Labels: s.Needs, RunLabels: s.Labels, Priority: s.Priority, Created: now,
		})
		move.Last = tick
	}
	return move, nil
}

// TickID returns the id of the job that a schedule posts at a tick, and of its run.
func TickID(schedule string, tick time.Time) string {
	return schedule + "@" + tick.UTC().Format(time.RFC3339)
}

// resumed returns what becomes of a schedule that is paused or goes on from now.
func resumed(s *storage.Schedule, paused bool, now time.Time) (storage.ScheduleMove, error) {
	when, err := parse(s.Spec)
	if err != nil {
		return storage.ScheduleMove{}, err
	}
	return storage.ScheduleMove{ID: s.ID, Mark: s.Mark, Next: when.Next(now), Last: s.Last, Paused: paused}, nil
}
