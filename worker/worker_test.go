package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// direct passes requests to a handler without a network. The first ones of each path are lost.
type direct struct {
	handler http.Handler

	mu   sync.Mutex
	lose map[string]int
}

// loses reports whether a request is lost.
func (d *direct) loses(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for end, n := range d.lose {
		if n > 0 && strings.HasSuffix(path, end) {
			d.lose[end]--
			return true
		}
	}
	return false
}

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.loses(r.URL.Path) {
		return nil, errors.New("lost")
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// play lets a worker do the tasks of one run of a flow, over a network that loses
// requests, until that has ended.
func play(t *testing.T, root flow.Node, lose map[string]int, do map[string]worker.Func,
	meanwhile func(backend.Store),
) storage.Run {
	t.Helper()
	store := memstore.New()
	eng, err := engine.New(root, store)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w := worker.Worker{URL: "http://ebb/", Name: "w", Do: do, Lease: 9 * time.Second}
	w.Client = &http.Client{Transport: &direct{handler: workers.Handler(ctx, store), lose: lose}}
	ended := make(chan error, 2)
	go func() { ended <- eng.Serve(ctx) }()
	go func() { ended <- w.Run(ctx) }()
	if err := eng.Start(ctx, "r"); err != nil {
		t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile(store)
	}
	for {
		run, err := store.Run(ctx, "r")
		if err != nil {
			t.Fatal(err)
		}
		if run.State.Ended() {
			stop()
			for range 2 {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
			return run
		}
		time.Sleep(time.Second)
	}
}

// TestWorker: tasks are done and undone although requests are lost, and kept for longer than their lease. Errors and
// panics are failures with their codes.
func TestWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var did []string
		do := map[string]worker.Func{
			"book": func(ctx context.Context, task *worker.Task) (any, error) {
				did = append(did, fmt.Sprint("book ", task.Key, " ", task.Attempt, " ", task.Delivery))
				time.Sleep(time.Minute)
				return map[string]int{"seat": 7}, ctx.Err()
			},
			"pay": func(_ context.Context, task *worker.Task) (any, error) {
				did = append(did, fmt.Sprint("pay ", string(task.Input), " ", task.Attempt))
				switch task.Attempt {
				case 1:
					panic("no")
				case 2:
					return func() {}, nil // which is no JSON
				case 3:
					return nil, fmt.Errorf("the bank says: %w", worker.Errorf("Busy", "later"))
				}
				return nil, worker.Final(worker.Errorf("NoMoney", "never"))
			},
			"unbook": func(_ context.Context, task *worker.Task) (any, error) {
				u := task.Revert
				did = append(did, fmt.Sprint("unbook ", task.Key, " ", u.Key, " ", u.Outcome, " ", string(u.Result), " ",
					u.Failures))
				return nil, nil //nolint:nilnil // nothing
			},
		}
		root := flow.Linear("trip",
			atom.RemotePair[struct{}, struct {
				Seat int `json:"seat"`
			}]("book", "book", "unbook"),
			atom.Remote[struct {
				Seat int `json:"seat"`
			}, struct{}]("pay", "pay", atom.Attempts(9, atom.Constant(time.Second))))
		lose := map[string]int{"/poll": 2, "/heartbeat": 1, "/complete": 2, "/fail": 2}
		run := play(t, root, lose, do, nil)
		want := []string{
			"book r/book/0 1 1", `pay {"seat":7} 1`, `pay {"seat":7} 2`, `pay {"seat":7} 3`, `pay {"seat":7} 4`,
			`unbook r/book/0/revert r/book/0 done {"seat":7} [{pay NoMoney never}]`,
		}
		if diff := cmp.Diff(want, did); diff != "" || run.State.String() != "REVERTED" {
			t.Errorf("it is %v (-want +got):\n%s", run.State, diff)
		}
	})
}

// TestLetGo: the Func of a task that was cancelled, or cannot be kept, learns of it.
func TestLetGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose int
		send bool
		want int // calls
	}{"cancelled": {0, true, 1}, "cut off": {9, false, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				do := map[string]worker.Func{"do": func(ctx context.Context, task *worker.Task) (any, error) {
					if calls++; task.Delivery == 1 {
						<-ctx.Done()
						return "stale", nil
					}
					return json.RawMessage(`"fresh"`), nil
				}}
				run := play(t, flow.Linear("f", atom.Remote[struct{}, string]("do", "do", atom.As("x"))),
					map[string]int{"/heartbeat": c.lose}, do,
					func(store backend.Store) {
						synctest.Wait()
						if !c.send {
							return
						}
						if err := engine.Send(t.Context(), store, "r", engine.Cancel("no more")); err != nil {
							t.Error(err)
						}
					})
				if want := map[bool]string{true: "FAILURE", false: "SUCCESS"}[c.send]; calls != c.want ||
					run.State.String() != want {
					t.Errorf("called %d times, and it is %v", calls, run.State)
				}
			})
		})
	}
}

// TestRefused: a worker that the server refuses ends, and says why.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := worker.Worker{URL: "http://ebb", Client: &http.Client{Transport: &direct{handler: workers.Handler(t.Context(),
		memstore.New())}}}
	refused, ok := errors.AsType[*worker.RefusedError](w.Run(t.Context()))
	if !ok || refused.Status != http.StatusBadRequest ||
		refused.Error() != `worker: refused (400 invalid): "kinds" names 1 to 100 kinds of work` {
		t.Errorf("it ended with %v", refused)
	}
	w.URL = "no scheme"
	if err := w.Run(t.Context()); !errors.As(err, new(*worker.RefusedError)) {
		t.Errorf("it ended with %v", err)
	}
}

// TestTooLong: a worker learns by when it must end a task, and that it is too late.
func TestTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left, took time.Duration
		do := map[string]worker.Func{"do": func(ctx context.Context, task *worker.Task) (any, error) {
			begun := time.Now()
			left = task.Deadline.Sub(begun)
			<-ctx.Done()
			took = time.Since(begun)
			return "late", nil
		}}
		root := flow.Linear("f", atom.Remote[struct{}, string]("do", "do", atom.As("x"), atom.Timeout(time.Hour),
			atom.StartToClose(20*time.Second)))
		run := play(t, root, nil, do, nil)
		if left != 20*time.Second || took < left || took > 30*time.Second || run.State.String() != "FAILURE" ||
			run.Failure.Code != atom.CodeStartToClose {
			t.Errorf("it had %v, and was told after %v; the run is %v, with %v", left, took, run.State, run.Failure)
		}
	})
}

// TestTyped: a typed function gets its input, or is not called.
func TestTyped(t *testing.T) {
	t.Parallel()
	type size struct{ GB int }
	undone := 0
	do := func(_ context.Context, t *worker.Task, in size) (string, error) {
		return fmt.Sprint(t.Kind, in.GB), nil
	}
	f := worker.Typed(do, func(_ context.Context, _ *worker.Task, in size) error { undone = in.GB; return nil })
	call := func(f worker.Func, input string, revert *worker.Revert) (any, error) {
		return f(t.Context(), &worker.Task{Kind: "disk", Input: json.RawMessage(input), Revert: revert})
	}
	if result, err := call(f, `{"GB": 7}`, nil); result != "disk7" || err != nil {
		t.Errorf("got %v, %v", result, err)
	}
	if _, err := call(f, `{"GB": 8}`, &worker.Revert{}); err != nil || undone != 8 {
		t.Errorf("undone %d, %v", undone, err)
	}
	if result, err := call(worker.Typed(do, nil), `{"GB": 9}`, &worker.Revert{}); result != nil || err != nil {
		t.Errorf("with nothing to undo: %v, %v", result, err)
	}
	_, err := call(f, `{"GB": "7"}`, nil)
	coded, hasCode := errors.AsType[interface {
		error
		ErrorCode() string
	}](err)
	final, isFinal := errors.AsType[interface {
		error
		Final() bool
	}](err)
	if !hasCode || coded.ErrorCode() != "Ebb.BadInput" || !isFinal || !final.Final() {
		t.Errorf("an input of another type: %v", err)
	}
}
