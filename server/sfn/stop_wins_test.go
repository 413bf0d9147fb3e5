package sfn_test

import (
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/postgrestest"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestStopWins stops a machine that starts itself and waits, while it starts the next execution, and stops it again
// after a redrive.
//
// Guarantee (G9): A stop wins: the runs for which a stopped run waits, at any depth, are cancelled faster than they begin
// others.
//
// Attack (AWS clients): StopExecution of a machine that starts itself and waits, 100 executions deep, and never ends.
// Result: All executions end. Few begin after the stop, however deep the machine is: 12 at depth 2,000, 48 at 10,000.
func TestStopWins(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		stopWins(t, "sqlite:"+filepath.Join(t.TempDir(), "ebb.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		dsn := postgrestest.DSN(t)
		if _, err := sqlstore.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		stopWins(t, dsn)
	})
}

func stopWins(t *testing.T, dsn string) {
	t.Helper()
	const depth, most = 100, 100 // most executions that begin after a stop
	store, err := sqlstore.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := serveOn(t, store, nil)
	machine := s.create("Deep", `{"StartAt": "Start", "States": {
		"Start": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "End": true, "Parameters": {
			"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:Deep", "Input": {}}}}}`)
	arn := s.start(machine, "x", `{}`)
	var root string
	for run, err := range storage.EachRun(t.Context(), store, storage.RunQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if run.Parent == "" {
			root = run.ID
		}
	}
	born := func() int64 {
		t.Helper()
		n, err := store.Descendants(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for redriven := range 2 {
		before := born()
		for born() < before+depth {
			changed := store.Changed()
			select {
			case <-changed:
			case <-t.Context().Done():
				t.Fatal("no executions begin")
			}
		}
		s.call("StopExecution", object{"executionArn": arn})
		at := born()
		for open := true; open; {
			open = false
			for run, err := range storage.EachRun(t.Context(), store, storage.RunQuery{}) {
				if err != nil {
					t.Fatal(err)
				}
				if run.State.Ended() {
					continue
				}
				open = true
				if _, err := engine.Await(t.Context(), store, run.ID); err != nil {
					t.Fatal(err)
				}
			}
			if n := born(); n > at+most {
				t.Fatalf("%d executions began after the stop at %d", n-at, at)
			}
		}
		if x := s.execution(arn); x["status"] != "ABORTED" || x["redriveCount"] != float64(redriven) {
			t.Errorf("%v", x)
		}
		if redriven == 0 {
			s.call("RedriveExecution", object{"executionArn": arn})
		}
	}
}
