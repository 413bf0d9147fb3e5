package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// A TaskFlowTally counts how many records of a file agree.
type TaskFlowTally struct {
	what      string
	agree, of int
	left      map[string]int
	misses    []string
}

// NewTaskFlowTally returns an empty tally of an aspect of a file.
func NewTaskFlowTally(file, aspect string) *TaskFlowTally {
	return &TaskFlowTally{what: file + ": " + aspect, left: map[string]int{}}
}

// Add counts a record. The miss says where it differs; "" means that it agrees.
func (t *TaskFlowTally) Add(r *TaskFlowRecord, miss string) {
	t.of++
	if miss == "" {
		t.agree++
		return
	}
	t.misses = append(t.misses, r.Name+": "+miss)
}

// LeaveOut counts a record that shows a departure, and so does not count.
func (t *TaskFlowTally) LeaveOut(departure string) { t.left[departure]++ }

// Print logs the count, the records that were left out, and every miss. A miss fails the test.
func (t *TaskFlowTally) Print(tb testing.TB) {
	tb.Helper()
	line := fmt.Sprintf("conformance %s %d/%d", t.what, t.agree, t.of)
	if len(t.left) > 0 {
		var left []string
		for _, departure := range slices.Sorted(maps.Keys(t.left)) {
			left = append(left, fmt.Sprintf("%s %d", departure, t.left[departure]))
		}
		line += ", left out " + strings.Join(left, ", ")
	}
	tb.Log(line)
	for _, miss := range t.misses {
		tb.Errorf("conformance %s: miss %s", t.what, miss)
	}
}
