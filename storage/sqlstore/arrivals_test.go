package sqlstore

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
)

// TestArrivalsFor: a commit that makes a run due, or sends a message, notifies those who look for
// such; that a run ended is told to nobody else but this process.
func TestArrivalsFor(t *testing.T) {
	t.Parallel()
	running, ended := storage.Head{State: states.FlowRunning}, storage.Head{State: states.FlowSuccess, Release: true}
	waits, again := storage.Head{State: states.FlowRunning, Release: true}, ended
	again.Due = time.Now()
	messages := []storage.Message{{Run: "r"}}
	for what, c := range map[string]struct {
		cp   storage.Checkpoint
		want change
	}{
		"a step":                        {storage.Checkpoint{Head: running}, nobody},
		"a message":                     {storage.Checkpoint{Head: running, Messages: messages}, moves},
		"a child":                       {storage.Checkpoint{Head: running, Children: []storage.Run{{ID: "r"}}}, moves},
		"a run that waits":              {storage.Checkpoint{Head: waits}, moves},
		"an end":                        {storage.Checkpoint{Head: ended}, ends},
		"an end with a message":         {storage.Checkpoint{Head: ended, Messages: messages}, moves},
		"an end with something to send": {storage.Checkpoint{Head: ended, Outbox: []storage.Outgoing{{}}}, moves},
		"an end that is to be seen":     {storage.Checkpoint{Head: again}, moves},
		"an end of a job":               {storage.Checkpoint{Head: ended, Job: &storage.JobEnd{State: states.JobComplete}}, ends},
		"an end that frees the job":     {storage.Checkpoint{Head: ended, Job: &storage.JobEnd{State: states.JobUnclaimed}}, posts},
		"a job that goes on waiting":    {storage.Checkpoint{Head: running, Job: &storage.JobEnd{State: states.JobScheduled}}, posts},
	} {
		if got := arrivalsFor(&c.cp); got != c.want {
			t.Errorf("%s: notifies of %d; want %d", what, got, c.want)
		}
	}
}
