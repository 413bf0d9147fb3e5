package engine_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/engine"
	enginetasks "github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestScaleDistributedMapGivesUp lets the last of very many children fail while the others wait. The Map drops these in
// small commits, and then writes the results. It starts all of them, though more than half of its slots are in use.
func TestScaleDistributedMapGivesUp(t *testing.T) {
	n := min(scale(t, 6_000), 9_000)
	machine := eachThing(t, `"MaxConcurrency": 10000, `+writeThings, `
		"Do": {"Type": "Choice", "Choices": [{"Variable": "$.id", "StringEquals": "`+strconv.Itoa(n-1)+`", "Next": "Bad"}], "Default": "Hold"},
		"Bad": {"Type": "Fail", "Error": "Bad"},
		"Hold": {"Type": "Wait", "Seconds": 86400, "End": true}`)
	registry := &enginetasks.Registry{}
	registry.AddBucket("stock", enginetasks.Folder(inventory(t, n)))
	l := &largest{Store: memstore.New()}
	eng := newEngine(t, machine.Flow(), engine.WithStore(l), engine.WithTasks(registry))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	_, err := eng.Run(ctx, "r")
	if failed, is := errors.AsType[*engine.FailedError](err); !is || !strings.Contains(failed.Error(), "ExceedToleratedFailureThreshold") {
		t.Fatalf("got %v; want that too many failed", err)
	}
	t.Logf("%d children: at most %d rows in one of %d commits", n, l.rows, l.commits)
	if l.rows > 4_000 {
		t.Errorf("one of %d commits had %d rows", l.commits, l.rows)
	}
}
