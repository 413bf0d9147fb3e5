package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestHome: home says nothing needs a person, until an undo has failed and a message was sent in vain. It says of the
// run that its undo failed, and names the run of the message, but no password of the target.
func TestHome(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	h := console.New(store, console.Options{})
	home := func() string { return get(t, h, http.MethodGet, "/").Body.String() }
	if body := home(); !strings.Contains(body, "Nothing needs you now") {
		t.Errorf("nothing needs a person, and home says\n%s", body)
	}
	for id, cp := range map[string]*backend.Checkpoint{
		"stuck": {Head: backend.Head{
			State: states.FlowFailure, Outcome: storage.FailedOutcome, Undo: storage.UndoFailed, Ended: time.Now(),
			Failure: &atom.Failure{Code: "Declined", Message: "no"},
		}},
		"sender": {
			Head:   backend.Head{State: states.FlowSuccess, Outcome: storage.Succeeded, Ended: time.Now()},
			Outbox: []storage.Outgoing{{ID: "m", Target: "https://me:secret@example.com/in", Parked: true}},
		},
	} {
		if err := store.Create(t.Context(), storage.Run{ID: id, Flow: "f"}); err != nil {
			t.Fatal(err)
		}
		claim, _, err := store.Begin(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		cp.Head.Time, cp.Head.Release = time.Now(), true
		if err := store.Commit(t.Context(), claim, cp); err != nil {
			t.Fatal(err)
		}
	}
	body := home()
	for _, says := range []string{
		"needs a person, undo failed:", "Declined", "Messages that were sent in vain", ">sender</a> to ", "example.com",
	} {
		if !strings.Contains(body, says) {
			t.Errorf("home does not say %q:\n%s", says, body)
		}
	}
	if strings.Contains(body, "secret") || strings.Contains(body, "Nothing needs you now") {
		t.Errorf("home says\n%s", body)
	}
}
