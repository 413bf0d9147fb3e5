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

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// staffed has tasks that workers do, and the tasks of a stage.
type staffed struct{ stage parts }

func (s staffed) Task(name string) (atom.Body, error) {
	if strings.HasPrefix(name, "worker:") {
		return atom.Work(name), nil
	}
	return s.stage.Task(name)
}

// workLimit is the time limit of the work of atWork, including the wait for a worker.
const workLimit = 30 * time.Minute

// atWork are flows of a task "a", and then of work for a worker beside a task "c". stays means that nothing undoes the
// work.
var atWork = map[string]struct {
	queue string
	run   string // the run that has the work
	root  func(t *testing.T, s *stage, stays bool) flow.Node
}{
	"go": {"work", "r", func(_ *testing.T, s *stage, stays bool) flow.Node {
		work := atom.RemotePair[struct{}, struct{}]("b", "work", "unwork", atom.Timeout(workLimit))
		if stays {
			work = atom.Remote[struct{}, struct{}]("b", "work", atom.Timeout(workLimit))
		}
		return flow.Linear("f", s.atom("a"), flow.Unordered("u", work, s.atom("c")))
	}},
	"go each": {"work", "r/each", func(_ *testing.T, s *stage, stays bool) flow.Node {
		work := atom.RemotePair[string, struct{}]("b", "work", "unwork", atom.Timeout(workLimit))
		if stays {
			work = atom.Remote[string, struct{}]("b", "work", atom.Timeout(workLimit))
		}
		list := atom.Func("list", func(context.Context, struct{}) ([]string, error) { return []string{"x"}, nil }, atom.As("list"),
			atom.NoEffect())
		each := flow.Each("each", atom.NewKey[[]string]("list"), work)
		return flow.Linear("f", list, s.atom("a"), flow.Unordered("u", each, s.atom("c")))
	}},
	"go run": {"work", "r/run", func(_ *testing.T, s *stage, stays bool) flow.Node {
		work := atom.RemotePair[struct{}, struct{}]("b", "work", "unwork", atom.Timeout(workLimit))
		if stays {
			work = atom.Remote[struct{}, struct{}]("b", "work", atom.Timeout(workLimit))
		}
		run := flow.Run[struct{}, struct{}]("run", flow.Linear("inner", work))
		return flow.Linear("f", s.atom("a"), flow.Unordered("u", run, s.atom("c")))
	}},
	"asl": {"worker:work", "r", func(t *testing.T, _ *stage, stays bool) flow.Node {
		t.Helper()
		return besides(t, "worker:work", stays)
	}},
	"asl activity": {activity, "r", func(t *testing.T, _ *stage, stays bool) flow.Node {
		t.Helper()
		return besides(t, activity, stays)
	}},
	"sm4c": {"worker:work", "r", func(t *testing.T, _ *stage, stays bool) flow.Node {
		t.Helper()
		work := undoableCall("work", "not work")
		if stays {
			work = `{"type": "invokeFunction", "functionName": "work", "waitForCompletion": true}`
		}
		m, err := sm4c.Parse("m", []byte(`{"name": "m", "version": "1", "functions": [
			{"name": "a", "type": "task", "operation": "do:a"}, {"name": "not a", "type": "task", "operation": "undo:a"},
			{"name": "c", "type": "task", "operation": "do:c"}, {"name": "not c", "type": "task", "operation": "undo:c"},
			{"name": "work", "type": "task", "operation": "worker:work"},
			{"name": "not work", "type": "task", "operation": "worker:unwork"}],
			"states": [{"name": "One", "start": true, "enterAction": `+undoableCall("a", "not a")+`,
				"transitions": [{"nextState": "Two"}]},
			{"name": "Two", "enterAction": {"type": "parallel", "actions": [`+work+`, `+undoableCall("c", "not c")+`]}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.Flow()
	}},
}

// failsWhenTold returns a stage on which an atom executes until it is cancelled, or the channel is closed. Then it fails.
func failsWhenTold(name string) (*stage, chan struct{}) {
	failing := make(chan struct{})
	return &stage{do: script{name: func(ctx context.Context, _ int) error {
		select {
		case <-failing:
			return errRefused
		case <-ctx.Done():
			return ctx.Err()
		}
	}}}, failing
}

// undoWork takes and ends the undo of work of a queue, and checks which outcome it is told.
func undoWork(t *testing.T, store backend.Store, queue, want string) {
	t.Helper()
	undo := take(t, store, strings.TrimSuffix(queue, "work")+"unwork", "worker:unwork")
	if undo.Undoes == nil || undo.Undoes.Outcome != want {
		t.Errorf("taken %+v; want an undo of an outcome that is %s", undo, want)
	}
	finish(t, store, undo, nil)
}

// wantFailed waits for the end of a run, for an hour at most.
func wantFailed(t *testing.T, store backend.Store, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the run succeeded")
		}
	case <-time.After(time.Hour):
		tokens, _ := store.RunTokens(t.Context(), "r")
		t.Fatalf("the run waits for a worker: %+v", tokens)
	}
}

func besides(t *testing.T, resource string, stays bool) flow.Node {
	t.Helper()
	revert := `"Revert": "worker:unwork",`
	if stays {
		revert = ""
	}
	m, err := asl.Parse("m", []byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "do:a", "Revert": "undo:a", "ResultPath": null, "Next": "P"},
		"P": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "`+resource+`", `+revert+`
				"TimeoutSeconds": 1800, "End": true}}},
			{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "do:c", "Revert": "undo:c", "End": true}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return m.Flow()
}

// meddled is a store with an event just before or after work is removed from its queue.
type meddled struct {
	backend.Store

	mu     sync.Mutex // a run and the runs of its items commit at the same time
	before func()
	after  func() error
}

var errLost = errors.New("the connection is lost")

func (s *meddled) Commit(ctx context.Context, claim backend.Claim, cp *backend.Checkpoint) error {
	if len(cp.GiveUp) > 0 {
		s.mu.Lock()
		before := s.before
		s.before = nil
		s.mu.Unlock()
		if before != nil {
			before()
		}
	}
	return s.Store.Commit(ctx, claim, cp)
}

func (s *meddled) Token(ctx context.Context, id string) (storage.Token, error) {
	s.mu.Lock()
	after := s.after
	s.after = nil
	s.mu.Unlock()
	if after != nil {
		if err := after(); err != nil {
			return storage.Token{}, err
		}
	}
	return s.Store.Token(ctx, id)
}

// TestUntaken undoes runs while the work of one of their tasks is in its queue. If no worker has taken the work, none
// can take it afterwards, its undo is not called, and nothing of it stays done. If a worker has taken it, also just
// before, its outcome is unknown. A process that dies in between changes nothing. All this also holds for an item of a
// list, whose run has ended when the undo of its parent continues.
//
// Guarantee (Waiting and time): Work that was cancelled before a worker has taken it is not reverted, and no view shows
// it as undone or as staying done, also if its process dies meanwhile. A worker that takes it at the same moment
// counts.
// Also: `TestUntakenInDatabase`, `storagetest: TokenUses`.
func TestUntaken(t *testing.T) {
	t.Parallel()
	for language, c := range atWork {
		for name, how := range map[string]struct{ stays, taken, late, ends, fails, dies bool }{
			"cancelled":       {},
			"just before":     {taken: true, late: true},
			"just before, f":  {taken: true, late: true, fails: true},
			"just before, s":  {taken: true, late: true, stays: true},
			"ends":            {ends: true, fails: true},
			"stays":           {stays: true},
			"fails":           {fails: true},
			"fails, stays":    {fails: true, stays: true},
			"dies":            {dies: true},
			"dies, fails":     {dies: true, fails: true},
			"taken":           {taken: true},
			"taken and fails": {taken: true, fails: true},
			"taken and stays": {taken: true, stays: true},
		} {
			t.Run(language+"/"+name, func(t *testing.T) {
				inEach(t, func(t *testing.T, opts ...engine.Option) {
					s, failing := failsWhenTold("c")
					store := &meddled{Store: memstore.New()}
					switch {
					case how.dies:
						store.after = func() error { return errLost }
					case how.late:
						store.before = func() { take(t, store, c.queue) }
					case how.ends:
						store.after = func() error {
							tokens, err := store.RunTokens(t.Context(), c.run)
							if err != nil || len(tokens) != 1 {
								return fmt.Errorf("there are %d tokens, %w", len(tokens), err)
							}
							_, err = store.EndToken(t.Context(), tokens[0].ID, storage.TokenEnd{Result: atom.MustEncode(struct{}{})})
							return err
						}
					}
					eng := newEngine(t, c.root(t, s, how.stays), append(opts, engine.WithStore(store), engine.WithTasks(staffed{parts{s}}))...)
					ended := make(chan error, 1)
					drive := func() { _, err := eng.Run(t.Context(), "r"); ended <- err }
					go drive()
					synctest.Wait()
					if how.taken && !how.late {
						take(t, store, c.queue)
					}
					for step, err := range eng.Preview(t.Context(), "r", engine.Cancel("enough")) {
						if strings.HasSuffix(t.Name(), "serial_each") {
							break // the record of the queued work is not committed before c has ended
						}
						isWork := step.Path == "b" || strings.HasSuffix(step.Path, "B") || strings.Contains(step.Path, "parallel[0]")
						if err != nil || isWork && (!how.taken || how.late) {
							t.Errorf("the preview has %v, %v", step, err)
						}
					}
					if how.fails {
						close(failing)
					} else {
						go func() { _, _ = eng.Command(t.Context(), "r", engine.Cancel("enough")) }()
					}
					if how.dies {
						if err := <-ended; !errors.Is(err, errLost) {
							t.Fatalf("the process did not die: %v", err)
						}
						go drive()
					}
					wantWithdrawn(t, store, c.queue, how.taken || how.ends)
					undone := 1 // c may have had an effect
					if (how.taken || how.ends) && !how.stays {
						undoWork(t, store, c.queue, map[bool]string{true: "done", false: "unknown"}[how.ends])
						undone++
					}
					wantFailed(t, store, ended)
					wantUndo(t, store, undone, how.stays && how.taken)
					acts := s.took()
					if want := []string{"undo a done"}; !cmp.Equal(want, acts[len(acts)-1:]) {
						t.Errorf("acts are %q", acts)
					}
				})
			})
		}
	}
}

// wantWithdrawn checks that no worker can take any work, and that no token of such work is open.
func wantWithdrawn(t *testing.T, store backend.Store, queue string, taken bool) {
	t.Helper()
	synctest.Wait()
	time.Sleep(2 * time.Minute) // leases have expired
	synctest.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if w, err := engine.LeaseWork(ctx, store, storage.WorkRequest{Queues: []string{queue}, Worker: "late"}, time.Second, nil); err == nil {
		t.Errorf("taken %+v after the end of the attempt", w)
	}
	if taken {
		return
	}
	if tokens, err := store.RunTokens(t.Context(), "r"); err != nil || len(tokens) > 0 {
		t.Errorf("tokens are open: %+v, %v", tokens, err)
	}
}

// wantUndo checks how many tasks beside c are undone, and whether work may stay done.
func wantUndo(t *testing.T, store backend.Store, undone int, mayStay bool) {
	t.Helper()
	wantUndoOf(t, store, "r", undone, mayStay)
}

func wantUndoOf(t *testing.T, store backend.Store, id string, undone int, mayStay bool) {
	t.Helper()
	run, err := store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := inspect.UndoOf(t.Context(), store, &run)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.String(); strings.Contains(text, "stay") != mayStay {
		t.Errorf("%q; may stay done: %v", text, mayStay)
	}
	tree, err := inspect.Recorded(t.Context(), store, &run, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, s := range tree.Undone {
		isC := strings.HasSuffix(strings.ToLower(s.Path), "c") || strings.Contains(s.Path, "parallel[1]")
		if s.Status() == "REVERTED" && !isC {
			paths = append(paths, s.Path)
		}
	}
	if len(paths) != undone {
		t.Errorf("undone are %q; want %d", paths, undone)
	}
}
