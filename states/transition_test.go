package states_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/states"
)

func TestTransitionError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		err  error
		want *states.TransitionError
		text string
	}{
		{
			name: "names both states and what is legal",
			err:  states.Check(states.TaskPending, states.TaskReverting),
			want: &states.TransitionError{
				Kind: "task", From: "PENDING", To: "REVERTING", Legal: []string{"RUNNING", "IGNORE", "CANCELLED"},
			},
			text: "states: task cannot go from PENDING to REVERTING (legal from PENDING: RUNNING, IGNORE, CANCELLED)",
		},
		{
			name: "nothing is legal",
			err:  states.Check(states.JobComplete, states.JobClaimed),
			want: &states.TransitionError{Kind: "job", From: "COMPLETE", To: "CLAIMED"},
			text: "states: job cannot go from COMPLETE to CLAIMED (legal from COMPLETE: nothing)",
		},
		{
			name: "ignored is not legal",
			err:  states.Check(states.FlowReverted, states.FlowSuspended),
			want: &states.TransitionError{
				Kind: "flow", From: "REVERTED", To: "SUSPENDED", Legal: []string{"PENDING", "RUNNING"},
			},
			text: "states: flow cannot go from REVERTED to SUSPENDED (legal from REVERTED: PENDING, RUNNING)",
		},
		{
			name: "a task is no retry",
			err:  states.Check(states.TaskSuccess, states.TaskRetrying),
			want: &states.TransitionError{Kind: "task", From: "SUCCESS", To: "RETRYING", Legal: []string{"REVERTING"}},
			text: "states: task cannot go from SUCCESS to RETRYING (legal from SUCCESS: REVERTING)",
		},
		{
			name: "reset is asked for by its own name",
			err:  states.Check(states.RetrySuccess, states.RetryPending),
			want: &states.TransitionError{Kind: "retry", From: "SUCCESS", To: "PENDING", Legal: []string{
				"REVERTING",
				"RETRYING",
			}},
			text: "states: retry cannot go from SUCCESS to PENDING (legal from SUCCESS: REVERTING, RETRYING)",
		},
		{
			name: "reset that is refused",
			err:  states.CheckReset(states.FlowSuspended, states.FlowPending),
			want: &states.TransitionError{Kind: "flow", From: "SUSPENDED", To: "PENDING", Reset: true},
			text: "states: flow cannot be reset from SUSPENDED to PENDING (legal by reset from SUSPENDED: nothing)",
		},
		{
			name: "reset leads to PENDING alone",
			err:  states.CheckReset(states.TaskSuccess, states.TaskRunning),
			want: &states.TransitionError{
				Kind: "task", From: "SUCCESS", To: "RUNNING", Reset: true, Legal: []string{"PENDING"},
			},
			text: "states: task cannot be reset from SUCCESS to RUNNING (legal by reset from SUCCESS: PENDING)",
		},
		{
			name: "from a number that names nothing",
			err:  states.Check(states.Engine(16), states.EngineResuming),
			want: &states.TransitionError{Kind: "engine", From: "engine(16)", To: "RESUMING"},
			text: "states: engine cannot go from engine(16) to RESUMING (legal from engine(16): nothing)",
		},
		{
			name: "to a number that names nothing",
			err:  states.Check(states.EngineWaiting, states.EngineAnalyzing+16),
			want: &states.TransitionError{Kind: "engine", From: "WAITING", To: "engine(20)", Legal: []string{"ANALYZING"}},
			text: "states: engine cannot go from WAITING to engine(20) (legal from WAITING: ANALYZING)",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := errors.AsType[*states.TransitionError](test.err)
			if !ok {
				t.Fatalf("got %v, want a *TransitionError", test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.text, got.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// Not parallel: the counter belongs to the whole program.
func TestLegalCheckAllocatesNothing(t *testing.T) {
	for name, legal := range map[string]func() bool{
		"Check":      func() bool { return states.Check(states.TaskRunning, states.TaskSuccess) == nil },
		"CheckReset": func() bool { return states.CheckReset(states.FlowSuccess, states.FlowPending) == nil },
		"Ignored":    func() bool { return states.Ignored(states.FlowSuccess, states.FlowSuspended) },
	} {
		if !legal() {
			t.Errorf("%s: not legal", name)
		}
		if allocs := testing.AllocsPerRun(100, func() { legal() }); allocs != 0 {
			t.Errorf("%s: %g allocations", name, allocs)
		}
	}
}
