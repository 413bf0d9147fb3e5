package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
)

// TestFaults makes each writing call in turn fail, once or from then on, in each way: the database is locked, the disk
// is full, the call waits, its answer is lost after the write, or it is unknown whether it wrote. Another process
// resumes the stopped run. The run ends as if undisturbed (G10): the store causes no failure or revert, no effect is
// left, and no task executes again after its success was committed.
//
// Guarantee (G10): A run ends as if left alone though one commit, or every later one, meets a lock, a full disk, delay,
// doubt or a lost answer.
func TestFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]faultstore.Fault{
		"busy": faultstore.Busy, "disk": faultstore.Disk, "lost": faultstore.Lost, "unsure": faultstore.Unsure,
		"slow": {Delay: time.Minute},
	}
	for name, build := range crashFlows(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone := inBubble(t, build, engine.Step, deaths())
			for what, fault := range faults {
				for nth, met := 1, true; met; nth++ {
					once := inBubble(t, build, engine.Step, firstMeets(faultstore.At("Commit", nth, fault), &met))
					alone.same(t, fmt.Sprintf("commit %d %s, once", nth, what), once)
					forGood := inBubble(t, build, engine.Step, firstMeets(faultstore.From("Commit", nth, fault), &met))
					alone.same(t, fmt.Sprintf("commit %d %s, for good", nth, what), forGood)
				}
			}
		})
	}
}

// firstMeets applies a plan to the first process that drives a run, and records whether a fault happened.
func firstMeets(plan faultstore.Plan, met *bool) func(int, backend.Store) backend.Store {
	*met = false
	return func(i int, process backend.Store) backend.Store {
		if i > 0 {
			return nil
		}
		return faultstore.New(process, func(c faultstore.Call) faultstore.Fault {
			f := plan(c)
			*met = *met || f != (faultstore.Fault{})
			return f
		})
	}
}
