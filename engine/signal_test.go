package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestSignal: a signal is checked when it is sent. What was refused leaves the run waiting, and a signal that is sent
// again under its key counts once.
func TestSignal(t *testing.T) {
	t.Parallel()
	type approval struct {
		By string `json:"by"`
	}
	store := memstore.New()
	eng := newEngine(t, atom.Awaits[approval]("approve", "approved", atom.Deferral{Deadline: time.Hour}), engine.WithStore(store))
	if err := eng.Start(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	send := func(run, name string, value any) error {
		return engine.SignalOnce(t.Context(), store, run, "k", name, value)
	}
	for _, c := range []struct {
		run, name string
		value     any
		kind      error
		text      string
	}{
		{"r", "approved", 7, storage.ErrInvalid, `{"by":"…"}`},
		{"r", "approved", nil, storage.ErrInvalid, `{"by":"…"}`},
		{"r", "", approval{"Ann"}, storage.ErrInvalid, "the name of a signal"},
		{"r", "approved", func() {}, nil, `the value of signal "approved"`},
		{"other", "approved", approval{"Ann"}, storage.ErrNotFound, `run "other"`},
	} {
		err := send(c.run, c.name, c.value)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) ||
			!strings.Contains(strings.ReplaceAll(err.Error(), " ", ""), strings.ReplaceAll(c.text, " ", "")) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
	for range 2 {
		if err := send("r", "approved", approval{"Ann"}); err != nil {
			t.Error(err)
		}
	}
	res, err := eng.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if by, err := engine.Get(res, atom.NewKey[string]("by")); by != "Ann" || err != nil {
		t.Errorf("approved by %q, %v", by, err)
	}
	if err := engine.Signal(t.Context(), store, "r", "approved", approval{"Bob"}); !errors.Is(err, storage.ErrEnded) ||
		!strings.Contains(err.Error(), "SUCCESS") {
		t.Errorf("after the end: %v", err)
	}
}
