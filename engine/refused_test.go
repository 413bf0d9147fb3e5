package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// TestRefusedBeforeSent gives a run commands that it does not allow: while a process drives it, while none does, and
// after its end. Its history says who sent them and why they were refused, and nothing else changes.
func TestRefusedBeforeSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		defer func() { _ = store.Close() }()
		bob := storage.Issuer{Via: storage.ViaLibrary, Name: "bob"}
		eng := newEngine(t, flow.Linear("f", atom.Awaits[string]("wait", "go", atom.Deferral{})), engine.WithStore(store))
		refuse := func(o engine.Command) {
			t.Helper()
			if _, err := eng.Command(t.Context(), "r", o.By(bob)); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("the run answers %v", err)
			}
		}
		rest := make(chan error)
		go func() {
			_, err := eng.Run(t.Context(), "r")
			rest <- err
		}()
		synctest.Wait()
		refuse(engine.Skip("driven"))
		synctest.Wait()
		want := "\nr: skip driven by bob (library, claimed), Ebb.Refused"
		if got := audited(t, store); got != want {
			t.Errorf("while a process drives the run, the audit says%s", got)
		}
		signalTo(t, store, "r")
		if err := <-rest; err != nil {
			t.Fatal(err)
		}
		before, err := store.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		refuse(engine.RetryRevert("ended"))
		refuse(engine.RetryRevert("ended")) // a second time
		refuse(engine.Hold())
		want += `
r: retry-revert ended by bob (library, claimed), Ebb.Refused
r: suspend  by bob (library, claimed), Ebb.Refused`
		if got := audited(t, store); got != want {
			t.Errorf("when the run has ended, the audit says%s\nwant%s", got, want)
		}
		after, err := store.Run(t.Context(), "r")
		if err != nil {
			t.Fatal(err)
		}
		if after.Entries != before.Entries+2 {
			t.Errorf("the history grew by %d lines", after.Entries-before.Entries)
		}
		after.Seq, after.Entries, after.Fence, after.ClaimID = before.Seq, before.Entries, before.Fence, before.ClaimID
		if got, want := fmt.Sprintf("%+v", after), fmt.Sprintf("%+v", before); got != want {
			t.Errorf("the run became\n%s\nfrom\n%s", got, want)
		}
		for i := range 2 * engine.MaxRefused {
			refuse(engine.Skip(fmt.Sprint(i)))
		}
		if got := strings.Count(audited(t, store), "Ebb.Refused"); got != engine.MaxRefused {
			t.Errorf("the audit has %d lines of refused commands", got)
		}
		refuse(engine.Skip(strings.Repeat("x", 1_000_000))) // no atom has such a path
	})
}

// TestRefusedNotRecorded: a request without a caller, a run, or a command has no line.
func TestRefusedNotRecorded(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	defer func() { _ = store.Close() }()
	if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f", Structure: "x"}); err != nil {
		t.Fatal(err)
	}
	bob, why := storage.Issuer{Via: storage.ViaLibrary, Name: "bob"}, errors.New("no")
	for name, err := range map[string]error{
		"no caller":               engine.Skip("a").Refused(t.Context(), store, "r", why),
		"no run":                  engine.Skip("a").By(bob).Refused(t.Context(), store, "none", why),
		"no command":              engine.Command{}.By(bob).Refused(t.Context(), store, "r", why),
		"a path that no atom has": engine.Skip("\xff").By(bob).Refused(t.Context(), store, "r", why),
		"a long path":             engine.Skip(strings.Repeat("x", backend.MaxID+1)).By(bob).Refused(t.Context(), store, "r", why),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := audited(t, store); got != "" {
		t.Errorf("the audit says%s", got)
	}
}

// TestRefusedCommandKeepsDue refuses commands to runs that wait without an owner. Their timers and signals still wake
// them, and a suspended run stays suspended.
func TestRefusedCommandKeepsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		defer func() { _ = store.Close() }()
		bob, why := storage.Issuer{Via: storage.ViaLibrary, Name: "bob"}, errors.New("no")
		timer := flow.Linear("t", atom.Awaits[string]("sleep", "never", atom.Deferral{Deadline: time.Hour}))
		signal := flow.Linear("s", atom.Awaits[string]("wait", "go", atom.Deferral{}))
		for id, root := range map[string]flow.Node{"timer": timer, "signal": signal, "held": signal} {
			if _, err := newEngine(t, root, engine.WithStore(store)).Run(t.Context(), id, engine.Unload()); !errors.Is(err, engine.ErrWaiting) {
				t.Fatal(err)
			}
		}
		if _, err := engine.Suspend(t.Context(), store, "held"); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"timer", "signal", "held"} {
			if err := engine.Skip("x").By(bob).Refused(t.Context(), store, id, why); err != nil {
				t.Fatal(err)
			}
		}
		server, err := engine.NewServer(engine.Flows(timer, signal), store)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- server.Serve(ctx) }()
		signalTo(t, store, "signal")
		time.Sleep(2 * time.Hour)
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		for id, want := range map[string]states.Flow{
			"timer": states.FlowFailure, "signal": states.FlowSuccess, "held": states.FlowSuspended,
		} {
			if run, err := store.Run(t.Context(), id); err != nil || run.State != want {
				t.Errorf("run %s is %v, %v; want %v", id, run.State, err, want)
			}
		}
	})
}

// signalTo sends the signal "go" to a run.
func signalTo(t *testing.T, store backend.Store, run string) {
	t.Helper()
	err := store.Send(t.Context(), storage.Message{
		Run: run, Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode("now"),
	})
	if err != nil {
		t.Error(err)
	}
}
