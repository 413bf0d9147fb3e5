package cron

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// MaxLength is the maximum length of a spec in bytes.
//
//limit:values expression of a schedule (`jobs.Schedule`) | {B}
const MaxLength = 1024

// ErrInvalid is wrapped by the errors of [Parse].
var ErrInvalid = errors.New("not a schedule")

// A Schedule is a parsed spec. The zero Schedule never ticks.
type Schedule struct {
	zone  *time.Location
	every time.Duration // interval; 0 if the fields count

	minute, hour, day, month, weekday set
	appointments                      bool // the hour does not start with *
	either                            bool // a day matches if day or weekday matches
}

// A set contains the numbers whose bits are set.
type set uint64

func (s set) has(n int) bool { return s&(1<<n) != 0 }

// A field is one of the five fields.
type field struct {
	name     string
	min, max int
	names    []string // names of the numbers from min on
}

var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{"day of week", 0, 7, []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// Parse parses a spec. Its error wraps [ErrInvalid] and says which part is wrong, and what is allowed.
func Parse(spec string) (*Schedule, error) {
	s, err := parse(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %.200q: %w", ErrInvalid, spec, err)
	}
	return s, nil
}

func parse(spec string) (*Schedule, error) {
	if len(spec) > MaxLength {
		return nil, fmt.Errorf("it is longer than %d bytes", MaxLength)
	}
	s := &Schedule{zone: time.UTC}
	words := strings.Fields(spec)
	if len(words) > 0 {
		if name, is := zoneOf(words[0]); is {
			var err error
			if s.zone, err = zone(name); err != nil {
				return nil, err
			}
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return nil, errors.New("it is empty: want five fields, such as 30 2 * * *, or @daily")
	}
	if words[0] == "@every" {
		return s, s.parseEvery(words[1:])
	}
	if strings.HasPrefix(words[0], "@") {
		macro := macros[words[0]]
		if macro == "" || len(words) > 1 {
			return nil, fmt.Errorf(
				"%s: want @yearly, @monthly, @weekly, @daily, @hourly or @every DURATION, and nothing behind it", strings.Join(
					words, " "))
		}
		words = strings.Fields(macro)
	}
	if len(words) != len(fields) {
		const want = "minute, hour, day of month, month, day of week" //nolint:dupword // two fields
		return nil, fmt.Errorf("%d fields; want five: %s", len(words), want)
	}
	return s, s.parseFields(words)
}

// zoneOf returns the text after TZ= or CRON_TZ=.
func zoneOf(word string) (name string, is bool) {
	if name, is = strings.CutPrefix(word, "TZ="); is {
		return name, true
	}
	return strings.CutPrefix(word, "CRON_TZ=")
}

// zone returns a zone by its name. It refuses the machine's own zone, because its name does not mean the same on
// another machine.
func zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("TZ=%s: name a zone, such as TZ=Europe/Rome", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("TZ=%s: there is no such time zone here: %w", name, err)
	}
	return zone, nil
}

func (s *Schedule) parseEvery(words []string) error {
	if len(words) == 1 {
		every, err := time.ParseDuration(words[0])
		if err == nil && every >= time.Second && every%time.Second == 0 {
			s.every = every
			return nil
		}
	}
	return fmt.Errorf("@every %s: want whole seconds, such as @every 90s or @every 12h", strings.Join(words, " "))
}

func (s *Schedule) parseFields(words []string) error {
	for i, to := range [5]*set{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		var err error
		if *to, err = fields[i].parse(words[i]); err != nil {
			return err
		}
	}
	if s.weekday.has(7) {
		s.weekday |= 1
	}
	s.appointments = words[1][0] != '*'
	s.either = words[2][0] != '*' && words[4][0] != '*'
	if !s.either && !s.someDay() {
		return fmt.Errorf("none of its months has a day %s", words[2])
	}
	return nil
}

// someDay reports whether a month has one of the days.
func (s *Schedule) someDay() bool {
	first := bits.TrailingZeros64(uint64(s.day))
	for month := time.January; month <= time.December; month++ {
		longest := time.Date(2024, month+1, 0, 0, 0, 0, 0, time.UTC).Day() // a leap year
		if s.month.has(int(month)) && first <= longest {
			return true
		}
	}
	return false
}

// parse parses a list.
func (f *field) parse(text string) (set, error) {
	var all set
	for part := range strings.SplitSeq(text, ",") {
		some, err := f.part(part)
		if err != nil {
			return 0, fmt.Errorf("%s: %s: %w", f.name, text, err)
		}
		all |= some
	}
	return all, nil
}

// part parses *, a number or a range, with an optional step.
func (f *field) part(text string) (set, error) {
	what, stepText, stepped := strings.Cut(text, "/")
	step := 1
	if stepped {
		var err error
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > f.max {
			return 0, fmt.Errorf("%q is no step: want 1 to %d", stepText, f.max)
		}
	}
	from, to := f.min, f.max
	if f.max == 7 { // Sunday has two numbers
		to = 6
	}
	if what != "*" {
		first, last, ranged := strings.Cut(what, "-")
		var err error
		if from, err = f.number(first); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			if to, err = f.number(last); err != nil {
				return 0, err
			}
		case !stepped:
			to = from
		}
		if to < from {
			return 0, fmt.Errorf("%s ends before it begins", what)
		}
	}
	var all set
	for n := from; n <= to; n += step {
		all |= 1 << n
	}
	return all, nil
}

func (f *field) number(text string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.min + i, nil
		}
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err == nil && int(n) >= f.min && int(n) <= f.max {
		return int(n), nil
	}
	if f.names != nil {
		return 0, fmt.Errorf("%q: want a number from %d to %d, or a name such as %s", text, f.min, f.max, f.names[1])
	}
	return 0, fmt.Errorf("%q: want a number from %d to %d", text, f.min, f.max)
}
