package asl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/grow"
)

// TestTraceRedrive wants the visits that an execution left to be open again after a redrive, and no others.
func TestTraceRedrive(t *testing.T) {
	m, err := asl.Parse("m", []byte(`{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "do:a", "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "do:b", "Next": "C"}, "C": {"Type": "Pass", "End": true}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tracer, number := m.Tracer(), int64(0)
	var got []string
	for _, e := range []struct {
		path, event, state string
		prev               int64
	}{
		{"", "ExecutionStarted", "", 0},
		{"", "ParallelStateEntered", "P", 0},
		{"", "ParallelStateStarted", "P", 2},
		{"P[0]", "TaskStateEntered", "A", 3},
		{"P[1]", "TaskStateEntered", "B", 3},
		{"P[0]", "TaskSucceeded", "A", 4},
		{"P[0]", "TaskStateExited", "A", 6},
		{"P[1]", "TaskFailed", "B", 5},
		{"", "ParallelStateFailed", "P", 8},
		{"", "ExecutionFailed", "", 9},
		{"", "ExecutionRedriven", "", 10},
		{"P[1]", "TaskSucceeded", "B", 8},
		{"P[1]", "TaskStateExited", "B", 12},
		{"P[1]", "PassStateEntered", "C", 13},
		{"P[1]", "PassStateExited", "C", 14},
		{"", "ParallelStateExited", "P", 15},
		{"", "ExecutionSucceeded", "", 16},
	} {
		number++
		for _, v := range tracer.Trace(number, e.path, &grow.Event{Type: e.event, Name: e.state, Prev: e.prev}) {
			if number > 10 && (v.Stage == grow.VisitEntered || v.Stage == grow.VisitLeft) {
				got = append(got, fmt.Sprintf("%d %s %s", number, map[grow.VisitStage]string{grow.VisitEntered: "in", grow.VisitLeft: "out"}[v.Stage], v.Path))
			}
		}
	}
	want := "11 in P, 11 in P[1]/B, 13 out P[1]/B, 14 in P[1]/C, 15 out P[1]/C, 16 out P"
	if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
		t.Errorf("visits (-want +got):\n%s", diff)
	}
}
