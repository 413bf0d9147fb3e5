package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// parts lets a stage implement the tasks of a language.
type parts struct{ s *stage }

func (p parts) Task(name string) (atom.Body, error) {
	return part{p.s, strings.ReplaceAll(strings.TrimPrefix(name, "do:"), ":", " ")}, nil
}

type part struct {
	s    *stage
	name string
}

func (p part) Reverts() bool { return false }

func (p part) Execute(ctx context.Context, _ atom.Values) (atom.Value, error) {
	n := p.s.act(p.name)
	if do := p.s.do[p.name]; do != nil {
		return atom.Null, do(ctx, n)
	}
	return atom.Null, nil
}

func (p part) Revert(ctx context.Context, _ atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	act := p.name
	if !did.Unknown() {
		act += " " + did.String()
	}
	n := p.s.act(act)
	if undo := p.s.undo[p.name]; undo != nil {
		return atom.Null, undo(ctx, n)
	}
	return atom.Null, nil
}

const trip = `{"StartAt":"A","States":{
	"A":{"Type":"Task","Resource":"do:a","Revert":{"Resource":"undo:a"},"Next":"P"},
	"P":{"Type":"Parallel","Next":"D","Branches":[
		{"StartAt":"B","States":{"B":{"Type":"Task","Resource":"do:b","Revert":{"Resource":"undo:b"},"Next":"W"},"W":{"Type":"Wait","Seconds":60,"End":true}}},
		{"StartAt":"C","States":{"C":{"Type":"Task","Resource":"do:c","Revert":{"Resource":"undo:c"},"End":true}}}]},
	"D":{"Type":"Task","Resource":"do:d","Revert":{"Resource":"undo:d"},"End":true}}}`

func newTrip(t *testing.T, s *stage, opts ...engine.Option) *engine.Engine {
	t.Helper()
	m, err := asl.Parse("trip", []byte(trip))
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(t, m.Flow(), append(opts, engine.WithTasks(parts{s}))...)
}

// TestCancelGrowing cancels a state machine while it waits in a branch.
func TestCancelGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"c": func(context.Context, int) error { time.Sleep(time.Second); return nil }}}
		eng := newTrip(t, s, opts...)
		go func() {
			time.Sleep(30 * time.Second)
			_, _ = eng.Command(t.Context(), "r", engine.Cancel("enough"))
		}()
		res, err := eng.Run(t.Context(), "r")
		if e := reverted(t, err); e.Failures[0].Message != "enough" {
			t.Errorf("it was undone because of %v", e.Failures[0])
		}
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		if acts := s.took(); len(acts) != 6 || acts[0] != "a" || strings.Join(acts[3:], ",") != "undo c done,undo b done,undo a done" {
			t.Errorf("acts %v", acts)
		}
		if last := lastEvent(t, eng.Store(), "r"); last != "ExecutionAborted" {
			t.Errorf("the last event is %s", last)
		}
	})
}

// TestAbandonGrowing ends a state machine in the middle of a task, and leaves its effects.
func TestAbandonGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{do: script{"d": untilCancelled}}
		eng := newTrip(t, s, opts...)
		go func() {
			time.Sleep(90 * time.Second)
			_, _ = eng.Command(t.Context(), "r", engine.Abandon("enough"))
		}()
		res, err := eng.Run(t.Context(), "r")
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.Cancelled, storage.UndoNone)
		if acts := s.took(); len(acts) != 4 || acts[3] != "d" {
			t.Errorf("acts %v", acts)
		}
		if last := lastEvent(t, eng.Store(), "r"); last != "ExecutionAborted" {
			t.Errorf("the last event is %s", last)
		}
	})
}

// TestUndoGrowing undoes a state machine that has succeeded, completely and down to one of its tasks.
func TestUndoGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		s := &stage{}
		eng := newTrip(t, s, opts...)
		for _, id := range []string{"all", "part"} {
			if _, err := eng.Run(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		s.took()
		undone, err := previewed(t, eng, "part", engine.RevertTo("P[0]/B"))
		if err != nil {
			t.Fatal(err)
		}
		if undone[0] != "D" || len(undone) > 2 {
			t.Fatalf("preview: %v", undone)
		}
		res, err := eng.Command(t.Context(), "part", engine.RevertTo(undone[len(undone)-1]))
		failed(t, err)
		wantEnd(t, res, "FAILURE", storage.Cancelled, storage.UndonePart)
		if acts := s.took(); len(acts) != len(undone)-1 {
			t.Errorf("undone were %v", acts)
		}
		res, err = eng.Command(t.Context(), "all", engine.Cancel(""))
		reverted(t, err)
		wantEnd(t, res, "REVERTED", storage.Cancelled, storage.UndoneAll)
		if acts := s.took(); len(acts) != 4 || acts[0] != "undo d done" || acts[3] != "undo a done" {
			t.Errorf("undone were %v", acts)
		}
		for _, o := range []engine.Command{engine.RetryFrom("A"), engine.RevertTo("A"), engine.RevertTo("X"), engine.Skip("A")} {
			if _, err := eng.Command(t.Context(), "all", o); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestMendGrowing continues the undo of a state machine after it stopped.
func TestMendGrowing(t *testing.T) {
	inEach(t, func(t *testing.T, opts ...engine.Option) {
		var calls atomic.Int32
		s := &stage{do: script{"d": alwaysFails}, undo: script{"undo a": func(context.Context, int) error {
			if calls.Add(1) == 1 {
				return errRefused
			}
			return nil
		}}}
		eng := newTrip(t, s, opts...)
		for id, o := range map[string]engine.Command{"again": engine.RetryRevert(""), "skip": engine.Skip("")} {
			calls.Store(0)
			s.calls = nil
			res, err := eng.Run(t.Context(), id)
			failed(t, err)
			wantEnd(t, res, "FAILURE", storage.FailedOutcome, storage.UndoFailed)
			s.took()
			res, err = eng.Command(t.Context(), id, o)
			reverted(t, err)
			wantEnd(t, res, "REVERTED", storage.FailedOutcome, storage.UndoneAll)
			if id == "again" {
				wantActs(t, s, "undo a done")
			} else {
				wantActs(t, s)
			}
		}
	})
}

func lastEvent(t *testing.T, store backend.Store, run string) string {
	t.Helper()
	history, err := store.History(t.Context(), run, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for i := range history {
		if history[i].Kind == storage.EntryEvent {
			last = history[i].Type
		}
	}
	return last
}

// TestUndoGrowingFurther undoes a state machine down to one of its tasks, then down to an earlier one, then completely.
// Each time, the process dies after one of the commits, which changes nothing.
func TestUndoGrowingFurther(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse("steps", []byte(`{"StartAt":"A","States":{
		"A":{"Type":"Task","Resource":"do:a","Revert":{"Resource":"undo:a"},"Next":"B"},
		"B":{"Type":"Task","Resource":"do:b","Revert":{"Resource":"undo:b"},"Next":"C"},
		"C":{"Type":"Task","Resource":"do:c","Revert":{"Resource":"undo:c"},"End":true}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
		for die, died := 0, true; died; die++ {
			s := &stage{}
			memory := memstore.New()
			on := func(store backend.Store) *engine.Engine {
				return newEngine(t, m.Flow(), engine.WithTasks(parts{s}), engine.WithStore(store), engine.WithCheckpoints(policy))
			}
			if _, err := on(memory).Run(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			died = false
			send := func(o engine.Command) (*engine.Result, error) {
				res, err := on(dies(memory, die)).Command(t.Context(), "r", o)
				if !errors.Is(err, errDied) {
					return res, err
				}
				died = true
				next := memory.Join()
				_ = memory.Close()
				memory = next
				return on(memory).Run(t.Context(), "r")
			}
			for _, step := range []struct {
				command engine.Command
				left    int64
				state   string
			}{{engine.RevertTo("B"), 2, "FAILURE"}, {engine.RevertTo("A"), 1, "FAILURE"}, {engine.Cancel(""), 0, "REVERTED"}} {
				res, err := send(step.command)
				if res == nil {
					t.Fatal(err)
				}
				if res.Run.State.String() != step.state || res.Run.Undos != step.left {
					t.Fatalf("death after commit %d: %v, %d left: %v", die, res.Run.State, res.Run.Undos, err)
				}
			}
			wantStates(t, memory, "r", "/ REVERTED", "A REVERTED", "B REVERTED", "C REVERTED")
		}
	}
}
