package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// travels holds the bookings of tasks that were not cancelled, by the paths of their atoms. Tasks called fail:N fail in
// the first N visits of their state.
type travels struct {
	mu     sync.Mutex
	booked map[string]bool
}

func (l *travels) set(path string, booked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if booked {
		l.booked[path] = true
	} else {
		delete(l.booked, path)
	}
}

func (l *travels) Task(name string) (atom.Body, error) { return booking{l, name}, nil }

type booking struct {
	*travels

	name string
}

func (booking) Reverts() bool { return false }

func (e booking) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	path := atom.CurrentCall(ctx).Path
	e.set(path, true)
	_, number, _ := strings.Cut(path, "#")
	if times, ok := strings.CutPrefix(e.name, "fail:"); ok && cmp.Or(number, "1") <= times {
		return nil, atom.Errorf("Boom", "as it is to")
	}
	return atom.Null, nil
}

func (e booking) Revert(ctx context.Context, _ atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	e.set(atom.CurrentCall(ctx).Path, false)
	return atom.Null, nil
}

// holiday undoes a part of itself in each possible way: a Parallel starts again, a branch undoes its own work, and a
// catcher goes back to a state.
const holiday = `{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "book:a", "Revert": "undo:a", "Next": "P"},
	"P": {"Type": "Parallel", "Next": "B", "Retry": [{"ErrorEquals": ["Boom"], "IntervalSeconds": 60}], "Branches": [
		{"StartAt": "X", "States": {
			"X": {"Type": "Task", "Resource": "book:x", "Revert": "undo:x", "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Again"},
			"Again": {"Type": "Pass", "Next": "F"},
			"F": {"Type": "Task", "Resource": "fail:9", "Revert": "undo:f", "Next": "Done", "Catch": [{"ErrorEquals": ["Boom"], "Revert": "all", "Next": "Done"}]},
			"Done": {"Type": "Succeed"}}},
		{"StartAt": "Y", "States": {
			"Y": {"Type": "Task", "Resource": "book:y", "Revert": "undo:y", "Next": "G"},
			"G": {"Type": "Task", "Resource": "fail:1", "Revert": {"Resource": "undo:g", "Retry": [{"ErrorEquals": ["States.ALL"]}]}, "End": true}}}]},
	"B": {"Type": "Task", "Resource": "book:b", "Revert": "undo:b", "Next": "C"},
	"C": {"Type": "Task", "Resource": "fail:1", "Revert": "undo:c", "Next": "D", "Catch": [{"ErrorEquals": ["States.ALL"], "Revert": {"To": "P"}, "Next": "B"}]},
	"D": {"Type": "Task", "Resource": "book:d", "Revert": false, "Next": "E"},
	"E": {"Type": "Task", "Resource": "fail:9", "Revert": "undo:e", "End": true}}}`

// TestCompensationSurvives lets the process of a machine that undoes parts of
// itself die at every commit.
func TestCompensationSurvives(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("holiday", []byte(holiday))
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
		synctest.Test(t, func(t *testing.T) {
			l := &travels{booked: map[string]bool{}}
			build := func(store backend.Store) *engine.Engine {
				return newEngine(t, m.Flow(), engine.WithTasks(l), engine.WithStore(store), engine.WithCheckpoints(policy))
			}
			run := livesUntil(t, build, func(backend.Store) { time.Sleep(time.Minute) })
			wantEnd(t, run, "FAILURE", storage.FailedOutcome, storage.UndonePart)
			if got := fmt.Sprint(slices.Sorted(maps.Keys(l.booked))); got != "[A B#2 C#2 D P#2[1]/G P#2[1]/Y]" {
				t.Errorf("left are %s", got)
			}
		})
	}
}
