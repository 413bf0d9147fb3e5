package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/storage/sqlstore"
)

// TestInboxOfEndedRun sends a run what ends it, and messages of every kind behind that: they are all in the inbox when a
// server takes the run up, and when another party's command is refused before. The commands are refused, and the rest is
// about attempts that are over. What a run that is reopened may await stays.
//
// Guarantee (Waiting and time): A command that reaches a run as it ends is refused, and the audit says so. The inbox of a
// run that has ended keeps only signals and events, which a retry of the run may await.
func TestInboxOfEndedRun(t *testing.T) {
	t.Parallel()
	open := map[string]func(t *testing.T) backend.Store{
		"memory": func(*testing.T) backend.Store { return memstore.New() },
		"sqlite": func(t *testing.T) backend.Store {
			t.Helper()
			s, err := sqlstore.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	for name, open := range open {
		for _, when := range []string{"not driven", "ended", "refused"} {
			t.Run(name+"/"+when, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					store := open(t)
					defer func() { _ = store.Close() }()
					eng := newEngine(t, flow.Linear("f", atom.Awaits[int]("wait", "go", atom.Deferral{})), engine.WithStore(store))
					serve := func() {
						ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
						defer stop()
						if err := eng.Serve(ctx); err != nil {
							t.Error(err)
						}
					}
					if err := eng.Start(t.Context(), "r"); err != nil {
						t.Fatal(err)
					}
					serve()
					send := func(messages ...storage.Message) {
						t.Helper()
						for _, m := range messages {
							if m.Run = "r"; m.Kind == grow.MessageSignal {
								m.Body = atom.MustEncode(1)
							}
							if err := store.Send(t.Context(), m); err != nil {
								t.Error(err)
							}
						}
					}
					send(storage.Message{Kind: grow.MessageSignal, Name: "later"}, storage.Message{Kind: grow.MessageSignal, Name: "go"})
					if when != "not driven" {
						serve()
					}
					by := storage.Issuer{Via: storage.ViaLibrary, Name: "bob"}
					for _, o := range []engine.Command{engine.Skip("wait"), engine.Abandon("enough"), engine.Hold(), engine.Resume()} {
						if err := engine.Send(t.Context(), store, "r", o.By(by)); err != nil {
							t.Error(err)
						}
					}
					for _, kind := range []grow.MessageKind{"child", "token", "taken", "retaken", "execution", "cancel-next", "call"} {
						send(storage.Message{Kind: kind, Name: "x"})
					}
					if when == "refused" {
						if _, err := eng.Command(t.Context(), "r", engine.RetryRevert("wait")); err == nil {
							t.Error("a failed revert was retried")
						}
					}
					serve()
					got, err := store.Run(t.Context(), "r")
					if err != nil || got.Outcome != storage.Succeeded || !got.Due.IsZero() || got.Owner != "" {
						t.Errorf("the run is %+v, %v; want it to have succeeded, and not to be due", got, err)
					}
					left := ""
					if _, messages, err := store.Messages(t.Context(), "r", 0); err != nil {
						t.Error(err)
					} else {
						for _, m := range messages {
							left += fmt.Sprintf(" %s %s", m.Kind, m.Name)
						}
					}
					if left != " signal later" {
						t.Errorf("the inbox has%s; want only the signal that nothing awaited", left)
					}
					want := `
r: skip wait by bob (library, claimed), Ebb.Refused
r: cancel  by bob (library, claimed), Ebb.Refused
r: suspend  by bob (library, claimed), Ebb.Refused
r: resume  by bob (library, claimed), Ebb.Refused`
					if when == "not driven" { // the process that takes the run up finds it suspended and resumed
						want = `
r: resume  by bob (library, claimed)
r: suspend  by bob (library, claimed)
r: skip wait by bob (library, claimed), Ebb.Refused
r: cancel  by bob (library, claimed), Ebb.Refused`
					}
					if got := audited(t, store); got != want {
						t.Errorf("the audit says%s\nwant%s", got, want)
					}
				})
			})
		}
	}
}
