package console_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestHomeUnserved: home names work that has waited for a minute while no worker asked for it, and jobs whose needs no
// process offers. It says nothing of work for which a worker asks.
func TestHomeUnserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		defer func() { _ = store.Close() }()
		home := func() string {
			return get(t, console.New(store, console.Options{}), http.MethodGet, "/").Body.String()
		}
		job := storage.Job{ID: "train-1", Run: "train-1", Flow: "train", Labels: map[string]string{"gpu": "a100"}}
		if err := errors.Join(store.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}), store.PostJob(t.Context(), job)); err != nil {
			t.Fatal(err)
		}
		claim, _, err := store.Begin(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		cp := backend.Checkpoint{
			Head:   backend.Head{State: states.FlowRunning, Time: time.Now(), Release: true},
			Atoms:  []storage.Atom{{Path: "Review", State: states.TaskRunning, Live: true, Attempt: 1, StartedAt: time.Now()}},
			Tokens: []storage.Token{{ID: "t", Run: "r", Path: "Review", Queue: "review", Attempt: 1}},
		}
		if err := store.Commit(t.Context(), claim, &cp); err != nil {
			t.Fatal(err)
		}
		if body := home(); !strings.Contains(body, "Nothing needs you now") {
			t.Errorf("what has just begun needs a person:\n%s", body)
		}
		time.Sleep(2 * time.Minute)
		body := home()
		for _, says := range []string{"1 run waits for</a> ", `workers of &#34;review&#34;; no worker asks for it`, "train-1 of train", "gpu=a100"} {
			if !strings.Contains(body, says) {
				t.Errorf("home does not say %q:\n%s", says, body)
			}
		}
		request := storage.WorkRequest{Queues: []string{"review"}, Worker: "ann"}
		if _, err := store.TakeToken(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if body := home(); strings.Contains(body, "no worker asks for it") {
			t.Errorf("a worker has the work, and home says\n%s", body)
		}
	})
}
