package console_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestRunsSayWhy: the list of runs says what each run waits for, and where a run failed.
func TestRunsSayWhy(t *testing.T) {
	t.Parallel()
	paid := atom.Awaits[string]("wait", "paid", atom.Deferral{Deadline: time.Hour})
	pay := atom.Func("pay", func(context.Context, struct{}) (int, error) { return 0, atom.Errorf("Declined", "no money") })
	store := memstore.New()
	e, err := engine.New(flow.Linear("order", paid), store)
	if err != nil {
		t.Fatal(err)
	}
	fails, err := engine.New(flow.Linear("fails", pay), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "o", engine.Unload()); err == nil {
		t.Fatal("it did not wait")
	}
	if _, err := fails.Run(t.Context(), "f"); err == nil {
		t.Fatal("it did not fail")
	}
	body := get(t, console.New(store, console.Options{}), http.MethodGet, "/runs").Body.String()
	for _, want := range []string{`wait waits for the signal &#34;paid&#34;`, "pay: Declined: no money"} {
		if !strings.Contains(body, want) {
			t.Errorf("it does not say %s:\n%s", want, body)
		}
	}
}
