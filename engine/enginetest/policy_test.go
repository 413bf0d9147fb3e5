package enginetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
)

// TestPivot: atoms before a passed point of no return may stay done, and atoms after it may not.
func TestPivot(t *testing.T) {
	t.Parallel()
	with := func(ship func(s *shop) *atom.Atom) func(s *shop) flow.Node {
		return func(s *shop) flow.Node {
			charge := atom.Pair("charge", s.does(s.pay), s.undoes(s.refund), atom.Pivot())
			return flow.Linear("order", s.reserve(), charge, ship(s), s.parcel("mail"))
		}
	}
	r := failAt(enginetest.World[*shop]{Flow: with(func(s *shop) *atom.Atom { return s.parcel("ship") })})
	if len(r.failures) > 0 {
		t.Errorf("what is before the pivot was expected to be undone: %s", r.failures[0])
	}
	r = failAt(enginetest.World[*shop]{Flow: with(func(s *shop) *atom.Atom {
		return atom.Func("ship", s.does(func() { s.Parcels["ship"] = true }))
	})})
	if said := strings.Join(r.failures, "\n"); !strings.Contains(said, "FailAt/mail/before_effect") ||
		!strings.Contains(said, "Likely culprit: ship has no Revert") || strings.Contains(said, "State.Stock") {
		t.Errorf("said %s", said)
	}
}

// TestAttempts: a task that is retried by itself must be idempotent, because nothing is undone in between.
func TestAttempts(t *testing.T) {
	t.Parallel()
	world := func(charge func(s *shop) do, wait time.Duration) enginetest.World[*shop] {
		return enginetest.World[*shop]{New: newShop, State: (*shop).state, Flow: func(s *shop) flow.Node {
			refund := func(context.Context, none, atom.Outcome[string]) error { s.Paid = 0; return nil }
			return flow.Linear("order", s.reserve(), atom.Pair("charge", charge(s), refund,
				atom.Attempts(3, atom.Constant(wait))))
		}}
	}
	enginetest.FailAt(t, world(func(s *shop) do { return s.does(s.pay) }, time.Hour))
	r := failAt(world(func(s *shop) do {
		return func(context.Context, none) (string, error) { s.pay(); return "receipt", nil }
	}, 0))
	const want = `Execute of charge is not idempotent: called again under its key "run/charge/0", it changed State.Paid from 30 to 60.`
	if said := strings.Join(r.failures, "\n"); !strings.Contains(said, "FailAt/charge/after_effect_once: ") ||
		!strings.Contains(said, want) {
		t.Errorf("said %s", said)
	}
}

// TestPolicies checks the policies of undoing. A revert that is retried succeeds in the end. One that waits for a
// person does not.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts []atom.Option
		want string
	}{
		"tried again": {[]atom.Option{atom.RevertAttempts(3, atom.Backoff{})}, ""}, // a crash may lose one of them
		"stop":        {nil, "The run could not be undone"},
		"go on":       {[]atom.Option{atom.IfRevertFails(atom.GoOnUndoing)}, "The run could not be undone"},
		"park":        {[]atom.Option{atom.IfRevertFails(atom.Park)}, "The run did not end: it rests SUSPENDED."},
	} {
		r := failAt(enginetest.World[*shop]{Flow: func(s *shop) flow.Node {
			refund := func(ctx context.Context, in none, did atom.Outcome[string]) error {
				if !s.done["refused"] {
					s.done["refused"] = true
					return errors.New("the bank is busy")
				}
				return s.undoes(s.refund)(ctx, in, did)
			}
			return flow.Linear("order", s.reserve(), atom.Pair("charge", s.does(s.pay), refund, c.opts...))
		}})
		said := strings.Join(r.failures, "\n")
		if c.want == "" && said != "" || !strings.Contains(said, c.want) ||
			c.want != "" && !strings.Contains(said, "Revert of charge, told failed, fails: the bank is busy.") {
			t.Errorf("%s: said %s", name, said)
		}
	}
}
