package engine_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// undoableCall returns an action that calls a function, with another one as its undo.
func undoableCall(do, undo string) string {
	return `{"type": "invokeFunction", "functionName": "` + do + `", "waitForCompletion": true, "revert": {"functionName": "` + undo + `"}}`
}

const sagaFunctions = `"functions": [
 {"name": "a", "type": "task", "operation": "do:a"}, {"name": "not a", "type": "task", "operation": "undo:a"},
 {"name": "b", "type": "task", "operation": "do:b"}, {"name": "not b", "type": "task", "operation": "undo:b"},
 {"name": "c", "type": "task", "operation": "do:c"}, {"name": "not c", "type": "task", "operation": "undo:c"},
 {"name": "fail", "type": "task", "operation": "fail:z"}, {"name": "not z", "type": "task", "operation": "undo:z"}]`

var (
	saga = `{"name": "saga", "version": "1", ` + sagaFunctions + `, "states": [
 {"name": "One", "start": true, "enterAction": ` + undoableCall("a", "not a") + `, "transitions": [{"nextState": "Two",
  "action": {"type": "parallel", "actions": [` + undoableCall("b", "not b") + `,
   {"type": "invokeSubflow", "subflowName": "inner", "waitForCompletion": true, "revert": true}]}}]},
 {"name": "Two", "enterAction": ` + undoableCall("fail", "not z") + `}]}`

	sagaInner = `{"name": "inner", "version": "1", ` + sagaFunctions + `, "states": [{"name": "In", "start": true, "enterAction": ` + undoableCall("c", "not c") + `}]}`
)

// TestSagaInSM4C lets a machine fail whose calls and subflow can be undone, with a death at each commit. In the end no
// effect remains, and the first effect was undone last.
//
// Guarantee (State Machines For Cloud): If the machine fails, Ebb undoes its actions in reverse order down to a pivot,
// with a death at each commit.
// Also: `TestSagaPivot`.
func TestSagaInSM4C(t *testing.T) {
	t.Parallel()
	flows := machineFlows{}
	for name, text := range map[string]string{"saga": saga, "inner": sagaInner} {
		m, err := sm4c.Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		flows[name] = m
	}
	deaths := 0
	for _, after := range []bool{false, true} {
		for commit := 1; ; commit++ {
			at := &death{commit: commit, after: after}
			synctest.Test(t, func(t *testing.T) { sagaWithDeath(t, flows, at) })
			if at.commit > 0 {
				break
			}
			deaths++
		}
	}
	t.Logf("%d deaths", deaths)
}

func sagaWithDeath(t *testing.T, flows machineFlows, at *death) {
	t.Helper()
	w := &world{}
	where := inMemory()
	where0 := *at
	for {
		store, err := where.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, die := context.WithCancel(t.Context())
		d := once(at, store, die)
		eng, err := engine.New(flows["saga"].Flow(), d, engine.WithTasks(w), engine.WithCatalog(flows))
		if err != nil {
			t.Fatal(err)
		}
		_, err = eng.Run(ctx, "r", engine.Input(atom.FromJSON([]byte("{}"))))
		die()
		if closing := where.died(store); closing != nil {
			t.Fatal(closing)
		}
		if d.dead() {
			continue
		}
		if _, ok := errors.AsType[*engine.RevertedError](err); !ok {
			t.Fatalf("death %+v: %v; want it reverted", where0, err)
		}
		break
	}
	if left := slices.Collect(maps.Keys(w.there)); len(left) > 0 {
		t.Errorf("death %+v: %v is left in the world: %v", where0, left, w.calls)
	}
	last := func(what string) int {
		for i, call := range slices.Backward(w.calls) {
			if strings.HasPrefix(call, what) {
				return i
			}
		}
		return -1
	}
	if a, b, c, z := last("undo a"), last("undo b"), last("undo c"), last("undo z"); z < 0 || b < z || c < z || a < b || a < c {
		t.Errorf("death %+v: undone in the order %v", where0, w.calls)
	}
}

// TestSagaPivot lets a machine fail behind a point of no return. Only actions after it are undone.
func TestSagaPivot(t *testing.T) {
	t.Parallel()
	text := `{"name": "m", "version": "1", ` + sagaFunctions + `, "states": [
 {"name": "One", "start": true, "enterAction": {"type": "sequence", "actions": [` + undoableCall("a", "not a") + `,
   {"type": "invokeFunction", "functionName": "b", "waitForCompletion": true, "revert": false}, ` + undoableCall("c", "not c") + `]}, "transitions": [{"nextState": "Two"}]},
 {"name": "Two", "enterAction": ` + undoableCall("fail", "not z") + `}]}`
	m, err := sm4c.Parse("m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{}
	eng, err := engine.New(m.Flow(), memstore.New(), engine.WithTasks(w))
	if err != nil {
		t.Fatal(err)
	}
	res, err := eng.Run(t.Context(), "r")
	if res == nil {
		t.Fatal(err)
	}
	calls := strings.Join(w.calls, ", ")
	if calls != "do a@0, do b@0, do c@0, fail z@0, undo z@0, undo c@0" {
		t.Errorf("called were %s", calls)
	}
	if res.Run.Undo == storage.UndoNone {
		t.Errorf("nothing was undone: %v", err)
	}
}
