package inspect

import "time"

// Times measures the attempts of a task or of its revert. All views use it, so a duration is the same everywhere, and
// the same that observers get.
type Times struct {
	Began   time.Time     // start of the first attempt
	Tried   time.Time     // start of the latest attempt
	Ended   time.Time     // end of the latest attempt; zero while it executes
	Waited  time.Duration // how long the latest attempt waited for a free slot
	Paused  time.Duration // time between all attempts; unknown for a revert
	periods []Period      // of all executions, the latest ones; the last one may continue
}

// Took returns how long the latest attempt took, or has taken by now, without the wait for a slot.
func (t *Times) Took(now time.Time) time.Duration {
	if t.Tried.IsZero() {
		return 0
	}
	if !t.Ended.IsZero() {
		now = t.Ended
	}
	return max(0, now.Sub(t.Tried)-t.Waited)
}

// Waits says how long the latest attempt waited for a slot, and how long the pauses between attempts were. It says
// nothing if there was no wait.
func (t *Times) Waits() (parts []string) {
	if t.Waited >= time.Millisecond {
		parts = append(parts, "waited "+FormatDuration(t.Waited)+" for a slot")
	}
	if t.Paused >= time.Millisecond {
		parts = append(parts, "paused "+FormatDuration(t.Paused)+" between attempts")
	}
	return parts
}

// begin starts an attempt. If it retries an earlier one, the time since that one was a pause.
func (t *Times) begin(at time.Time, retries bool) {
	switch {
	case !retries:
		*t = Times{Began: at, periods: t.periods}
	case !t.Ended.IsZero():
		t.Paused += at.Sub(t.Ended)
	}
	t.again(at)
}

// again starts another attempt.
func (t *Times) again(at time.Time) {
	t.Tried, t.Ended, t.Waited = at, time.Time{}, 0
	t.spanned(at)
}

// end ends the attempt, unless it has ended.
func (t *Times) end(c *Change) {
	if t.Ended.IsZero() {
		t.Ended, t.Waited = c.ended(), c.Waited
	}
	t.closed(c)
}
