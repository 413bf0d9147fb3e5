package workers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage/memstore"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestTask: a worker finds, keeps and completes a task, and gets the same answer when it
// completes the task again. The run has the result.
func TestTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, memstore.New(), once())
		defer p.stop()
		if status, said := p.ask("poll", `{"kinds":["do"],"wait_seconds":60}`); status != http.StatusNoContent || said != nil {
			t.Errorf("without work: %d %v", status, said)
		}
		p.start(t, "r", engine.Trace(traceparent))
		status, task := p.ask("poll", `{"kinds":["other","do"],"worker":"w","lease_seconds":10}`)
		id, _ := task["id"].(string)
		delete(task, "id")
		want := map[string]any{
			"kind": "do", "key": "r/task/0", "run": "r", "path": "task", "attempt": 1., "delivery": 1.,
			"input": map[string]any{}, "lease_seconds": 10., "traceparent": traceparent,
		}
		if diff := cmp.Diff(want, task); status != http.StatusOK || diff != "" {
			t.Errorf("%d, the task (-want +got):\n%s", status, diff)
		}
		if status, _ := p.ask("poll", `{"kinds":["do"],"wait_seconds":0}`); status != http.StatusNoContent {
			t.Errorf("it was given twice: %d", status)
		}
		if status, said := p.ask(id+"/heartbeat", `{"lease_seconds":20}`); status != http.StatusOK || said["lease_seconds"] != 20. {
			t.Errorf("the heartbeat: %d %v", status, said)
		}
		for range 2 { // the answer may be lost
			if status, said := p.ask(id+"/complete", `{"result":{"n":7}}`); status != http.StatusOK {
				t.Errorf("completed: %d %v", status, said)
			}
		}
		if run := p.ended(t, "r"); run.State != states.FlowSuccess {
			t.Errorf("it ended %v", run.State)
		}
		for path, body := range map[string]string{"complete": `{"result":8}`, "heartbeat": ``, "fail": `{}`} {
			if status, said := p.ask(id+"/"+path, body); status != http.StatusConflict || said["error"] != "ended" {
				t.Errorf("%s afterwards: %d %v", path, status, said)
			}
		}
	})
}

// TestCancelled: if a run was cancelled, the answer to the heartbeat of the worker that has its task says so.
func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, memstore.New(), once())
		defer p.stop()
		p.start(t, "r")
		_, task := p.ask("poll", `{"kinds":["do"]}`)
		if err := engine.Send(t.Context(), p.store, "r", engine.Cancel("no more")); err != nil {
			t.Fatal(err)
		}
		p.ended(t, "r")
		status, said := p.ask(fmt.Sprint(task["id"], "/heartbeat"), ``)
		if status != http.StatusConflict || said["error"] != "cancelled" || !strings.Contains(fmt.Sprint(said["message"]), "cancelled") {
			t.Errorf("the heartbeat: %d %v", status, said)
		}
	})
}

// TestFail: a failure is tried again as the task's policy says, unless the worker
// says that it is of no use; a time limit ends the attempt, too.
func TestFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, memstore.New(), once(atom.Attempts(5, atom.Constant(time.Second)), atom.Timeout(time.Minute)))
		defer p.stop()
		p.start(t, "r")
		poll := func() string {
			_, task := p.ask("poll", `{"kinds":["do"]}`)
			if task["deadline"] == nil {
				t.Errorf("a task without a deadline: %v", task)
			}
			return fmt.Sprint(task["id"])
		}
		first := poll()
		for range 2 {
			if status, said := p.ask(first+"/fail", `{"code":"Busy","message":"later","details":{"in":5}}`); status != http.StatusOK {
				t.Errorf("failed: %d %v", status, said)
			}
		}
		second := poll()
		time.Sleep(2 * time.Minute)
		if status, said := p.ask(second+"/complete", `{}`); status != http.StatusConflict || said["error"] != "ended" ||
			!strings.Contains(fmt.Sprint(said["message"]), "Timeout") {
			t.Errorf("too late: %d %v", status, said)
		}
		if status, said := p.ask(poll()+"/fail", `{"code":"NoMoney","retryable":false}`); status != http.StatusOK {
			t.Errorf("failed for good: %d %v", status, said)
		}
		p.ended(t, "r")
		if a, err := p.store.Atom(t.Context(), "r", "task"); err != nil || a.Attempt != 3 || a.Failure == nil || a.Failure.Code != "NoMoney" || !a.Failure.Final {
			t.Errorf("the task is %+v (%v)", a, err)
		}
	})
}

// TestStopping: when the server must stop, a worker that waits for work gets none. A worker that asks then learns that
// the server stops. Workers can still end their tasks.
func TestStopping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := open(t, memstore.New(), once())
		defer p.stop()
		p.start(t, "r")
		_, task := p.ask("poll", `{"kinds":["do"]}`)
		ctx, stop := context.WithCancel(t.Context())
		p.handler = workers.Handler(ctx, p.store)
		time.AfterFunc(5*time.Second, stop)
		began := time.Now()
		if status, said := p.ask("poll", `{"kinds":["do"]}`); status != http.StatusNoContent || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %d %v", time.Since(began), status, said)
		}
		if status, said := p.ask("poll", `{"kinds":["do"]}`); status != http.StatusServiceUnavailable || said["error"] != "stopping" {
			t.Errorf("then: %d %v", status, said)
		}
		if status, said := p.ask(fmt.Sprint(task["id"], "/complete"), `{}`); status != http.StatusOK {
			t.Errorf("completed: %d %v", status, said)
		}
	})
}

// TestMaxPolls: at most MaxPolls workers wait at once.
func TestMaxPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &place{handler: workers.Handler(t.Context(), memstore.New())}
		for range workers.MaxPolls {
			go p.ask("poll", `{"kinds":["do"]}`)
		}
		synctest.Wait()
		if status, said := p.ask("poll", `{"kinds":["do"]}`); status != http.StatusServiceUnavailable || said["error"] != "busy" {
			t.Errorf("one more: %d %v", status, said)
		}
		time.Sleep(time.Minute)
		if status, _ := p.ask("poll", `{"kinds":["do"]}`); status != http.StatusNoContent {
			t.Errorf("when they have gone: %d", status)
		}
	})
}

// TestRefused: wrong requests are refused, with what to do instead.
//
// Attack (CloudEvents and workers): Forged task IDs, also with SQL or a callback's token; replays, late heartbeats, odd
// numbers, duplicate or missing members.
// Result: 400, 404 or 409, and nothing changes. /tasks/ cannot complete a task token.
// Also: ; others by hand.
func TestRefused(t *testing.T) {
	t.Parallel()
	p := &place{handler: workers.Handler(t.Context(), memstore.New())}
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"poll", `{`, 400, "the body is not valid"},
		{"poll", `{"kinds": ["a"], "Kinds": ["b"]}`, 400, "the body has kinds twice"},
		{"poll", `[]`, 400, "the body is not valid"},
		{"poll", ``, 400, `"kinds" names 1 to 100`},
		{"poll", `{"kinds":[""]}`, 400, "1 to 256 bytes"},
		{"poll", `{"kinds":["` + long + `"]}`, 400, "1 to 256 bytes"},
		{"poll", `{"kinds":["a"],"worker":"` + long + `"}`, 400, "at most 256 bytes"},
		{"poll", `{"kinds":["a"],"wait_seconds":61}`, 400, `"wait_seconds" is 0 to 60`},
		{"poll", `{"kinds":["a"],"lease_seconds":0.5}`, 400, `"lease_seconds" is 1 to 43200`},
		{"none/heartbeat", ``, 400, "no id of a task"},
		{"none.0/complete", ``, 400, "no id of a task"},
		{"none.x/fail", ``, 400, "no id of a task"},
		{"none.+1/complete", ``, 400, "no id of a task"}, // an id has one form
		{"none.01/complete", ``, 400, "no id of a task"},
		{"none.1/heartbeat", `{"lease_seconds":1e9}`, 400, `"lease_seconds"`},
		{"none.1/heartbeat", ``, 404, "no such task"},
		{"none.1/complete", ``, 404, "no such task"},
		{"none.1/fail", `{"code":"` + long + `"}`, 400, `"code"`},
		{"none.1/fail", `{"message":"` + strings.Repeat(long, 200) + `"}`, 400, `"message"`},
		{"none.1/fail", `{"details":"` + strings.Repeat(long, 600) + `"}`, 400, `"details"`},
		{"none.1/fail", ``, 404, "no such task"},
		{"none.1/complete", `{"result":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "at most 1048576 bytes"},
		{"none.1/complete", strings.Repeat("x", 2<<20), 413, "at most"},
	} {
		status, said := p.ask(c.path, c.body)
		if message := fmt.Sprint(said["message"]); status != c.status || !strings.Contains(message, c.says) {
			t.Errorf("%s %.60s: %d %s, want %d with %q", c.path, c.body, status, message, c.status, c.says)
		}
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodGet, "/tasks/poll", nil),
		httptest.NewRequest(http.MethodPost, "/tasks/poll", strings.NewReader(`{"kinds":["a"]}`)),
	} {
		w := httptest.NewRecorder()
		p.handler.ServeHTTP(w, r)
		if want := map[string]int{http.MethodGet: 405, http.MethodPost: 415}[r.Method]; w.Code != want {
			t.Errorf("%s without a type: %d", r.Method, w.Code)
		}
	}
}
