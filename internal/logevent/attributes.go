package logevent

import (
	"reflect"
	"strconv"
	"time"
)

// Attributes returns pairs of keys and values without the pairs whose value is zero. A duration becomes text with its
// unit: slog and hclog would write it to JSON as a number of nanoseconds. A time becomes text in UTC with milliseconds.
func Attributes(pairs ...any) []any {
	kept := make([]any, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if value == nil || reflect.ValueOf(value).IsZero() {
			continue
		}
		switch v := value.(type) {
		case time.Duration:
			value = Duration(v)
		case time.Time:
			value = v.UTC().Format("2006-01-02T15:04:05.000Z07:00")
		}
		kept = append(kept, pairs[i], value)
	}
	return kept
}

// Duration returns a duration with its unit, rounded so that it is easy to read.
func Duration(d time.Duration) string {
	switch size := d.Abs(); {
	case size >= time.Minute:
		return d.Round(time.Second).String()
	case size >= time.Second:
		return d.Round(time.Millisecond).String()
	default: // not in µs: hclog quotes text that is not ASCII
		ms := float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
		return strconv.FormatFloat(ms, 'f', -1, 64) + "ms"
	}
}
