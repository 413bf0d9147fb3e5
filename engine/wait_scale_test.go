package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	enginetasks "github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestWaitScale runs machines in both languages that wait, pause before retries, and have time limits. At a scale of 0,
// only the limits take time.
func TestWaitScale(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		took  time.Duration
		scale float64
	}{
		"asl": {`{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "Next": "Busy"},
			"Busy": {"Type": "Task", "Resource": "local:busy", "End": true,
				"Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 600, "MaxAttempts": 3}]}}}`, 0, 0},
		"asl scaled": {`{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 3600, "End": true}}}`, 6 * time.Minute, 0.1},
		"asl limit": {`{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "TimeoutSeconds": 60, "End": true,
			"Resource": "arn:aws:states:us-east-1:000000000000:activity:a",
			"Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}]}, "Late": {"Type": "Wait", "Seconds": 60, "End": true}}}`, time.Minute, 0},
		"sm4c": {`{"name": "waits", "version": "1", "states": [{"name": "Wait", "start": true, "transitions": [{"nextState": "Done", "timeout": "P30D"}]},
			{"name": "Done"}]}`, 0, 0},
		"sm4c limit": {waitingMachine, 30 * 24 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e, err := engine.New(rootOf(t, name, c.text), memstore.New(), engine.WithTasks(busyTwice()), engine.WaitScale(c.scale))
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if _, err := e.Run(t.Context(), "r", engine.Input(atom.FromJSON([]byte("{}")))); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took < c.took || took > c.took+time.Second {
					t.Errorf("it took %v; want %v", took, c.took)
				}
			})
		})
	}
}

// rootOf returns the flow of a definition, in the language at the start of name.
func rootOf(t *testing.T, name, text string) flow.Node {
	t.Helper()
	if strings.HasPrefix(name, "sm4c") {
		m, err := sm4c.Parse("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m.Flow()
	}
	m, err := asl.Parse("m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// busyTwice returns tasks, one of which fails twice.
func busyTwice() *enginetasks.Registry {
	r := &enginetasks.Registry{}
	r.Add("local:busy", busyTask{})
	return r
}

type busyTask struct{ atom.Body }

func (busyTask) Reverts() bool { return false }

func (busyTask) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	if atom.Attempt(ctx) < 3 {
		return nil, atom.Errorf("Busy", "not yet")
	}
	return atom.Null, nil
}
