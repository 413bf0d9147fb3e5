package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/visible"
)

// Cause describes a failure on one line.
func Cause(f *atom.Failure) string {
	switch {
	case f.Message == "":
		return visible.Line(f.Code)
	case f.Code == "":
		return visible.Line(f.Message)
	}
	return visible.Line(f.Code + ": " + f.Message)
}

// FormatDuration formats a duration for people.
func FormatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(d, 0).Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return clock(d.Round(time.Second))
	}
}

// clock formats a duration of whole seconds: 2h0m5s. From a day on, it has days and no seconds: 13d23h59m.
func clock(d time.Duration) string {
	const day = 24 * time.Hour
	if d < day {
		return d.String()
	}
	rest, _ := strings.CutSuffix((d % day).Truncate(time.Minute).String(), "0s")
	return fmt.Sprintf("%dd%s", d/day, rest)
}

// TimeLeft returns the time until due for people, rounded up, so that a countdown ends with 1 s.
func TimeLeft(due, now time.Time) string {
	d := max(due.Sub(now), 0)
	seconds := (d + time.Second - 1).Truncate(time.Second)
	if seconds < time.Minute {
		return fmt.Sprintf("%d s", int(seconds.Seconds()))
	}
	return clock(seconds)
}

func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" since %s (%s)", t.In(now.Location()).Format(whyTime), FormatDuration(now.Sub(t)))
}

func until(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(", until %s (%s)", t.In(now.Location()).Format(whyTime), away(t, now, "%s left"))
}

func at(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf(" at %s (%s)", t.In(now.Location()).Format(whyTime), away(t, now, "in %s"))
}

// away says how far away a time is. Ahead is the format for a time that has not come.
func away(t, now time.Time, ahead string) string {
	if late := now.Sub(t); late >= time.Second {
		return FormatDuration(late) + " ago"
	}
	return fmt.Sprintf(ahead, TimeLeft(t, now))
}

func after(one *Wait) string {
	if one.Failure == nil {
		return ""
	}
	text := one.Failure.Code
	if one.Failure.Message != "" {
		text += ": " + one.Failure.Message
	}
	return ", after " + visible.Line(text)
}

const whyTime = time.DateTime
