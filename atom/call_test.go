package atom_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// TestKeysOfDifferentWorkDiffer: no two attempts of different work share a key, whatever the names are, even if a
// header of HTTP cuts the blanks off its ends.
//
// Guarantee (G2): No two atoms, incarnations or runs have the same key, whatever their names.
func TestKeysOfDifferentWorkDiffer(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"q", "P[0]", "Pay", "0", "revert", "/", "//", "%", "%2F", "~1", "@2", ".", " ", "\n"})
	name := rapid.Map(rapid.SliceOfN(part, 1, 6), func(parts []string) string { return strings.Join(parts, "") })
	calls := rapid.Custom(func(t *rapid.T) atom.Call {
		return atom.Call{
			Run: name.Draw(t, "run"), Path: name.Draw(t, "path"), Incarnation: rapid.IntRange(0, 11).Draw(t, "incarnation"),
			Revert: rapid.Bool().Draw(t, "revert"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := calls.Draw(t, "a"), calls.Draw(t, "b")
		if rapid.Bool().Draw(t, "cut elsewhere") { // the same text, of another run
			run, path, found := strings.Cut(a.Run+"/"+a.Path, "/")
			b = atom.Call{Run: run, Path: path, Incarnation: a.Incarnation, Revert: a.Revert}
			if !found {
				return
			}
		}
		if a != b && strings.TrimSpace(a.Key()) == strings.TrimSpace(b.Key()) {
			t.Fatalf("%+v and %+v have the key %q", a, b, a.Key())
		}
	})
}
