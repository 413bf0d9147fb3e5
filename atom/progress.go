package atom

import (
	"context"
	"math"
)

// MaxDetails is the size in bytes above which details of progress are left out.
const MaxDetails = 16 << 10

// Progress reports how far the task is, from 0 to 1; what is outside counts as
// the nearer of them. details, which may be nil, say more about it. Both are kept
// with the run and shown to observers; details that are nil, do not encode, or
// are larger than [MaxDetails] leave those given before.
//
// It never waits and never fails: what is reported goes into the run's next
// checkpoint, within a second, and of many reports only the latest. A crash loses
// what was not committed. A task need not report 0 when it begins or 1 when it
// ends. Outside of a call nothing happens.
func Progress(ctx context.Context, fraction float64, details any) {
	host := hostOf(ctx)
	if host == nil {
		return
	}
	if math.IsNaN(fraction) {
		fraction = 0
	}
	var encoded Value
	if details != nil {
		if v, err := Encode(details); err == nil && len(v) <= MaxDetails {
			encoded = v
		}
	}
	host.Progress(min(max(fraction, 0), 1), encoded)
}
