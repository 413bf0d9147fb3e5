package atom_test

import (
	"testing"

	"github.com/ebbflow/ebb/atom"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	call := atom.Call{Run: "boot-4711", Path: "Ship[3]/Pack#2", Incarnation: 1, Attempt: 5, Fence: 8}
	for name, revert := range map[string]bool{"execute": false, "revert": true} {
		call.Revert = revert
		ctx := atom.WithCall(t.Context(), &call)
		if got, want := atom.IdempotencyKey(ctx), "boot-4711/Ship[3]/Pack#2/1"; got != want {
			t.Errorf("in %s the key is %q, want %q", name, got, want)
		}
		if got, want := atom.RevertKey(ctx), "boot-4711/Ship[3]/Pack#2/1/revert"; got != want {
			t.Errorf("in %s the revert key is %q, want %q", name, got, want)
		}
		if got := atom.Attempt(ctx); got != 5 {
			t.Errorf("in %s the attempt is %d", name, got)
		}
		if got := atom.CurrentCall(ctx); got != call {
			t.Errorf("in %s the call is %+v", name, got)
		}
	}
	if got := atom.CurrentCall(t.Context()); got != (atom.Call{}) {
		t.Errorf("outside of a call there is %+v", got)
	}
}

// TestKeyIsStable: neither another attempt nor another owner changes the key.
//
// Guarantee (G2): The key names run, path and incarnation, not attempt or fence.
// Also: `TestKeys`.
func TestKeyIsStable(t *testing.T) {
	t.Parallel()
	first := atom.Call{Run: "r", Path: "p", Attempt: 1, Fence: 1}
	later := atom.Call{Run: "r", Path: "p", Attempt: 7, Fence: 3}
	if first.Key() != later.Key() {
		t.Errorf("%q became %q", first.Key(), later.Key())
	}
	later.Incarnation++
	if first.Key() == later.Key() {
		t.Error("another incarnation has the same key")
	}
}
