package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestTask takes tasks in order, and ends them. One commit changes the token and stores the answer, or neither happens.
//
// Guarantee (G2): One commit takes or ends a task and stores the language's answer. A caller that disconnects before
// takes no task.
// Also: `TestTaskHeartbeat`.
func TestTask(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, store backend.Store) {
		c, ctx := newCallee(t, store), t.Context()
		take := func(wait time.Duration) (*engine.Task, error) {
			return c.TakeTask(ctx, storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}, wait, nil)
		}
		mustTake := func() *engine.Task {
			t.Helper()
			task, err := take(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return task
		}
		c.start("r")
		c.start("s")
		if _, err := take(0); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("no task: %v", err)
		}
		c.ask("r", "task", []int{0, 5, 0, 5, -1})
		c.ask("s", "task", []int{5, 7})
		if n, err := store.CountQueued(ctx, "q", 100); n != 7 || err != nil {
			t.Errorf("%d tasks wait: %v", n, err)
		}
		if n, err := store.CountQueued(ctx, "q", 3); n != 3 || err != nil {
			t.Errorf("%d of at most 3 tasks wait: %v", n, err)
		}
		var tasks []*engine.Task
		for _, want := range []string{"s t1.1", "r t1.1", "r t1.3", "s t1.0", "r t1.0", "r t1.2", "r t1.4"} {
			task := mustTake()
			if got := task.Run + " " + task.Path; got != want {
				t.Errorf("%s was taken instead of %s", got, want)
			}
			if text(task.Note) != `"taken by \"w\""` || task.Delivery != 1 || task.Attempt != 1 || task.Queue != "q" ||
				text(task.Input) != task.Path[len(task.Path)-1:] || task.Reply == nil {
				t.Errorf("%+v", task)
			}
			tasks = append(tasks, task)
		}
		if _, err := take(0); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("no task is left: %v", err)
		}

		first := tasks[0]
		before := c.run("s")
		if _, err := c.CompleteTask(ctx, first.Token, 1, atom.MustEncode("bad")); !errors.As(err, new(*engine.RefusedCall)) {
			t.Errorf("refused: %v", err)
		}
		if tok, err := store.Token(ctx, first.Token); err != nil || tok.State != storage.TokenOpen || c.run("s").Seq != before.Seq {
			t.Errorf("after a refusal: %v, %v", tok.State, err)
		}
		if _, err := c.CompleteTask(ctx, first.Token, 2, nil); !errors.Is(err, storage.ErrTaken) {
			t.Errorf("another delivery: %v", err)
		}
		reply, err := c.CompleteTask(ctx, first.Token, 1, atom.MustEncode("good"))
		if err != nil || text(reply) != "4" || c.run("s").Seq != before.Seq+1 {
			t.Errorf("%s, %v", reply, err)
		}
		if a, err := store.Atom(ctx, "s", first.Path); err != nil || a.State != states.TaskSuccess || text(a.Result.Data) != `"good"` {
			t.Errorf("%v, %s, %v", a.State, a.Result.Data, err)
		}
		if _, err := c.CompleteTask(ctx, first.Token, 1, nil); !errors.Is(err, storage.ErrGone) {
			t.Errorf("a second time: %v", err)
		}
		if _, err := c.CompleteTask(ctx, "no token", 1, nil); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("no token: %v", err)
		}
		if _, err := c.FailTask(ctx, tasks[1].Token, 0, &atom.Failure{Code: "Bad"}); err != nil {
			t.Error(err)
		}
		if a, err := store.Atom(ctx, "r", tasks[1].Path); err != nil || a.State != states.TaskFailure || a.Failure.Code != "Bad" {
			t.Errorf("%v, %v, %v", a.State, a.Failure, err)
		}

		gone, cancel := context.WithCancel(ctx)
		cancel()
		c.ask("s", "task", []int{1})
		if _, err := c.TakeTask(gone, storage.WorkRequest{Queues: []string{"q"}, Worker: "w"}, time.Minute, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a worker that has left: %v", err)
		}
		if n, err := store.CountQueued(ctx, "q", 9); n != 1 || err != nil {
			t.Errorf("%d tasks wait: %v", n, err)
		}
		taken := make(chan string, 2)
		for range 2 {
			go func() {
				task, err := take(time.Minute)
				if err != nil {
					t.Error(err)
					task = &engine.Task{}
				}
				taken <- task.Path
			}()
		}
		one := <-taken
		c.ask("r", "task", []int{0})
		if two := <-taken; one == two {
			t.Errorf("%s was taken twice", one)
		}
	})
}

// TestTaskHeartbeat lets workers send heartbeats, and be asked to give up. If the heartbeats stop, the failure has
// their last details.
func TestTaskHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		c, ctx := newCallee(t, store), t.Context()
		c.start("r")
		c.ask("r", "task", []int{0})
		task, err := c.TakeTask(ctx, storage.WorkRequest{Queues: []string{"q"}}, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		beat := func(details string, want bool) {
			t.Helper()
			time.Sleep(50 * time.Second)
			var value atom.Value
			if details != "" {
				value = atom.MustEncode(details)
			}
			if giveUp, err := c.Heartbeat(ctx, task.Token, task.Delivery, value); giveUp != want || err != nil {
				t.Errorf("%v, %v; want %v", giveUp, err, want)
			}
		}
		serving, stop := context.WithCancel(ctx)
		over := make(chan error, 1)
		go func() { over <- c.Serve(serving) }()
		beat("a third", false)
		c.ask("r", "give up", nil)
		beat("half", true)
		beat("", true)
		if _, err := c.Heartbeat(ctx, task.Token, 7, nil); !errors.Is(err, storage.ErrTaken) {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		a, err := store.Atom(ctx, "r", task.Path)
		if err != nil || a.Failure == nil || a.Failure.Code != atom.CodeHeartbeatLost || text(a.Failure.Details) != `"half"` {
			t.Errorf("%+v, %v", a.Failure, err)
		}
		if _, err := c.Heartbeat(ctx, task.Token, task.Delivery, nil); !errors.Is(err, storage.ErrGone) {
			t.Error(err)
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
