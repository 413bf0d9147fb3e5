package sqlstore

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// TestArrivalsFor: a commit that makes a run due, or sends a message, notifies the goroutines that
// wait for such a change. The end of a run notifies only this process.
func TestArrivalsFor(t *testing.T) {
	t.Parallel()
	running, ended := backend.Head{State: states.FlowRunning}, backend.Head{State: states.FlowSuccess, Release: true}
	waits, again := backend.Head{State: states.FlowRunning, Release: true}, ended
	again.Due = time.Now()
	messages := []storage.Message{{Run: "r"}}
	for what, c := range map[string]struct {
		cp   backend.Checkpoint
		want wakeup.Change
	}{
		"a step":                        {backend.Checkpoint{Head: running}, wakeup.Nothing},
		"a message":                     {backend.Checkpoint{Head: running, Messages: messages}, wakeup.Moves},
		"a child":                       {backend.Checkpoint{Head: running, Children: []storage.Run{{ID: "r"}}}, wakeup.Moves},
		"a run that waits":              {backend.Checkpoint{Head: waits}, wakeup.Moves},
		"an end":                        {backend.Checkpoint{Head: ended}, wakeup.Ends},
		"an end with a message":         {backend.Checkpoint{Head: ended, Messages: messages}, wakeup.Moves},
		"an end with something to send": {backend.Checkpoint{Head: ended, Outbox: []storage.Outgoing{{}}}, wakeup.Moves},
		"an end that is to be seen":     {backend.Checkpoint{Head: again}, wakeup.Moves},
		"an end of a job":               {backend.Checkpoint{Head: ended, Job: &backend.JobEnd{State: states.JobComplete}}, wakeup.Ends},
		"an end that frees the job":     {backend.Checkpoint{Head: ended, Job: &backend.JobEnd{State: states.JobUnclaimed}}, wakeup.Posts},
		"a job that goes on waiting":    {backend.Checkpoint{Head: running, Job: &backend.JobEnd{State: states.JobScheduled}}, wakeup.Posts},
	} {
		if got := arrivalsFor(&c.cp); got != c.want {
			t.Errorf("%s: notifies of %d; want %d", what, got, c.want)
		}
	}
}
