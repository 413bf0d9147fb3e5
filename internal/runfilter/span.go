package runfilter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/storage"
)

// A span is a range of time that contains its beginning and not its end. It is given by an age, or by two times.
type span struct {
	than     rune // '<' if younger than age, '>' if older, 0 for times
	age      age
	from, to time.Time // zero is no bound
}

// An age is a number of units, such as 90m.
type age struct {
	n    int64
	unit byte
}

const (
	day    = 24 * time.Hour
	week   = 7 * day
	maxAge = 200 * 365 * day // a Duration can hold it
)

var units = map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': day, 'w': week}

func (a age) duration() time.Duration { return time.Duration(a.n) * units[a.unit] }

// at returns the times of the span; a zero time is no bound.
func (s *span) at(now time.Time) (from, to time.Time) {
	switch s.than {
	case '<':
		return now.Add(-s.age.duration()), time.Time{}
	case '>':
		return time.Time{}, now.Add(-s.age.duration())
	default:
		return s.from, s.to
	}
}

// timeField returns a field whose values are spans of time. A run without the time is in none.
func timeField(name string, of func(*storage.Run) time.Time) *field {
	return &field{
		name: name,
		read: func(text lexeme) (v value, err error) {
			if v.span, err = readSpan(text.String()); err != nil {
				err = fmt.Errorf("%s:%.50s: %w", name, text, err)
			}
			return v, err
		},
		write: func(v *value) string { return v.span.String() },
		holds: func(v *value, run *storage.Run, now time.Time) bool {
			t := of(run)
			from, to := v.span.at(now)
			return !t.IsZero() && !t.Before(from) && (to.IsZero() || t.Before(to))
		},
	}
}

// ParseSpan reads a range of time as a filter has it, such as <1h or 2026-01-31..2026-02-01, and returns its times at a
// moment. A zero time is no bound. The text "" is all times.
func ParseSpan(text string, now time.Time) (from, to time.Time, err error) {
	if text == "" {
		return from, to, nil
	}
	s, err := readSpan(text)
	if err != nil {
		return from, to, fmt.Errorf("%w: the time is %.50q: %w", storage.ErrInvalid, text, err)
	}
	from, to = s.at(now)
	return from, to, nil
}

var errSpan = errors.New("want an age such as <1h or >2d (s, m, h, d, w), or times such as " +
	"2026-01-31..2026-02-01T12:00:00Z")

func readSpan(text string) (s span, err error) {
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, ">") {
		s.than = rune(text[0])
		s.age, err = readAge(text[1:])
		return s, err
	}
	from, to, found := strings.Cut(text, "..")
	if !found || from == "" && to == "" {
		return s, errSpan
	}
	if s.from, err = readTime(from); err == nil {
		s.to, err = readTime(to)
	}
	return s, err
}

// ParseAge reads a length of time such as 90m.
func ParseAge(text string) (time.Duration, error) {
	a, err := readAge(text)
	return a.duration(), err
}

func readAge(text string) (a age, err error) {
	if text == "" {
		return a, errSpan
	}
	last := len(text) - 1
	a.unit = text[last]
	if a.n, err = strconv.ParseInt(text[:last], 10, 64); err != nil || a.n < 0 || units[a.unit] == 0 ||
		a.n > int64(maxAge/units[a.unit]) {
		return age{}, errSpan
	}
	return a, nil
}

// readTime reads a date, or a time; "" is the zero time, which is no bound. Stores compare microseconds.
func readTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		t = t.UTC().Truncate(time.Microsecond)
		if t.Year() >= 1 && t.Year() <= lastYear && !t.IsZero() {
			return t, nil
		}
	}
	return time.Time{}, errSpan
}

// lastYear is the last year that a time is written with.
const lastYear = 9999

// String writes the span so that it is read as the same.
func (s *span) String() string {
	if s.than != 0 {
		return string(s.than) + strconv.FormatInt(s.age.n, 10) + string(s.age.unit)
	}
	return writeTime(s.from) + ".." + writeTime(s.to)
}

func writeTime(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case t.Equal(t.Truncate(day)):
		return t.Format(time.DateOnly)
	default:
		return t.Format(time.RFC3339Nano)
	}
}
