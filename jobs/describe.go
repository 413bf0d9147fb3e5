package jobs

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Describe says in words when a schedule ticks, such as "every day at 02:30, in Europe/Rome"; "" if the [Schedule.Spec]
// says it best.
func Describe(spec string) string {
	zone, spec := cutZone(spec)
	said := describe(strings.Fields(spec))
	if said == "" || zone == "" {
		return said
	}
	return said + ", in " + zone
}

// cutZone returns the name of the time zone of a spec, and the rest; "" is UTC.
func cutZone(spec string) (zone, rest string) {
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if rest, has := strings.CutPrefix(spec, prefix); has {
			zone, rest, _ = strings.Cut(rest, " ")
			return zone, rest
		}
	}
	return "", spec
}

// Zone returns the time zone of a [Schedule.Spec], or UTC if the spec names none that is known.
func Zone(spec string) *time.Location {
	name, _ := cutZone(spec)
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}

// named are the specs that are a word.
var named = map[string]string{
	"@yearly": "every year on 1 January at 00:00", "@annually": "every year on 1 January at 00:00",
	"@monthly": "on day 1 of every month at 00:00", "@weekly": "every Sunday at 00:00",
	"@daily": "every day at 00:00", "@midnight": "every day at 00:00", "@hourly": "every hour, at minute 0",
}

var weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

func describe(fields []string) string {
	switch {
	case len(fields) == 1:
		return named[fields[0]]
	case len(fields) == 2 && fields[0] == "@every":
		return "every " + fields[1]
	case len(fields) != 5: //nolint:mnd // the fields of cron
		return ""
	}
	minute, hour, day, month, weekday := fields[0], fields[1], fields[2], fields[3], fields[4]
	anyDay := day == "*" && weekday == "*"
	m, isMinute := within(minute, 59)
	h, isHour := within(hour, 23)
	switch n, each := strings.CutPrefix(minute, "*/"); {
	case month != "*":
		return ""
	case each && hour == "*" && anyDay:
		if every, is := within(n, 59); is && every > 1 && 60%every == 0 { // otherwise the last pause of an hour is shorter
			return fmt.Sprintf("every %d minutes", every)
		}
		return ""
	case minute == "*" && hour == "*" && anyDay:
		return "every minute"
	case isMinute && hour == "*" && anyDay:
		return fmt.Sprintf("every hour, at minute %d", m)
	case !isMinute || !isHour:
		return ""
	}
	at := fmt.Sprintf(" at %02d:%02d", h, m)
	days := map[string]string{"*": "every day", "1-5": "Monday to Friday", "MON-FRI": "Monday to Friday"}
	d, isDay := within(day, 31)
	w, isWeekday := within(weekday, len(weekdays)-1)
	switch {
	case day == "*" && days[strings.ToUpper(weekday)] != "":
		return days[strings.ToUpper(weekday)] + at
	case day == "*" && isWeekday:
		return "every " + weekdays[w] + at
	case weekday == "*" && isDay:
		return fmt.Sprintf("on day %d of every month%s", d, at)
	default:
		return ""
	}
}

// within reads a number from 0 to most.
func within(text string, most int) (n int, is bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= most
}
