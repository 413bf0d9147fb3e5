package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// patterns are ways to arrange atoms.
var patterns = shown{
	"linear": func(t *testing.T, s *stage) {
		play(t, flow.Linear("f", s.atom("a"), s.atom("b"), s.atom("c")))
		wantActs(t, s, "a", "b", "c")
	},
	"unordered": func(t *testing.T, s *stage) {
		hour := func(context.Context, int) error { time.Sleep(time.Hour); return nil }
		s.do = script{"a": hour, "b": hour, "c": hour}
		begun := time.Now()
		play(t, flow.Unordered("f", s.atom("a"), s.atom("b"), s.atom("c")), engine.WithParallelism(3))
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("they took %v side by side", took)
		}
	},
	"graph": func(t *testing.T, s *stage) { // an atom runs after the atoms that provide what it requires
		play(t, flow.Graph("f", s.atom("b", atom.Requires("x")), s.atom("a", atom.Provides("x"))))
		wantActs(t, s, "a", "b")
	},
	"links": func(t *testing.T, s *stage) {
		a, b := s.atom("a"), s.atom("b")
		play(t, flow.Graph("f", a, b).Link(b, a))
		wantActs(t, s, "b", "a")
	},
	"cycle": func(t *testing.T, s *stage) { // reported with all other mistakes, and nothing is half changed
		a, b := s.atom("a"), s.atom("b")
		wantRefused(t, flow.ErrCycle, flow.Graph("f", a, b).Link(a, b).Link(b, a))
	},
	"ambiguous provider": func(t *testing.T, s *stage) {
		wantRefused(t, flow.ErrAmbiguous, flow.Graph("f", s.atom("a", atom.Provides("x")), s.atom("b", atom.Provides("x")), s.atom("c", atom.Requires("x"))))
	},
	"missing provider": func(t *testing.T, s *stage) { // all mistakes at once, before anything runs
		_, err := engine.New(flow.Linear("f", s.atom("a", atom.Requires("x")), s.atom("b", atom.RevertRequires("y"))), memstore.New())
		if problems, ok := errors.AsType[flow.Problems](err); !ok || len(problems) != 2 || !errors.Is(err, flow.ErrMissing) {
			t.Errorf("got %v", err)
		}
		play(t, flow.Linear("f", s.atom("a", atom.Requires("x"))), engine.With(atom.NewKey[int]("x"), 1))
	},
	"duplicate name": func(t *testing.T, s *stage) {
		wantRefused(t, flow.ErrDuplicate, flow.Linear("f", s.atom("a"), flow.Unordered("g", s.atom("a"))))
	},
	"target": func(t *testing.T, s *stage) {
		a, b, c := s.atom("a"), s.atom("b"), s.atom("c")
		play(t, flow.Graph("f", a, b, c).Link(a, b).Link(b, c).Target(b))
		wantActs(t, s, "a", "b")
	},
	"nesting": func(t *testing.T, s *stage) {
		inner := flow.Graph("g", s.atom("b"), flow.Unordered("u", s.atom("c"), flow.Linear("l", s.atom("d"))))
		play(t, flow.Linear("f", s.atom("a"), inner, s.atom("e")))
		wantActs(t, s, "a", "b", "c", "d", "e")
	},
	"growth": func(t *testing.T, _ *stage) { // their number is not known before the run
		machine, err := asl.Parse("m", []byte(`{"StartAt":"Each","States":{"Each":{"Type":"Map","End":true,
			"ItemProcessor":{"StartAt":"One","States":{"One":{"Type":"Task","Resource":"do:one","End":true}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, machine.Flow(), engine.WithTasks(&world{}))
		res, err := eng.Run(t.Context(), "r", engine.Input(atom.MustEncode([]int{1, 2, 3})))
		if err != nil || res.Output().String() != `["one","one","one"]` {
			t.Errorf("got %s, %v", res.Output(), err)
		}
	},
	"priority": func(t *testing.T, s *stage) { // larger first, forward and in the undo
		s.do = script{"d": alwaysFails}
		joined := flow.Unordered("g", s.atom("a"), s.atom("b", atom.Priority(2)), s.atom("c", atom.Priority(1)))
		undone(t, flow.Linear("f", joined, s.atom("d")))
		wantActs(t, s, "b", "c", "a", "d", "undo d failed", "undo b done", "undo c done", "undo a done")
	},
	"definition as data": func(t *testing.T, _ *stage) { // and the run ends on the definition on which it started
		store := memstore.New()
		def, err := store.PutDefinition(t.Context(), storage.Definition{Hash: "1a2b", Name: "m", Language: "asl", Text: []byte(machine)})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := asl.Parse("m", def.Text)
		if err != nil {
			t.Fatal(err)
		}
		eng := newEngine(t, parsed.Flow(), engine.WithTasks(&world{}), engine.WithStore(store))
		res, err := eng.Run(t.Context(), "r", engine.OnDefinition(def.Hash))
		reverted(t, err)
		if res.Run.Definition != def.Hash {
			t.Errorf("the run is on definition %q", res.Run.Definition)
		}
	},
}

// deciders leave atoms out.
var deciders = shown{
	"decider": func(t *testing.T, s *stage) {
		a, b := s.atom("a"), s.atom("b")
		play(t, flow.Graph("f", a, b).Link(a, b, flow.Decide(func(flow.Results) bool { return false })))
		wantActs(t, s, "a")
	},
	"decider depth": func(t *testing.T, s *stage) {
		no := flow.Decide(func(flow.Results) bool { return false })
		for depth, want := range map[flow.Depth][]string{
			flow.DepthAll: {"a"}, flow.DepthFlow: {"a", "e"}, flow.DepthNeighbors: {"a", "d", "e"}, flow.DepthAtom: {"a", "c", "d", "e"},
		} {
			a, b, c, d := s.atom("a"), s.atom("b"), s.atom("c"), s.atom("d")
			inner := flow.Graph("g", a, b, c, d).Link(a, b, no, flow.LeaveOut(depth)).Link(b, c).Link(c, d)
			play(t, flow.Linear("f", inner, s.atom("e")))
			wantActs(t, s, want...)
		}
	},
	"several deciders": func(t *testing.T, s *stage) { // the one that leaves out most counts
		vote := func(yes bool) flow.LinkOption { return flow.Decide(func(flow.Results) bool { return yes }) }
		a, b, c, d, e := s.atom("a"), s.atom("b"), s.atom("c"), s.atom("d"), s.atom("e")
		play(t, flow.Graph("f", a, b, c, d, e).
			Link(a, d, vote(true), flow.LeaveOut(flow.DepthAll)).
			Link(b, d, vote(false), flow.LeaveOut(flow.DepthAtom)).
			Link(c, d, vote(false), flow.LeaveOut(flow.DepthNeighbors)).
			Link(d, e))
		wantActs(t, s, "a", "b", "c")
	},
	"decider sees results": func(t *testing.T, s *stage) {
		a, b := s.atom("a"), s.atom("b")
		isA := flow.Decide(func(r flow.Results) bool { return r["a"].String() == `"a"` })
		play(t, flow.Graph("f", a, b).Link(a, b, isA))
		wantActs(t, s, "a", "b")
	},
	"decider on the value of a flow": func(t *testing.T, s *stage) { // TaskFlow shows a decider only atoms
		ready := atom.NewKey[string]("ready")
		before, after := flow.Linear("g", s.atom("a", atom.Provides("ready"))), s.atom("b")
		play(t, flow.Graph("f", before, after).Link(before, after, flow.When(ready, func(v string) bool { return v == "a" })))
		wantActs(t, s, "a", "b")
	},
	"switch": func(t *testing.T, s *stage) {
		color := atom.NewKey[string]("color")
		pick := atom.Func("pick", func(context.Context, struct{}) (string, error) { return "red", nil }, atom.As("color"))
		is := func(want string) flow.LinkOption {
			return flow.When(color, func(got string) bool { return got == want })
		}
		red, green := s.atom("red"), s.atom("green")
		play(t, flow.Graph("f", pick, red, green).Link(pick, red, is("red")).Link(pick, green, is("green")))
		wantActs(t, s, "red")
	},
	"left out and back with a retry": func(t *testing.T, s *stage) {
		try := atom.NewKey[int]("try")
		s.do = script{"c": failsOnce}
		a, b, c := s.atom("a"), s.atom("b"), s.atom("c")
		again := atom.Times(2, atom.Backoff{}).As("try").Renamed("again")
		second := flow.When(try, func(n int) bool { return n == 2 })
		play(t, flow.Graph("f", a, b, c).Link(a, b, second, flow.LeaveOut(flow.DepthAtom)).Link(b, c).WithRetry(again))
		wantActs(t, s, "a", "c", "undo c failed", "undo a done", "a", "b", "c")
	},
}
