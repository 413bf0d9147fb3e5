package enginetest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/engine/enginetest"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// bugs are flows with one mistake each, and the expected findings of FailAt.
var bugs = map[string]struct {
	flow    func(s *shop) flow.Node
	options func(s *shop) []engine.Option
	culprit string
	cases   []string // some of the cases that must fail
	right   []string // some of the cases that must not fail
}{
	"missing undo": {
		flow: func(s *shop) flow.Node {
			return flow.Linear("order", s.reserve(), atom.Func("charge", s.does(s.pay)), s.parcel("ship"))
		},
		culprit: "charge has no Revert",
		cases: []string{
			"charge/after_effect", "charge/panic", "charge/unknown_after_effect", "ship/before_effect",
			"ship/unknown_after_effect",
		},
		right: []string{"reserve/", "charge/before_effect", "crash", "ship_fails/crash"},
	},
	"undo ignores Unknown": {
		flow: func(s *shop) flow.Node {
			refund := func(ctx context.Context, in none, did atom.Outcome[string]) error {
				if did.Unknown() {
					return nil
				}
				return s.undoes(s.refund)(ctx, in, did)
			}
			return flow.Linear("order", s.reserve(), atom.Pair("charge", s.does(s.pay), refund), s.parcel("ship"))
		},
		culprit: "Revert of charge, told unknown, left State.Paid at 30; before charge it was 0. Unknown means that it may have been done",
		cases:   []string{"charge/unknown_after_effect"},
		right:   []string{"reserve/", "charge/after_effect", "charge/unknown_before_effect", "ship/", "crash"},
	},
	"undo ignores Failed": {
		flow: func(s *shop) flow.Node {
			refund := func(ctx context.Context, in none, did atom.Outcome[string]) error {
				if _, failed := did.Failed(); failed {
					return nil
				}
				return s.undoes(s.refund)(ctx, in, did)
			}
			return flow.Linear("order", s.reserve(), atom.Pair("charge", s.does(s.pay), refund), s.parcel("ship"))
		},
		culprit: "Revert of charge, told failed, left State.Paid at 30; before charge it was 0. Failed does not mean that nothing was done",
		cases:   []string{"charge/after_effect", "charge/panic"},
		right:   []string{"reserve/", "charge/before_effect", "charge/unknown_after_effect", "ship/", "crash"},
	},
	"undo of what was not done": {
		flow: func(s *shop) flow.Node {
			refund := func(context.Context, none, atom.Outcome[string]) error { s.refund(); return nil }
			return flow.Linear("order", s.reserve(), atom.Pair("charge", s.does(s.pay), refund))
		},
		culprit: "Revert of charge, told unknown, made State.Paid -30, though charge had left it at 0. When it is told unknown there may be nothing to undo",
		cases:   []string{"charge/before_effect", "charge/unknown_before_effect", "charge_fails/crash_after_undo_of_charge"},
		right:   []string{"reserve/", "charge/after_effect", "crash"},
	},
	"undo not idempotent": {
		flow: func(s *shop) flow.Node {
			refund := func(ctx context.Context, in none, did atom.Outcome[string]) error {
				if _, ok := did.Done(); ok {
					s.refund()
					return nil
				}
				return s.undoes(s.refund)(ctx, in, did)
			}
			return flow.Linear("order", s.reserve(), atom.Pair("charge", s.does(s.pay), refund), s.parcel("ship"))
		},
		culprit: "Revert of charge is not idempotent: called again, it made State.Paid -30, which it had put back to 0. A crash",
		cases:   []string{"ship_fails/crash_after_undo_of_charge"},
		right:   []string{"reserve/", "charge/", "ship/", "crash", "ship_fails/crash_after_commit"},
	},
	"undo fails": {
		flow: func(s *shop) flow.Node {
			refund := func(context.Context, none, atom.Outcome[string]) error { return errors.New("the bank is closed") }
			return flow.Linear("order", s.reserve(), atom.Pair("charge", s.does(s.pay), refund), s.parcel("ship"))
		},
		culprit: "Revert of charge, told failed, fails: the bank is closed.",
		cases:   []string{"charge/before_effect", "ship/panic"},
		right:   []string{"reserve/", "crash", "charge_fails/crash"},
	},
	"undo fails when called again": {
		flow: func(s *shop) flow.Node {
			put := func(ctx context.Context, in none, did atom.Outcome[string]) error {
				if _, ok := did.Done(); ok && !s.done[atom.IdempotencyKey(ctx)] {
					return errors.New("it is on the shelf")
				}
				return s.undoes(s.put)(ctx, in, did)
			}
			return flow.Linear("order", atom.Pair("reserve", s.does(s.take), put), s.charge())
		},
		culprit: "Revert of reserve, told done, fails when it is called again: it is on the shelf.",
		cases:   []string{"charge_fails/crash_after_undo_of_reserve"},
		right:   []string{"reserve/", "charge/", "crash", "charge_fails/crash_after_commit"},
	},
	"undo in the wrong order": {
		flow: func(s *shop) flow.Node { // a parcel with a label on it cannot be unpacked
			pack := s.parcel("pack")
			label := s.parcel("label")
			unpack := func(ctx context.Context, _ none, _ atom.Outcome[string]) error {
				if s.Parcels["label"] {
					return errors.New("there is a label on it")
				}
				_, err := pack.Body().Revert(ctx, atom.Values{}, atom.Unknown[atom.Value]())
				return err
			}
			return flow.Graph("order", atom.Pair("pack", s.does(func() { s.Parcels["pack"] = true }), unpack), label, s.charge())
		},
		culprit: "Revert of pack, told done, fails: there is a label on it. " +
			"Note that pack was undone before label, which came after it: nothing in the flow says that label depends on pack.",
		cases: []string{"pack/after_effect", "charge/before_effect"},
		right: []string{"crash"},
	},
	"undo needs what is gone": {
		flow: func(s *shop) flow.Node { // a label is peeled off its parcel
			peel := func(ctx context.Context, in none, did atom.Outcome[string]) error {
				if !s.Parcels["pack"] {
					return errors.New("there is no parcel to peel it off")
				}
				return s.undoes(func() { delete(s.Parcels, "label") })(ctx, in, did)
			}
			label := atom.Pair("label", s.does(func() { s.Parcels["label"] = true }), peel)
			both := flow.Unordered("both", s.parcel("pack"), label)
			return flow.Linear("order", both, s.charge())
		},
		culprit: "Revert of label, told done, fails: there is no parcel to peel it off. " +
			"Note that pack was undone before label, which came after it: nothing in the flow says that label depends on pack.",
		cases: []string{"charge/before_effect", "charge/panic"},
		right: []string{"crash"},
	},
	"execute not idempotent": {
		flow: func(s *shop) flow.Node {
			pay := func(context.Context, none) (string, error) { s.pay(); return "receipt", nil }
			refund := func(context.Context, none, atom.Outcome[string]) error { s.Paid = 0; return nil }
			return flow.Linear("order", s.reserve(), atom.Pair("charge", pay, refund), s.parcel("ship"))
		},
		culprit: `Execute of charge is not idempotent: called again under its key "run/charge/0", it changed State.Paid from 30 to 60.`,
		cases:   []string{"crash_after_effect_of_charge"},
		right:   []string{"reserve/", "charge/", "ship/", "crash_after_commit", "ship_fails/"},
	},
	"execute fails when called again": {
		flow: func(s *shop) flow.Node {
			ship := func(ctx context.Context, in none) (string, error) {
				if s.Parcels["ship"] {
					return "", errors.New("there is such a parcel")
				}
				return s.does(func() { s.Parcels["ship"] = true })(ctx, in)
			}
			return flow.Linear("order", s.reserve(), atom.Pair("ship", ship, s.undoes(func() { delete(s.Parcels, "ship") })),
				s.charge())
		},
		culprit: `Execute of ship fails when it is called again under its key "run/ship/0": there is such a parcel.`,
		cases:   []string{"crash_after_effect_of_ship"},
		right:   []string{"reserve/", "ship/", "charge/", "crash_after_commit", "charge_fails/"},
	},
	"first try stays": {
		flow: func(s *shop) flow.Node {
			tried := flow.Linear("tried", atom.Func("charge", s.does(s.pay)), s.parcel("ship")).
				WithRetry(atom.Times(3, atom.Backoff{}))
			return flow.Linear("order", s.reserve(), tried)
		},
		culprit: "charge has no Revert, so what it did stays",
		cases:   []string{"charge/after_effect_once", "ship/before_effect_once", "ship/before_effect"},
		right:   []string{"reserve/", "charge/before_effect_once", "crash", "ship_fails_once/crash", "ship_fails/crash"},
	},
	"caught and left": {
		flow: func(*shop) flow.Node {
			return machine(`{"StartAt":"A","States":{
				"A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","Next":"B"},
				"B":{"Type":"Task","Resource":"do:b","Revert":"undo:b","End":true,"Catch":[{"ErrorEquals":["States.TaskFailed"],"Next":"C"}]},
				"C":{"Type":"Task","Resource":"do:c","Revert":"undo:c","End":true}}}`)
		},
		options: func(s *shop) []engine.Option { return []engine.Option{engine.WithTasks(s)} },
		culprit: "B failed, and what it had done was not undone, since the flow went on without it.",
		cases:   []string{"B/after_effect"},
		right:   []string{"A/", "B/before_effect", "crash"},
	},
	"state machine without undo": {
		flow: func(*shop) flow.Node {
			return machine(`{"StartAt":"A","States":{
				"A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","Next":"B"},
				"B":{"Type":"Task","Resource":"do:b","Next":"C"},
				"C":{"Type":"Task","Resource":"do:c","Revert":"undo:c","End":true}}}`)
		},
		options: func(s *shop) []engine.Option { return []engine.Option{engine.WithTasks(s)} },
		culprit: "B has no Revert, so what it did stays.",
		cases:   []string{"B/after_effect", "C/before_effect"},
		right:   []string{"A/", "B/before_effect", "crash", "C_fails/"},
	},
}

func machine(text string) flow.Node {
	m, err := asl.Parse("order", []byte(text))
	if err != nil {
		panic(err)
	}
	return m.Flow()
}

// TestFindsBugs: exactly the cases that can show a mistake find it, and name the atom with the mistake. testdata has
// the texts.
func TestFindsBugs(t *testing.T) {
	t.Parallel()
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := failAt(enginetest.World[*shop]{Flow: bug.flow, Options: bug.options})
			said := strings.Join(r.failures, "\n\n")
			if !strings.Contains(said, "Likely culprit: "+bug.culprit) {
				t.Errorf("the culprit is not named: %s", bug.culprit)
			}
			for _, c := range bug.cases {
				if !strings.Contains("\n"+said, "\nFailAt/"+c+": ") {
					t.Errorf("%s found nothing", c)
				}
			}
			for _, c := range bug.right {
				if strings.Contains("\n"+said, "\nFailAt/"+c) {
					t.Errorf("%s fails, and is right", c)
				}
			}
			full := slices.DeleteFunc(r.failures, func(text string) bool { return strings.Contains(text, ", as in FailAt/") })
			golden(t, strings.ReplaceAll(name, " ", "_")+".txt", strings.Join(full, "\n\n")+"\n")
		})
	}
}

// golden compares a text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// rightFlows undo all their effects, for any failure.
var rightFlows = map[string]func(s *shop) flow.Node{
	"atom":   func(s *shop) flow.Node { return s.charge() },
	"linear": func(s *shop) flow.Node { return flow.Linear("order", s.reserve(), s.charge(), s.parcel("ship")) },
	"unordered": func(s *shop) flow.Node {
		return flow.Unordered("order", s.reserve(), s.charge(), s.parcel("ship"))
	},
	"parallel branches": func(s *shop) flow.Node {
		g, a, b, z := flow.Graph("order"), s.reserve(), flow.Linear("left", s.parcel("l1"), s.parcel("l2")), s.charge()
		right := flow.Unordered("right", s.parcel("r1"), s.parcel("r2"))
		return g.Add(a, b, right, z).Link(a, b).Link(a, right).Link(b, z).Link(right, z)
	},
	"retry": func(s *shop) flow.Node {
		tried := flow.Linear("tried", s.charge(), s.parcel("ship")).WithRetry(atom.Times(3, atom.Exponential(time.Minute,
			time.Hour)))
		return flow.Linear("order", s.reserve(), tried, s.parcel("mail"))
	},
	"retry of some failures": func(s *shop) flow.Node {
		tried := flow.Linear("tried", s.charge()).WithRetry(atom.Times(2, atom.Constant(24*time.Hour), "Busy"))
		return flow.Linear("order", s.reserve(), tried)
	},
	"retry for ever": func(s *shop) flow.Node {
		return flow.Linear("order", s.charge()).WithRetry(atom.Times(1<<30, atom.Constant(time.Hour)))
	},
	"another way": func(s *shop) flow.Node { // each try pays with another card
		card := atom.NewKey[string]("card")
		pay := atom.Pair("charge",
			func(ctx context.Context, in struct {
				Card string `json:"card"`
			},
			) (string, error) {
				s.once(ctx, func() { s.Parcels["paid with "+in.Card] = true })
				return in.Card, nil
			},
			func(ctx context.Context, in struct {
				Card string `json:"card"`
			}, _ atom.Outcome[string],
			) error {
				s.back(ctx, func() { delete(s.Parcels, "paid with "+in.Card) })
				return nil
			})
		retry := atom.ForEach("gold", "silver").As(card.Name()).Renamed("cards")
		return flow.Linear("order", s.reserve(), flow.Linear("paying", pay).WithRetry(retry))
	},
	"decider": func(s *shop) flow.Node {
		a, yes, no := s.reserve(), s.parcel("ship"), s.parcel("never")
		return flow.Graph("order", a, yes, no).
			Link(a, yes, flow.Decide(func(flow.Results) bool { return true })).
			Link(a, no, flow.Decide(func(flow.Results) bool { return false }))
	},
	"state machine": func(*shop) flow.Node {
		return machine(`{"StartAt":"A","States":{
			"A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","Next":"P"},
			"P":{"Type":"Parallel","Next":"W","Branches":[
				{"StartAt":"L","States":{"L":{"Type":"Task","Resource":"do:l","Revert":"undo:l","Next":"M"},
					"M":{"Type":"Task","Resource":"do:m","Revert":"undo:m","End":true}}},
				{"StartAt":"R","States":{"R":{"Type":"Task","Resource":"do:r","Revert":"undo:r","End":true}}}]},
			"W":{"Type":"Wait","Seconds":86400,"Next":"B"},
			"B":{"Type":"Task","Resource":"do:b","Revert":"undo:b","End":true,
				"Retry":[{"ErrorEquals":["States.ALL"],"MaxAttempts":2,"IntervalSeconds":3600}]}}}`)
	},
	"catch": func(*shop) flow.Node {
		return machine(`{"StartAt":"A","States":{
			"A":{"Type":"Task","Resource":"do:a","Revert":"undo:a","Next":"B"},
			"B":{"Type":"Task","Resource":"do:b","Revert":"undo:b","End":true,"Catch":[{"ErrorEquals":["Busy"],"Next":"C"}]},
			"C":{"Type":"Task","Resource":"drop:b","End":true}}}`)
	},
}

// TestRightFlowsPass: flows of all kinds that undo their effects pass, in virtual time.
//
// Guarantee (G5): Example flows pass with any atom failing in any way, and a death after each commit and effect. So
// does a flow that discovers its work in real files.
// Also: `examples/05_crawler: TestUndone`.
func TestRightFlowsPass(t *testing.T) {
	t.Parallel()
	for name, f := range rightFlows {
		for _, policy := range []engine.Checkpoints{engine.Step, engine.Each} {
			t.Run(fmt.Sprintf("%s/%d", name, policy), func(t *testing.T) {
				t.Parallel()
				enginetest.FailAt(t, enginetest.World[*shop]{
					New: newShop, Flow: f, State: (*shop).state, Codes: []string{"Busy"},
					Options: func(s *shop) []engine.Option {
						return []engine.Option{engine.WithTasks(s), engine.WithCheckpoints(policy), engine.WithParallelism(8)}
					},
				})
			})
		}
	}
}

// BenchmarkFailAt measures the cost of a linear flow by its number of atoms.
func BenchmarkFailAt(b *testing.B) {
	for _, n := range []int{10, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				enginetest.FailAt(b, enginetest.World[*shop]{New: newShop, State: (*shop).state, Flow: func(s *shop) flow.Node {
					f := flow.Linear("order")
					for i := range n {
						f.Add(s.parcel(fmt.Sprint("parcel-", i)))
					}
					return f
				}})
			}
		})
	}
}
