package enginetest_test

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
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/storage"
)

func order(s *shop) flow.Node { return flow.Linear("order", s.reserve(), s.charge(), s.parcel("ship")) }

// TestWorldIsNoGround: FailAt reports a world in which it cannot judge anything. It does not pass.
func TestWorldIsNoGround(t *testing.T) {
	t.Parallel()
	worlds, runs := 0, 0
	for name, c := range map[string]struct {
		world enginetest.World[*shop]
		want  string
	}{
		"no New":   {enginetest.World[*shop]{Flow: order, State: (*shop).state}, "World.New is nil"},
		"no Flow":  {enginetest.World[*shop]{New: newShop, State: (*shop).state}, "World.Flow is nil"},
		"no State": {enginetest.World[*shop]{New: newShop, Flow: order}, "World.State is nil"},
		"mistake in the flow": {
			enginetest.World[*shop]{New: newShop, State: (*shop).state, Flow: func(s *shop) flow.Node {
				return flow.Linear("order", s.charge(), s.charge())
			}},
			`the flow cannot be run: flow: `,
		},
		"fails by itself": {
			enginetest.World[*shop]{New: newShop, State: (*shop).state, Flow: func(*shop) flow.Node {
				return atom.Func("charge", func(context.Context, none) (none, error) { return none{}, errors.New("no money") })
			}},
			"the flow must succeed in a new world; it ended FAILURE: charge: Error: no money",
		},
		"waits until its deadline": {
			enginetest.World[*shop]{New: newShop, State: (*shop).state, Flow: func(*shop) flow.Node {
				return atom.Awaits[bool]("approval", "approved", atom.Deferral{Deadline: time.Millisecond})
			}},
			"If approval waits for a signal or a token, give it an answer in World.Answers",
		},
		"state shows nothing": {
			enginetest.World[*shop]{New: newShop, Flow: order, State: func(*shop) any { return 1 }},
			"State shows nothing of what the flow does",
		},
		"worlds differ": {
			enginetest.World[*shop]{
				New: func(tb testing.TB) *shop {
					s := newShop(tb)
					worlds++
					s.Stock += worlds
					return s
				},
				Flow: order, State: (*shop).state,
			},
			"two worlds that New made differ already; State must leave that out:\n\n    State.Stock  6 → 7\n",
		},
		"runs differ": {
			enginetest.World[*shop]{New: newShop, State: (*shop).state, Flow: func(s *shop) flow.Node {
				return s.task("charge", func() { runs++; s.Paid = runs }, func() { s.Paid = 0 })
			}},
			"two runs in which nothing failed leave worlds that differ; State must leave that out:\n\n    State.Paid",
		},
	} {
		r := &reporter{}
		enginetest.FailAt(r, c.world)
		if len(r.failures) != 1 || !strings.Contains(r.failures[0], c.want) {
			t.Errorf("%s: said %q; want one failure with %q", name, r.failures, c.want)
		}
	}
}

// TestSaysWhatItDidNotTry checks the log if a part of the flow is not tested.
func TestSaysWhatItDidNotTry(t *testing.T) {
	t.Parallel()
	r := failAt(enginetest.World[*shop]{Flow: rightFlows["decider"], State: func(s *shop) any { return s.Stock }})
	want := []string{
		"FailAt: State does not show what these atoms do, so whether it is undone is not known: ship",
		"FailAt: these atoms do not run when nothing fails, so they were not made to fail; a world that leads to them needs a FailAt of its own: never",
	}
	if got := strings.Join(r.logs, "\n"); got != strings.Join(want, "\n") || len(r.failures) > 0 {
		t.Errorf("logged:\n%s\nfound %q", got, r.failures)
	}
}

func TestMaxCases(t *testing.T) {
	t.Parallel()
	worlds := 0
	r := failAt(enginetest.World[*shop]{
		New: func(tb testing.TB) *shop {
			worlds++
			return newShop(tb)
		},
		Flow: order, MaxCases: 7,
	})
	if len(r.logs) != 1 || !strings.Contains(r.logs[0], ", 7 are run, evenly chosen") || len(r.failures) > 0 {
		t.Errorf("said %q, %q", r.logs, r.failures)
	}
	if worlds > 2+3+7 { // undisturbed, each atom failing, the cases
		t.Errorf("%d worlds for 7 cases", worlds)
	}
}

// TestStays: effects that may stay are not a difference, and all others are.
func TestStays(t *testing.T) {
	t.Parallel()
	notify := func(s *shop) flow.Node {
		mail := atom.Func("mail", s.does(func() { s.Parcels["mail"] = true }))
		return flow.Linear("order", s.reserve(), mail, s.charge())
	}
	if r := failAt(enginetest.World[*shop]{Flow: notify}); len(r.failures) == 0 {
		t.Error("what stays was not found")
	}
	if r := failAt(enginetest.World[*shop]{Flow: notify, Stays: []string{"mail"}}); len(r.failures) > 0 {
		t.Errorf("what may stay was found: %s", r.failures[0])
	}
	r := failAt(enginetest.World[*shop]{Flow: bugs["missing undo"].flow, Stays: []string{"reserve", "ship"}})
	if len(r.failures) == 0 || strings.Contains(r.failures[0], "Stock") {
		t.Errorf("said %q", r.failures)
	}
}

// TestCodes: retries that only handle certain codes are tested with these codes.
func TestCodes(t *testing.T) {
	t.Parallel()
	picky := func(s *shop) flow.Node {
		tried := flow.Linear("tried", atom.Func("charge", s.does(s.pay)), s.parcel("ship")).WithRetry(
			atom.Times(2, atom.Backoff{}, "Busy"))
		return flow.Linear("order", tried)
	}
	const found = "FailAt/ship/before_effect_Busy_once: ship failed before it did anything (Busy), the first time."
	for _, codes := range [][]string{nil, {"Busy"}} {
		r := failAt(enginetest.World[*shop]{Flow: picky, Codes: codes})
		if got := strings.Contains(strings.Join(r.failures, "\n"), found); got != (codes != nil) {
			t.Errorf("with codes %q the second try was looked at: %t", codes, got)
		}
	}
}

// TestRealTime: a world may have goroutines that cannot be in virtual time.
func TestRealTime(t *testing.T) {
	t.Parallel()
	bubbles := 0
	enginetest.FailAt(t, enginetest.World[*shop]{
		New: func(tb testing.TB) *shop {
			if t, ok := tb.(*testing.T); ok && !inBubble(t) {
				bubbles++
			}
			return newShop(tb)
		},
		Flow: order, State: (*shop).state, RealTime: true,
	})
	if bubbles == 0 {
		t.Error("no world was made outside of a bubble")
	}
}

// inBubble reports whether the caller is in a bubble of synctest, which cannot contain another one.
func inBubble(t *testing.T) (in bool) {
	t.Helper()
	defer func() { in = recover() != nil }()
	synctest.Test(t, func(*testing.T) {})
	return false
}

// TestNewIsGivenTheCase: the resources of New are cleaned up after each case, and New may fail the test.
func TestNewIsGivenTheCase(t *testing.T) {
	t.Parallel()
	open, most := 0, 0
	enginetest.FailAt(t, enginetest.World[*shop]{
		New: func(tb testing.TB) *shop {
			open++
			most = max(most, open)
			tb.Cleanup(func() { open-- })
			return newShop(tb)
		},
		Flow: order, State: (*shop).state,
	})
	if open != 0 || most != 1 {
		t.Errorf("%d worlds were open at once, %d still are", most, open)
	}
}

// TestOptions: the engine and the run get the options of the world.
func TestOptions(t *testing.T) {
	t.Parallel()
	amount, times := atom.NewKey[int]("amount"), atom.NewKey[int]("times")
	type due struct {
		Amount int `json:"amount"`
		Times  int `json:"times"`
	}
	enginetest.FailAt(t, enginetest.World[*shop]{
		New: newShop, State: (*shop).state,
		Flow: func(s *shop) flow.Node {
			return atom.Pair("charge",
				func(ctx context.Context, d due) (string, error) {
					s.once(ctx, func() { s.Paid += d.Amount * d.Times })
					if s.Paid != 42 {
						return "", fmt.Errorf("paid %d", s.Paid)
					}
					return "", nil
				},
				func(ctx context.Context, d due, _ atom.Outcome[string]) error {
					s.back(ctx, func() { s.Paid -= d.Amount * d.Times })
					return nil
				})
		},
		Options:    func(*shop) []engine.Option { return []engine.Option{engine.With(amount, 14), engine.WithInputs(times)} },
		RunOptions: func(*shop) []engine.RunOption { return []engine.RunOption{engine.With(times, 3)} },
	})
}

// runInBubble runs a flow in virtual time.
func runInBubble(t *testing.T, node flow.Node, store storage.Store, opts ...engine.Option) (res *engine.Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		eng, newErr := engine.New(node, store, opts...)
		if newErr != nil {
			t.Fatal(newErr)
		}
		res, err = eng.Run(t.Context(), "r")
	})
	return res, err
}
