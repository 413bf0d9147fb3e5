package engine_test

import (
	"context"
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
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// audited returns the lines of the audit, oldest first.
func audited(t *testing.T, store backend.Store) string {
	t.Helper()
	lines, err := store.Audit(t.Context(), backend.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for i := range lines {
		e := &lines[i].Entry
		line := fmt.Sprintf("%s: %s %s by %v", lines[i].Run, e.Type, e.Path, e.Issuer)
		if e.Failure != nil {
			line += ", " + e.Failure.Code
		}
		all = "\n" + line + all
	}
	return all
}

// TestAudit gives commands of all kinds to runs that a process drives, and to runs that none drives. The audit and the
// history of the run say who gave them, and which were refused.
func TestAudit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		defer func() { _ = store.Close() }()
		alice, bob := storage.Issuer{Via: storage.ViaConsole, Name: "alice"}, storage.Issuer{Via: storage.ViaCommand, Name: "bob"}
		eng := newEngine(t, flow.Linear("f", atom.Awaits[string]("wait", "go", atom.Deferral{}),
			atom.Func("then", func(ctx context.Context, _ struct{}) (int, error) { <-ctx.Done(); return 0, ctx.Err() })),
			engine.WithStore(store))
		go func() { _, _ = eng.Run(t.Context(), "r") }()
		synctest.Wait()
		send := func(o engine.Command) {
			if err := engine.Send(t.Context(), store, "r", o); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		send(engine.Skip("then").By(bob)) // nothing failed
		if err := store.Send(t.Context(), storage.Message{
			Run: "r", Kind: grow.MessageSignal, Name: "go", Body: atom.MustEncode("now"), Issuer: &alice,
		}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		send(engine.Cancel("enough").By(alice))
		if _, err := engine.SuspendBy(t.Context(), store, "r", bob); err == nil {
			t.Error("a run that has ended was suspended")
		}
		want := `
r: skip then by bob (command, claimed), Ebb.Refused
r: signal go by alice (console)
r: cancel  by alice (console)
r: suspend  by bob (command, claimed), Ebb.Refused`
		if got := audited(t, store); got != want {
			t.Errorf("the audit says%s\nwant%s", got, want)
		}
		told := ""
		for e, err := range storage.EachEntry(t.Context(), store, "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == storage.EntryCommand {
				told += " " + e.Type
			}
		}
		if told != " skip signal cancel suspend" {
			t.Errorf("the history tells of%s", told)
		}

		if err := store.Create(t.Context(), storage.Run{ID: "idle", Flow: "f", Structure: "x"}); err != nil {
			t.Fatal(err)
		}
		if _, err := engine.SuspendBy(t.Context(), store, "idle", bob); err != nil {
			t.Error(err)
		}
		if got := audited(t, store); !strings.HasSuffix(got, "\nidle: suspend  by bob (command, claimed)") {
			t.Errorf("the audit says%s", got)
		}
	})
}
