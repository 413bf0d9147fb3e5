package atom

import (
	"context"
	"math"
)

// MaxDetails is the size in bytes above which details of progress are left out.
//
//limit:values details of progress (`atom.MaxDetails`) | {B} | dropped
const MaxDetails = 16 << 10

// Progress reports how far the task is, from 0 to 1. A value outside that range counts as the nearer bound. details
// describe the progress, and may be nil. Both are stored with the run and shown to observers. If details are nil, do
// not encode, or are larger than [MaxDetails], the earlier details stay.
//
// Progress never waits and never fails. The latest report goes into the run's next
// checkpoint, within a second. A crash loses reports that were not committed. A task
// need not report 0 when it begins or 1 when it ends. Outside of a call Progress does
// nothing.
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
