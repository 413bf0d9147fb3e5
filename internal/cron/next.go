package cron

import "time"

// horizon is the number of years in which Next looks for a tick. 29 February comes after four years, or eight, and may
// have to be a certain weekday.
const horizon = 50

// Next returns the first tick after a time, or the zero time if there is none within fifty years.
func (s *Schedule) Next(after time.Time) time.Time {
	switch {
	case s.zone == nil:
		return time.Time{}
	case s.every > 0:
		every := int64(s.every / time.Second)
		n := after.Unix() / every
		if after.Unix()%every < 0 {
			n--
		}
		return time.Unix((n+1)*every, 0).UTC()
	case s.appointments:
		return s.appointment(after)
	default:
		return s.interval(after)
	}
}

// Last returns the latest ticks after one time and not after another, at most the given number, in order. Its cost does
// not grow with the distance of the first time.
func (s *Schedule) Last(n int, after, until time.Time) []time.Time {
	for back := time.Hour; ; back *= 8 {
		from := until.Add(-back)
		if from.Before(after) || back < 0 {
			from = after
		}
		var ticks []time.Time
		for at := s.Next(from); !at.IsZero() && !at.After(until); at = s.Next(at) {
			ticks = append(ticks, at)
		}
		if len(ticks) >= n || !from.After(after) {
			return ticks[max(len(ticks)-n, 0):]
		}
	}
}

// wall returns the local time of the zone as if it were UTC, to calculate with.
func (s *Schedule) wall(at time.Time) time.Time {
	_, offset := at.In(s.zone).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// unfit reports whether the day of a local time does not match. If so, it returns the start of the next that may.
func (s *Schedule) unfit(wall time.Time) (next time.Time, is bool) {
	year, month, day := wall.Date()
	on, weekday := s.day.has(day), s.weekday.has(int(wall.Weekday()))
	switch {
	case !s.month.has(int(month)):
		return time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC), true
	case s.either && !on && !weekday, !s.either && (!on || !weekday):
		return time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC), true
	default:
		return wall, false
	}
}

// interval returns the first time after another at which the local time matches. It skips from a time that does not
// match to the next that may, as far as the clocks do not change.
func (s *Schedule) interval(after time.Time) time.Time {
	at := after.Truncate(time.Second).Add(time.Second)
	for last := at.Year() + horizon; at.Year() <= last; {
		wall := s.wall(at)
		next, unfit := s.unfit(wall)
		switch {
		case unfit:
		case !s.hour.has(wall.Hour()):
			next = wall.Truncate(time.Hour).Add(time.Hour)
		case !s.minute.has(wall.Minute()) || wall.Second() != 0:
			next = wall.Truncate(time.Minute).Add(time.Minute)
		default:
			return at.UTC()
		}
		_, end := at.In(s.zone).ZoneBounds()
		at = at.Add(next.Sub(wall))
		if !end.IsZero() && at.After(end) {
			at = end
		}
	}
	return time.Time{}
}

// appointment returns the time of the first appointment after another time. Later appointments have later times, or the
// same.
func (s *Schedule) appointment(after time.Time) time.Time {
	today := s.wall(after).Truncate(24 * time.Hour)
	for day, last := today, today.Year()+horizon; day.Year() <= last; {
		if next, unfit := s.unfit(day); unfit {
			day = next
			continue
		}
		for hour := range 24 {
			for minute := range 60 {
				if !s.hour.has(hour) || !s.minute.has(minute) {
					continue
				}
				at := s.moment(day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute))
				if at.After(after) {
					return at.UTC()
				}
			}
		}
		day = day.Add(24 * time.Hour)
	}
	return time.Time{}
}

// aDay is more than any change of a clock, and more than any zone's distance from UTC.
const aDay = 26 * time.Hour

// moment returns the first time at which the clocks of the zone show a local time, or a later one if they skip it.
func (s *Schedule) moment(wall time.Time) time.Time {
	for from := wall.Add(-aDay); ; {
		local := from.In(s.zone)
		_, offset := local.Zone()
		begin, end := local.ZoneBounds()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if !begin.IsZero() && at.Before(begin) {
			return begin
		}
		if end.IsZero() || at.Before(end) {
			return at
		}
		from = end
	}
}
