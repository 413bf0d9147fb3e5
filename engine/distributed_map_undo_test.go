package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	enginetasks "github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

// A tally is a task that counts its calls for each item.
type tally struct {
	mu     sync.Mutex
	count  map[string]int
	undone int
}

func (*tally) Reverts() bool { return false }

func (*tally) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (c *tally) Execute(_ context.Context, in atom.Values) (atom.Value, error) {
	var thing struct{ ID string }
	if err := in.Input().Decode(&thing); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[thing.ID]++
	return atom.Encode(thing.ID)
}

// calls are the numbers of calls for some items, and the items that were called.
type calls struct {
	ids   []string
	calls []int
	all   map[string]int
}

func (c *tally) at(ids []string) calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := calls{ids: ids, all: c.count}
	for _, id := range ids {
		seen.calls = append(seen.calls, c.count[id])
	}
	return seen
}

// TestDistributedMapUndone undoes the runs of a Map's items: if the machine fails later, if too many items fail, before
// the Map starts again, and if the machine is cancelled, but not if it is abandoned.
//
// Guarantee (G4): Ebb undoes a distributed Map's items if the machine or too many items fail, before a retry, and if the
// machine is cancelled. If it is abandoned, nothing of its items is undone.
func TestDistributedMapUndone(t *testing.T) {
	t.Parallel()
	const undoable = `"Do": {"Type": "Task", "Resource": "local:do", "Revert": "local:undo", "Next": "Check"},
		"Check": {"Type": "Task", "Resource": "local:check", "End": true}`
	for name, c := range map[string]struct {
		fields string
		fails  func(id string, calls int) bool
		undone int
		state  states.Flow
	}{
		"later":    {`"Next": "Bad",`, func(string, int) bool { return false }, 3, states.FlowReverted},
		"too many": {`"MaxConcurrency": 1, "End": true,`, func(id string, _ int) bool { return id == "2" }, 3, states.FlowReverted},
		"once again": {
			`"MaxConcurrency": 1, "End": true, "Retry": [{"ErrorEquals": ["States.ALL"]}],`,
			func(id string, calls int) bool { return id == "2" && calls == 1 }, 3, states.FlowSuccess,
		},
		"cancelled": {`"End": true,`, nil, 3, states.FlowReverted},
		"abandoned": {`"End": true,`, nil, 0, states.FlowFailure},
	} {
		synctest.Test(t, func(t *testing.T) {
			text := `{"StartAt": "Each", "States": {"Bad": {"Type": "Fail"}, "Each": {"Type": "Map", ` + c.fields + `
				"ItemReader": {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "stock", "Key": "things.csv"},
					"ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"}},
				"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Do", "States": {` + undoable + `}}}}}`
			if name != "later" {
				text = strings.Replace(text, `"Bad": {"Type": "Fail"}, `, "", 1)
			}
			machine, err := asl.Parse("things", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			there, checks := &tally{}, map[string]int{}
			var mu sync.Mutex
			registry := &enginetasks.Registry{}
			registry.AddBucket("stock", enginetasks.Folder(inventory(t, 3)))
			registry.Add("local:do", there)
			registry.Add("local:undo", removes{there})
			registry.Add("local:check", checked(func(id string) error {
				if c.fails == nil {
					time.Sleep(time.Minute)
					return errRefused
				}
				mu.Lock()
				defer mu.Unlock()
				checks[id]++
				if c.fails(id, checks[id]) {
					return errors.New("not good")
				}
				return nil
			}))
			eng, err := engine.New(machine.Flow(), memstore.New(), engine.WithTasks(registry))
			if err != nil {
				t.Fatal(err)
			}
			if c.fails == nil {
				command := engine.Cancel("enough")
				if name == "abandoned" {
					command = engine.Abandon("enough")
				}
				time.AfterFunc(time.Second, func() {
					if err := engine.Send(t.Context(), eng.Store(), "trip", command); err != nil {
						t.Error(err)
					}
				})
			}
			res, err := eng.Run(t.Context(), "trip")
			if res == nil || res.Run.State != c.state {
				t.Fatalf("%s: ended %+v: %v", name, res, err)
			}
			there.check(t, name, c.state, c.undone)
		})
	}
}

// TestDistributedMapSuspended suspends a Map while its items run. The running items end, no others start, and another
// engine resumes the Map.
func TestDistributedMapSuspended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, done := memstore.New(), &tally{}
		registry := &enginetasks.Registry{}
		registry.AddBucket("stock", enginetasks.Folder(inventory(t, crashLines)))
		registry.Add("local:do", slow{done})
		machine := eachThing(t, `"MaxConcurrency": 2,`, doThing)
		build := func() *engine.Engine {
			eng, err := engine.New(machine.Flow(), store, engine.WithTasks(registry))
			if err != nil {
				t.Fatal(err)
			}
			return eng
		}
		eng := build()
		time.AfterFunc(time.Second/2, eng.Suspend)
		if _, err := eng.Run(t.Context(), "trip"); !errors.Is(err, engine.ErrSuspended) {
			t.Fatalf("error %v", err)
		}
		for i := range 2 {
			if run, err := store.Run(t.Context(), fmt.Sprintf("trip/Each[%d]", i)); err != nil || run.State != states.FlowSuspended && run.State != states.FlowSuccess {
				t.Errorf("the run of item %d is %v: %v", i, run.State, err)
			}
		}
		if _, err := build().Run(t.Context(), "trip"); err != nil {
			t.Fatal(err)
		}
		for id, n := range done.at(nil).all {
			if n != 1 {
				t.Errorf("thing %s was done %d times", id, n)
			}
		}
	})
}

// slow takes a second for each item.
type slow struct{ *tally }

func (s slow) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	select {
	case <-time.After(time.Second):
		return s.tally.Execute(ctx, in)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// check checks the final records.
func (c *tally) check(t *testing.T, name string, state states.Flow, undone int) {
	t.Helper()
	left := 0
	if state == states.FlowSuccess || undone == 0 {
		left = 1
	}
	for id, n := range c.at(nil).all {
		if n != left {
			t.Errorf("%s: thing %s is there %d times, want %d", name, id, n, left)
		}
	}
	if c.undone != undone {
		t.Errorf("%s: %d things were undone, want %d", name, c.undone, undone)
	}
}

// removes is a task that reverts what a tally counted.
type removes struct{ *tally }

func (r removes) Reverts() bool { return true }

func (r removes) Revert(_ context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	var report struct {
		Input struct{ ID string }
	}
	if err := in.Input().Decode(&report); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[report.Input.ID]--
	r.undone++
	return atom.Null, nil
}

// checked is a task that receives the id of an item.
type checked func(id string) error

func (checked) Reverts() bool { return false }

func (checked) Revert(context.Context, atom.Values, atom.Outcome[atom.Value]) (atom.Value, error) {
	return atom.Null, nil
}

func (f checked) Execute(_ context.Context, in atom.Values) (atom.Value, error) {
	var id string
	if err := in.Input().Decode(&id); err != nil {
		return nil, err
	}
	return atom.Null, f(id)
}
