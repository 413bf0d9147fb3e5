package atom_test

import (
	"context"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
)

func TestAttempts(t *testing.T) {
	t.Parallel()
	every := atom.Constant(time.Second)
	for name, tc := range map[string]struct {
		policy  *atom.AttemptPolicy
		attempt int
		code    string
		wait    time.Duration
		again   bool
	}{
		"none given":         {nil, 1, atom.CodeError, 0, false},
		"the zero policy":    {&atom.AttemptPolicy{}, 1, atom.CodeError, 0, false},
		"the first of three": {&atom.AttemptPolicy{Attempts: 3, Backoff: every}, 1, atom.CodeError, time.Second, true},
		"the last of three":  {&atom.AttemptPolicy{Attempts: 3, Backoff: every}, 3, atom.CodeError, 0, false},
		"without a wait":     {&atom.AttemptPolicy{Attempts: 2}, 1, atom.CodeTimeout, 0, true},
		"the wait grows": {
			&atom.AttemptPolicy{Attempts: 9, Backoff: atom.Exponential(time.Second, 0)}, 3,
			atom.CodeError, 4 * time.Second, true,
		},
		"of one of the codes": {&atom.AttemptPolicy{Attempts: 2, Codes: []string{"A", "B"}}, 1, "B", 0, true},
		"of another code":     {&atom.AttemptPolicy{Attempts: 2, Codes: []string{"A", "B"}}, 1, "C", 0, false},
		"cancelled":           {&atom.AttemptPolicy{Attempts: 2}, 1, atom.CodeCancelled, 0, false},
		"cancelled, and asked to": {
			&atom.AttemptPolicy{Attempts: 2, Codes: []string{atom.CodeCancelled}}, 1,
			atom.CodeCancelled, 0, true,
		},
	} {
		wait, again := tc.policy.After(tc.attempt, &atom.Failure{Code: tc.code})
		if wait != tc.wait || again != tc.again {
			t.Errorf("%s: %v, %v; want %v, %v", name, wait, again, tc.wait, tc.again)
		}
	}
}

func TestAttemptsOption(t *testing.T) {
	t.Parallel()
	do := func(_ context.Context, _ struct{}) (struct{}, error) { return struct{}{}, nil }
	if p := atom.Func("plain", do).Attempts(); p != nil {
		t.Errorf("an atom without the option has the policy %+v", p)
	}
	p := atom.Func("again", do, atom.Attempts(3, atom.Constant(time.Minute).WithJitter(0.5), "Busy")).Attempts()
	if wait, again := p.After(1, &atom.Failure{Code: "Busy"}); !again || wait != time.Minute || p.Backoff.Jitter != 0.5 {
		t.Errorf("%+v: %v, %v", p, wait, again)
	}
	if _, again := p.After(1, &atom.Failure{Code: "Gone"}); again {
		t.Error("a failure of another code is worth another attempt")
	}
}
