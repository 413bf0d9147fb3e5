package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/states"
)

// failingTimes returns a revertible task that fails at its first calls.
func failingTimes(name string, times int) *atom.Atom {
	calls := 0
	return atom.Untyped(name, func(context.Context, atom.Values) (any, error) {
		if calls++; calls <= times {
			return nil, errors.New("boom")
		}
		return calls, nil
	}, func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) { return nil, nil })
}

// driverOf returns the driver of a flow of the test's own.
func driverOf(t *testing.T, root flow.Node) *driver {
	t.Helper()
	d, err := newDriver(t, &conformance.TaskFlowCase{Flow: conformance.TaskFlowNode{Kind: "linear", Name: "none"}, Options: conformance.TaskFlowOptions{DeferReverts: true}})
	if err != nil {
		t.Fatal(err)
	}
	d.root = func() flow.Node { return root }
	if err := d.build(); err != nil {
		t.Fatal(err)
	}
	d.kept.records = make([]scheduler.Record, len(d.plan.Atoms))
	guard(d)
	return d
}

// TestRetryWaits: a retry waits as long as its backoff says, also if it is stopped in the middle.
func TestRetryWaits(t *testing.T) {
	t.Parallel()
	tried := func() flow.Node {
		return flow.Linear("f", failingTimes("a", 2)).WithRetry(atom.Times(3, atom.Exponential(time.Minute, 0)))
	}
	const want = 3 * time.Minute
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		d := driverOf(t, tried())
		d.segment("run", false)
		if d.waited != want || d.kept.flow != states.FlowSuccess {
			t.Errorf("ended %v after %v", d.kept.flow, d.waited)
		}
	})
	t.Run("suspended while it waits", func(t *testing.T) {
		t.Parallel()
		d := driverOf(t, tried())
		in := &conformance.TaskFlowInterrupt{Mode: "suspend"}
		in.At.Atom, in.At.State = "f_retry", "RETRYING"
		d.interrupt = in
		d.segment("run", false)
		if d.kept.flow != states.FlowSuspended || d.waited != 0 {
			t.Fatalf("%v after %v", d.kept.flow, d.waited)
		}
		d.interrupt = nil
		d.segment("run", false)
		if d.waited != want || d.kept.flow != states.FlowSuccess {
			t.Errorf("ended %v after %v", d.kept.flow, d.waited)
		}
	})
	t.Run("crashed while it waits", func(t *testing.T) {
		t.Parallel()
		d := driverOf(t, tried())
		in := &conformance.TaskFlowInterrupt{Mode: "crash"}
		in.At.Atom, in.At.State = "f_retry", "RETRYING"
		d.interrupt = in
		d.segment("run", false)
		d.interrupt = nil
		d.reload()
		d.segment("reload_run", true)
		if d.waited != want || d.kept.flow != states.FlowSuccess {
			t.Errorf("ended %v after %v", d.kept.flow, d.waited)
		}
	})
}

// TestFailureEndsWait shows that a retry that waits is undone when something
// beside it fails.
func TestFailureEndsWait(t *testing.T) {
	t.Parallel()
	slow := flow.Linear("slow", failingTimes("b", 0), failingTimes("c", 0), failingTimes("d", 0), failingTimes("e", 9))
	d := driverOf(t, flow.Unordered("all", flow.Linear("f", failingTimes("a", 9)).WithRetry(atom.Times(3, atom.Constant(time.Hour))), slow))
	d.segment("run", false)
	var got []string
	for _, change := range d.run.Trace {
		if change.Atom() == "f_retry" {
			got = append(got, change.To())
		}
	}
	if diff := cmp.Diff([]string{"RUNNING", "SUCCESS", "RETRYING", "REVERTING", "REVERTED"}, got); diff != "" {
		t.Errorf("the retry went (-want +got):\n%s", diff)
	}
	if d.kept.flow != states.FlowReverted || d.waited != 0 {
		t.Errorf("ended %v after waiting %v", d.kept.flow, d.waited)
	}
	if len(d.waits) > 0 {
		t.Errorf("still waits for %v", d.waits)
	}
}

// TestOutcome checks which outcome a revert is told.
func TestOutcome(t *testing.T) {
	t.Parallel()
	told := func(d *driver) map[string]string {
		out := map[string]string{}
		d.watch = func(_ scheduler.Event, cmds []scheduler.Command) {
			for i := range cmds {
				if cmds[i].Op == scheduler.Revert {
					out[cmds[i].Unit.Path] = cmds[i].Outcome.String()
				}
			}
		}
		return out
	}
	d := driverOf(t, flow.Linear("f", failingTimes("a", 0), failingTimes("b", 9)))
	got := told(d)
	d.segment("run", false)
	if diff := cmp.Diff(map[string]string{"a": "done", "b": "failed"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// b was begun when a's failure was kept, and then the process died.
	d = driverOf(t, flow.Unordered("f", failingTimes("a", 9), failingTimes("b", 0)))
	got = told(d)
	d.interrupt = &conformance.TaskFlowInterrupt{Mode: "crash"}
	d.interrupt.At.Atom, d.interrupt.At.State = "a", "FAILURE"
	d.segment("run", false)
	d.interrupt = nil
	d.reload()
	d.segment("reload_run", true)
	if diff := cmp.Diff(map[string]string{"a": "failed", "b": "unknown"}, got); diff != "" {
		t.Errorf("after a crash (-want +got):\n%s", diff)
	}
}

// TestGivenUpOn shows that the outcome of an attempt that was given up on is
// not known.
func TestGivenUpOn(t *testing.T) {
	t.Parallel()
	for _, code := range []string{atom.CodeTimeout, atom.CodeCancelled, atom.CodeHeartbeatLost, atom.CodePanic, atom.CodeError} {
		late := atom.Untyped("a", func(context.Context, atom.Values) (any, error) { return nil, atom.Errorf(code, "late") },
			func(context.Context, atom.Values, atom.Outcome[atom.Value]) (any, error) { return nil, nil }) //nolint:nilnil // nothing
		d := driverOf(t, late)
		got := ""
		d.watch = func(_ scheduler.Event, cmds []scheduler.Command) {
			for i := range cmds {
				if cmds[i].Op == scheduler.Revert {
					got = cmds[i].Outcome.String()
				}
			}
		}
		d.segment("run", false)
		want := "unknown"
		if slices.Contains([]string{atom.CodePanic, atom.CodeError}, code) {
			want = "failed"
		}
		if got != want {
			t.Errorf("%s: the outcome is %s, want %s", code, got, want)
		}
	}
}

// TestNothingToUndo shows that a run that failed before anything that can be
// undone ran is a FAILURE.
func TestNothingToUndo(t *testing.T) {
	t.Parallel()
	plain := func(name string, err error) *atom.Atom {
		return atom.Untyped(name, func(context.Context, atom.Values) (any, error) { return nil, err }, nil)
	}
	for want, root := range map[states.Flow]flow.Node{
		states.FlowFailure:  flow.Linear("f", plain("a", nil), plain("b", errors.New("boom")), failingTimes("c", 0)),
		states.FlowReverted: flow.Linear("f", failingTimes("a", 0), plain("b", errors.New("boom"))),
	} {
		d := driverOf(t, root)
		if d.segment("run", false); d.kept.flow != want {
			t.Errorf("ended %v, want %v", d.kept.flow, want)
		}
	}
}
