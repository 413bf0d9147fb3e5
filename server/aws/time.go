package aws

import (
	"strconv"
	"time"
)

// A Time is a time as the protocol has it: seconds since 1970, with milliseconds.
type Time struct{ time.Time }

// At returns a time for a member of an answer; nil for the zero time, so that omitempty leaves the member out.
func At(t time.Time) *Time {
	if t.IsZero() {
		return nil
	}
	return &Time{t}
}

// MarshalJSON returns the time as a number. It cuts off fractions of a millisecond.
func (t Time) MarshalJSON() ([]byte, error) {
	ms := t.UnixMilli()
	b := strconv.AppendFloat(nil, float64(ms)/msPerSecond, 'f', -1, 64)
	return b, nil
}

const (
	msPerSecond = 1000
	maxSeconds  = 253402300799 // the end of the year 9999
)
