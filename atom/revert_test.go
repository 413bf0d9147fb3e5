package atom_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

func TestRevertPolicy(t *testing.T) {
	t.Parallel()
	do := func(_ context.Context, _ struct{}) (int, error) { return 0, nil }
	if got := atom.Func("plain", do).RevertPolicy(); got != (atom.RevertPolicy{}) {
		t.Errorf("an atom without options has the policy %+v", got)
	}
	wait := atom.Constant(time.Second)
	a := atom.Func("set", do, atom.RevertAttempts(3, wait), atom.RevertTimeout(time.Minute), atom.IfRevertFails(atom.Park))
	want := atom.RevertPolicy{Attempts: 3, Backoff: wait, Timeout: time.Minute, Then: atom.Park}
	if diff := cmp.Diff(want, a.RevertPolicy()); diff != "" {
		t.Error(diff)
	}
}

func TestRevertPolicyAfter(t *testing.T) {
	t.Parallel()
	p := atom.RevertPolicy{Attempts: 2, Backoff: atom.Constant(time.Second)}
	for name, tc := range map[string]struct {
		policy  atom.RevertPolicy
		attempt int
		code    string
		wait    time.Duration
		again   bool
	}{
		"the zero policy":  {atom.RevertPolicy{}, 1, atom.CodeError, 0, false},
		"the first of two": {p, 1, atom.CodeTimeout, time.Second, true},
		"the last of two":  {p, 2, atom.CodeError, 0, false},
		"cancelled":        {p, 1, atom.CodeCancelled, 0, false},
	} {
		wait, again := tc.policy.After(tc.attempt, &atom.Failure{Code: tc.code})
		if wait != tc.wait || again != tc.again {
			t.Errorf("%s: %v, %v; want %v, %v", name, wait, again, tc.wait, tc.again)
		}
	}
}

func TestRevertEndTexts(t *testing.T) {
	t.Parallel()
	for end, want := range map[atom.RevertEnd]string{
		atom.StopUndoing: "stop", atom.GoOnUndoing: "go on",
		atom.Park: "park",
	} {
		if got := end.String(); got != want {
			t.Errorf("%d is %q, want %q", end, got, want)
		}
	}
}

func TestPivot(t *testing.T) {
	t.Parallel()
	do := func(_ context.Context, _ struct{}) (int, error) { return 0, nil }
	if atom.Func("plain", do).IsPivot() || !atom.Func("pivot", do, atom.Pivot()).IsPivot() {
		t.Error("a pivot is what was made one, and nothing else")
	}
}
