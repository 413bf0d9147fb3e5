package sqlstore

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore/internal/wakeup"
)

// TestArrivalsFor: a commit that makes a run due, or sends a message, notifies the goroutines that
// wait for such a change. The end of a run notifies only this process.
func TestArrivalsFor(t *testing.T) {
	t.Parallel()
	running, ended := storage.Head{State: states.FlowRunning}, storage.Head{State: states.FlowSuccess, Release: true}
	waits, again := storage.Head{State: states.FlowRunning, Release: true}, ended
	again.Due = time.Now()
	messages := []storage.Message{{Run: "r"}}
	for what, c := range map[string]struct {
		cp   storage.Checkpoint
		want wakeup.Change
	}{
		"a step":                        {storage.Checkpoint{Head: running}, wakeup.Nothing},
		"a message":                     {storage.Checkpoint{Head: running, Messages: messages}, wakeup.Moves},
		"a child":                       {storage.Checkpoint{Head: running, Children: []storage.Run{{ID: "r"}}}, wakeup.Moves},
		"a run that waits":              {storage.Checkpoint{Head: waits}, wakeup.Moves},
		"an end":                        {storage.Checkpoint{Head: ended}, wakeup.Ends},
		"an end with a message":         {storage.Checkpoint{Head: ended, Messages: messages}, wakeup.Moves},
		"an end with something to send": {storage.Checkpoint{Head: ended, Outbox: []storage.Outgoing{{}}}, wakeup.Moves},
		"an end that is to be seen":     {storage.Checkpoint{Head: again}, wakeup.Moves},
		"an end of a job":               {storage.Checkpoint{Head: ended, Job: &storage.JobEnd{State: states.JobComplete}}, wakeup.Ends},
		"an end that frees the job":     {storage.Checkpoint{Head: ended, Job: &storage.JobEnd{State: states.JobUnclaimed}}, wakeup.Posts},
		"a job that goes on waiting":    {storage.Checkpoint{Head: running, Job: &storage.JobEnd{State: states.JobScheduled}}, wakeup.Posts},
	} {
		if got := arrivalsFor(&c.cp); got != c.want {
			t.Errorf("%s: notifies of %d; want %d", what, got, c.want)
		}
	}
}
