package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests' time zones, on any system

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/cron"
)

func parsed(tb testing.TB, spec string) *cron.Schedule {
	tb.Helper()
	s, err := cron.Parse(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func moment(tb testing.TB, text string) time.Time {
	tb.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		tb.Fatal(err)
	}
	return at
}

// TestNext follows schedules from a time.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, from, ticks string }{
		{"30 2 * * *", "2026-11-21T02:30:00Z", "2026-11-22T02:30:00Z 2026-11-23T02:30:00Z"},
		{"*/20 8-9 * * mon-FRI", "2026-11-20T09:15:00Z", "2026-11-20T09:20:00Z 2026-11-20T09:40:00Z 2026-11-23T08:00:00Z"},
		{"5/20 * * * *", "2026-11-21T10:44:59.9Z", "2026-11-21T10:45:00Z 2026-11-21T11:05:00Z"},
		{"0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
		{"0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"0 0 13 * 5", "2026-11-01T00:00:00Z", "2026-11-06T00:00:00Z 2026-11-13T00:00:00Z 2026-11-20T00:00:00Z"}, // either
		// Both: odd days that are Sundays
		{"0 0 */2 * 7", "2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z 2026-11-29T00:00:00Z 2026-12-13T00:00:00Z"},
		{"0 12 1 jan,JUL *", "2026-11-21T00:00:00Z", "2027-01-01T12:00:00Z 2027-07-01T12:00:00Z"},
		{"@yearly", "2026-11-21T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"@monthly", "2026-11-21T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"@weekly", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"@daily", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"},
		{"@hourly", "2026-11-21T00:00:00Z", "2026-11-21T01:00:00Z"},
		{"@every 90s", "2026-11-21T00:00:01Z", "2026-11-21T00:01:30Z 2026-11-21T00:03:00Z"},
		{"@every 90s", "1969-12-31T23:58:29Z", "1969-12-31T23:58:30Z 1970-01-01T00:00:00Z 1970-01-01T00:01:30Z"},
		{"TZ=Asia/Kathmandu 0 9 * * *", "2026-11-21T00:00:00Z", "2026-11-21T03:15:00Z"},

		// The clock is set forward: an appointment in the skipped hour ticks at the change.
		{
			"TZ=Europe/Rome 30 2 * * *", "2026-03-28T00:00:00Z",
			"2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z",
		},
		{
			"TZ=Europe/Rome 0,15,45 2,3 29 3 *", "2026-03-29T00:00:00Z",
			"2026-03-29T01:00:00Z 2026-03-29T01:15:00Z 2026-03-29T01:45:00Z",
		},
		{"TZ=Europe/Rome 30 * * * *", "2026-03-29T00:00:00Z", "2026-03-29T00:30:00Z 2026-03-29T01:30:00Z"},
		// A skipped midnight
		{"TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T12:00:00Z", "2018-11-04T03:00:00Z 2018-11-05T02:00:00Z"},
		// A skipped day
		{"TZ=Pacific/Apia 0 12 30 12 *", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z 2012-12-29T22:00:00Z"},
		// The clock is set back: an appointment ticks the first time, intervals tick both times.
		{"TZ=Europe/Rome 30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{
			"CRON_TZ=Europe/Rome 30 * * * *", "2026-10-25T00:00:00Z",
			"2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z",
		},
		// By half an hour
		{
			"TZ=Australia/Lord_Howe */30 * * * *", "2026-04-04T14:15:00Z",
			"2026-04-04T14:30:00Z 2026-04-04T15:00:00Z 2026-04-04T15:30:00Z",
		},
		{"TZ=Australia/Lord_Howe 45 1 * * *", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z"},
	} {
		s, at := parsed(t, c.spec), moment(t, c.from)
		for want := range strings.FieldsSeq(c.ticks) {
			if at = s.Next(at); !at.Equal(moment(t, want)) {
				t.Errorf("%s from %s: ticks at %v, want %s", c.spec, c.from, at.Format(time.RFC3339), want)
				break
			}
		}
	}
	if at := new(cron.Schedule).Next(time.Now()); !at.IsZero() {
		t.Errorf("no schedule ticks at %v", at)
	}
}

// TestRefused: a text that is not a schedule is refused with the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	for spec, says := range map[string]string{
		"":                                      "empty",
		"TZ=Europe/Rome":                        "empty",
		"* * * *":                               "4 fields; want five: minute, hour, day of month, month, day of week", //nolint:dupword // two fields
		"0 * * * * *":                           "6 fields",
		"60 * * * *":                            `minute: 60: "60": want a number from 0 to 59`,
		"* 24 * * *":                            "hour",
		"* * 0 * *":                             "day of month",
		"* * * 13 *":                            "or a name such as FEB",
		"* * * FOO *":                           "a name such as FEB",
		"* * * * 8":                             "day of week",
		"5-1 * * * *":                           "5-1 ends before it begins",
		"*/0 * * * *":                           "no step",
		"*/x * * * *":                           "no step",
		"1-2-3 * * * *":                         `"2-3"`,
		"1,,2 * * * *":                          `""`,
		"-1 * * * *":                            `""`,
		"+1 * * * *":                            `"+1"`,
		"0 0 30 2 *":                            "none of its months has a day 30",
		"0 0 31 2,4,6,9,11 *":                   "none of its months",
		"L * * * *":                             `"L"`,
		"@reboot":                               "@reboot",
		"@daily 5":                              "@daily 5",
		"@every":                                "whole seconds",
		"@every 1500ms":                         "whole seconds",
		"@every -1h":                            "whole seconds",
		"TZ=Mars/Olympus * * * * *":             "TZ=Mars/Olympus: there is no such time zone",
		"TZ= * * * * *":                         "name a zone",
		"TZ=Local * * * * *":                    "name a zone",
		strings.Repeat("1,", 600) + "1 * * * *": "longer than",
	} {
		if _, err := cron.Parse(spec); !errors.Is(err, cron.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want %q in it", spec, err, says)
		}
	}
}

// TestLast finds the latest of many ticks, both by looking for each tick and otherwise.
func TestLast(t *testing.T) {
	t.Parallel()
	from := moment(t, "2025-11-21T00:00:00Z")
	until := moment(t, "2026-11-21T00:00:30Z")
	for spec, want := range map[string]string{
		"@every 10s": "00:00:10 00:00:20 00:00:30", "*/5 * * * *": "23:50:00 23:55:00 00:00:00",
		"0 0 21 * *":   "00:00:00 00:00:00 00:00:00",
		"@every 4800h": "00:00:00", "0 0 1 1 *": "00:00:00",
	} {
		var got []string
		for _, at := range parsed(t, spec).Last(3, from, until) {
			if !at.After(from) || at.After(until) {
				t.Errorf("%s: %v is not in between", spec, at)
			}
			got = append(got, at.Format(time.TimeOnly))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
	if got := parsed(t, "@daily").Last(3, until, until); len(got) != 0 {
		t.Errorf("there are %v in no time", got)
	}
}

// zones are those whose clocks change in unusual ways: at midnight, a minute after it, by half an hour, by a day.
var zones = []string{
	"UTC", "Europe/Rome", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "Australia/Lord_Howe",
	"Pacific/Apia",
	"Asia/Kathmandu", "Africa/Casablanca", "Asia/Beirut", "America/Havana", "America/Nuuk",
}

// anyField draws a field and the numbers that it means.
func anyField(rt *rapid.T, name string, low, high int) (text string, fits map[int]bool) {
	fits = map[int]bool{}
	if rapid.Bool().Draw(rt, name+" any") {
		step := rapid.IntRange(1, (high-low)/2).Draw(rt, name+" step")
		for n := low; n <= high; n += step {
			fits[n] = true
		}
		if step == 1 {
			return "*", fits
		}
		return "*/" + itoa(step), fits
	}
	var parts []string
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(low, high), 1, 3, rapid.ID).Draw(rt, name) {
		to := min(high, n+rapid.IntRange(0, 3).Draw(rt, name+" to"))
		for i := n; i <= to; i++ {
			fits[i] = true
		}
		if to == n {
			parts = append(parts, itoa(n))
		} else {
			parts = append(parts, itoa(n)+"-"+itoa(to))
		}
	}
	return strings.Join(parts, ","), fits
}

func itoa(n int) string { return string(rune('0'+n/10)) + string(rune('0'+n%10)) }

// TestNextByHand compares the ticks of a few days with those that a look at the clock once a minute finds.
func TestNextByHand(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(rt, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			rt.Fatal(err)
		}
		minute, minutes := anyField(rt, "minute", 0, 59)
		hour, hours := anyField(rt, "hour", 0, 23)
		day, days := anyField(rt, "day", 1, 31)
		month, months := anyField(rt, "month", 1, 12)
		weekday, weekdays := anyField(rt, "weekday", 0, 6)
		spec := strings.Join([]string{"TZ=" + name, minute, hour, day, month, weekday}, " ")
		s, err := cron.Parse(spec)
		if err != nil {
			if strings.Contains(err.Error(), "none of its months") {
				rt.Skip("never")
			}
			rt.Fatal(err)
		}
		// Mostly around a change of the clocks, which is the difficult case.
		from := time.Date(rapid.IntRange(1990, 2030).Draw(rt, "year"), 1, rapid.IntRange(1, 365).Draw(rt, "day of year"), 0,
			0, 0, 0, time.UTC)
		if _, change := from.In(zone).ZoneBounds(); !change.IsZero() && rapid.IntRange(0, 3).Draw(rt, "at a change") > 0 {
			from = change.Add(-24 * time.Hour).Truncate(time.Minute)
		}
		fits := func(wall time.Time) bool {
			on, week := days[wall.Day()], weekdays[int(wall.Weekday())]
			if day[0] != '*' && weekday[0] != '*' {
				on = on || week
			} else {
				on = on && week
			}
			return on && months[int(wall.Month())] && hours[wall.Hour()] && minutes[wall.Minute()]
		}
		wallOf := func(at time.Time) time.Time {
			_, offset := at.In(zone).Zone()
			return at.Add(time.Duration(offset) * time.Second).UTC()
		}
		next, shown := s.Next(from), wallOf(from.Add(-48*time.Hour))
		for at := from.Add(-48 * time.Hour); at.Before(from.Add(72 * time.Hour)); at = at.Add(time.Minute) {
			wall := wallOf(at)
			ticks := hour[0] == '*' && fits(wall)
			for hour[0] != '*' && shown.Before(wall) { // all times that the clock shows first, or has skipped
				shown = shown.Add(time.Minute)
				ticks = ticks || fits(shown)
			}
			if !at.After(from) {
				continue
			}
			if ticks != next.Equal(at) {
				rt.Fatalf("%s from %v: ticks next at %v; at %v, when clocks show %v, it ticks: %t", spec, from, next, at,
					wall.Format("02 15:04"), ticks)
			}
			if ticks {
				next = s.Next(at)
			}
		}
	})
}

// FuzzParse: no text makes Parse or Next panic, hang, or go back in time.
func FuzzParse(f *testing.F) {
	for _, spec := range []string{
		"*/5 1-3,7 * jan-mar MON", "@every 1h", "TZ=Europe/Rome 0 0 29 2 1", "@daily",
		"0 0 31 12 7/1",
	} {
		f.Add(spec, int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, spec string, unix int64) {
		s, err := cron.Parse(spec)
		if err != nil {
			if !errors.Is(err, cron.ErrInvalid) {
				t.Error(err)
			}
			return
		}
		from := time.Unix(unix%(1<<33), 0)
		at := s.Next(from)
		if !at.IsZero() && !at.After(from) {
			t.Errorf("%q from %v: %v", spec, from, at)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	for _, spec := range []string{
		"*/5 * * * *", "TZ=Europe/Rome 30 2 * * *", "TZ=Europe/Rome 0 0 29 2 *",
		"TZ=Europe/Rome 0 * 29 2 1",
	} {
		b.Run(spec, func(b *testing.B) {
			s, at := parsed(b, spec), time.Unix(1_700_000_000, 0)
			for b.Loop() {
				s.Next(at)
			}
		})
	}
}
