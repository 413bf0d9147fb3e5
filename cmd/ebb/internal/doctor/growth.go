package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Limits from which the doctor warns of how much a run has written.
const (
	largestShown = 3                  // number of runs that the doctor names
	worthNaming  = view.Mebibyte      // bytes of a run that the doctor names
	fastGrowth   = view.Mebibyte      // bytes a second
	fastFrom     = 64 * view.Mebibyte // bytes of a run that may count as growing fast
	nearLimit    = 80                 // percent
)

// bytesPerSecond returns the average growth of a run since it started.
func bytesPerSecond(run *storage.Run) int64 {
	if took := run.Updated.Sub(run.Started); took > time.Second {
		return int64(float64(run.Bytes) / took.Seconds())
	}
	return run.Bytes
}

// growth checks how much the largest runs have written.
func (d *doctor) growth(ctx context.Context, store backend.Store, _ time.Time) error {
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
	runs = slices.DeleteFunc(runs, func(r storage.Run) bool { return r.Bytes < worthNaming && d.outgrows(&r) == "" })
	state, do := OK, ""
	var says []string
	for i := range runs {
		run := &runs[i]
		text := fmt.Sprintf("%s of flow %s has written %s", run.ID, run.Flow, view.Written(run))
		if warn := d.outgrows(run); warn != "" && !run.State.Ended() {
			state, text = Warning, text+", "+warn
			do = "look at what it does (ebb why RUN), and cancel it (ebb cancel RUN) if it is not meant to; raise the limit " +
				"with --run-limit otherwise"
		}
		says = append(says, text)
	}
	if len(says) == 0 {
		says = []string{"no run has written 1 MiB or more"}
	}
	d.findf("growth", state, do, "%s", strings.Join(says, "; "))
	return nil
}

// outgrows returns a warning about the size of a run; "" if there is none.
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
		return fmt.Sprintf("and grows by %.1f MiB a second", float64(rate)/view.Mebibyte)
	}
	return ""
}
