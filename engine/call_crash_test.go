package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestCallCrash lets the process die at and before every commit of calls. Acknowledged calls are stored, others are
// stored completely or not at all, and the events have no gap.
func TestCallCrash(t *testing.T) {
	t.Parallel()
	for after := range 8 {
		for _, lost := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				records := memstore.New()
				process := records.Join()
				store := dies(process, after)
				store.lost = lost
				c, ctx := newCallee(t, store), t.Context()
				c.start("r")
				acknowledged := 0
				say := func(reply atom.Value, err error) bool {
					if err == nil {
						acknowledged++
						if text(reply) != fmt.Sprint(acknowledged) {
							t.Errorf("call %d was answered with %s", acknowledged, reply)
						}
					} else if !errors.As(err, new(*engine.StoreError)) {
						t.Error(err)
					}
					return err == nil
				}
				var task *engine.Task
				ok := say(c.Call(ctx, "r", "task", atom.MustEncode([]int{0}))) && say(func() (_ atom.Value, err error) {
					if task, err = c.TakeTask(ctx, storage.WorkRequest{Queues: []string{"q"}}, 0, nil); err != nil {
						return nil, err
					}
					return task.Reply, nil
				}()) && say(c.CompleteTask(ctx, task.Token, 1, atom.MustEncode("x"))) &&
					say(c.Call(ctx, "r", "add", nil))
				if died := !ok; died != (after < 4) {
					t.Errorf("died: %v", died)
				}
				if err := process.Close(); err != nil {
					t.Error(err)
				}
				next := newCallee(t, records)
				run := next.run("r")
				n := 0
				_ = run.Memory.Decode(&n)
				want := acknowledged
				if !ok && lost {
					want++
				}
				if n != want || (run.Seq > 0 && run.Events != int64(n)+1) {
					t.Errorf("%d acknowledged, %d numbered, %d events", acknowledged, n, run.Events)
				}
				if task != nil {
					tok, err := records.Token(ctx, task.Token)
					if ended := n >= 3; err != nil || (tok.State == storage.TokenCompleted) != ended || tok.Take != 1 {
						t.Errorf("after %d calls the token is %v, taken %d times: %v", n, tok.State, tok.Take, err)
					}
				}
				if got := next.ask("r", "add", nil); got != n+1 {
					t.Errorf("the next call is %d after %d", got, n)
				}
			})
		}
	}
}
