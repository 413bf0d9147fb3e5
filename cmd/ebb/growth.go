package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
)

// What a run has written, and when that is worth a warning.
const (
	mebibyte = 1 << 20

	largestShown = 3             // runs that the doctor names
	worthSaying  = mebibyte      // bytes of a run that show mentions
	fastGrowth   = mebibyte      // bytes a second
	fastFrom     = 64 * mebibyte // bytes of a run that may count as growing fast
	nearLimit    = 80            // percent
)

// written says how much a run has written.
func written(run *storage.Run) string {
	return fmt.Sprintf("%.1f MiB in %s of history", float64(run.Bytes)/mebibyte, count(int(run.Entries), "line"))
}

// bytesPerSecond returns how fast a run has grown on average since it began.
func bytesPerSecond(run *storage.Run) int64 {
	if took := run.Updated.Sub(run.Started); took > time.Second {
		return int64(float64(run.Bytes) / took.Seconds())
	}
	return run.Bytes
}

// bounded returns the limits that hold.
func (s *session) bounded() engine.Limits {
	all, set := engine.DefaultLimits(), s.bounds
	for _, name := range runLimitNames {
		if n := *limitNamed(&set, name); n > 0 {
			*limitNamed(&all, name) = n
		}
	}
	return all
}

// growth looks at how much the largest runs have written.
func (d *doctor) growth(ctx context.Context, store storage.Store, _ time.Time, _ int) error {
	sized, ok := store.(interface {
		Largest(ctx context.Context, limit int) ([]storage.Run, error)
	})
	if !ok {
		return nil
	}
	runs, err := sized.Largest(ctx, largestShown)
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r storage.Run) bool { return r.Bytes == 0 })
	state, do := isOK, ""
	var says []string
	for i := range runs {
		run := &runs[i]
		text := fmt.Sprintf("%s of flow %s has written %s", run.ID, run.Flow, written(run))
		if warn := d.outgrows(run); warn != "" && !run.State.Ended() {
			state, text = isWarning, text+", "+warn
			do = "look at what it does (ebb why RUN), and cancel it (ebb cancel RUN) if it is not meant to; raise the limit with --run-limit otherwise"
		}
		says = append(says, text)
	}
	if len(says) == 0 {
		says = []string{"no run has written anything"}
	}
	d.findf("growth", state, do, "%s", strings.Join(says, "; "))
	return nil
}

// outgrows returns what is worth a warning about how large a run is; "" for nothing.
func (d *doctor) outgrows(run *storage.Run) string {
	for _, limit := range []struct {
		name      string
		is, limit int64
	}{
		{"bytes", run.Bytes, d.limits.Bytes},
		{"iterations", run.Iterations, d.limits.Iterations},
		{"transitions", run.Iterations - run.Waited, d.limits.Transitions},
	} {
		if limit.is > limit.limit/100*nearLimit {
			return fmt.Sprintf("and is at %d of at most %d %s", limit.is, limit.limit, limit.name)
		}
	}
	if rate := bytesPerSecond(run); run.Bytes > fastFrom && rate > fastGrowth {
		return fmt.Sprintf("and grows by %.1f MiB a second", float64(rate)/mebibyte)
	}
	return ""
}
