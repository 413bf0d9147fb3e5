package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/internal/scheduler"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

func undoing(under, to string) toyStep { return toyStep{Kind: "undo", Name: "u", Under: under, To: to} }

func stuck(name string) toyStep { return toyStep{Kind: "work", Name: name, Undo: true, Stuck: true} }

// undoPrograms are programs that undo a part of their work, with their expected ends, with any crashes.
var undoPrograms = []struct {
	name    string
	program toyFlow
	end     string
	undone  []string // in order; nil when it is not looked at
}{
	{
		name: "a task", program: chain(work("a"), work("b"), undoing("b", ""), work("c")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{"b"},
	},
	{
		name: "all, and then the rest", program: chain(work("a"), work("b"), undoing("", ""), work("c"), failing("d", 9, 0)),
		end: `REVERTED value  failure "Boom" timed out false`, undone: []string{"b", "a", "d", "c"},
	},
	{
		name: "all, and nothing is left", program: chain(work("a"), undoing("", ""), toyStep{Kind: "work", Name: "d", Fails: 9}),
		end: `REVERTED value  failure "Boom" timed out false`, undone: []string{"a"},
	},
	{
		name: "back to a task", program: chain(work("a"), work("b"), work("c"), undoing("", "a"), work("d")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{"c", "b"},
	},
	{
		name: "back to what was not done", program: chain(work("a"), work("b"), undoing("", "x"), work("c")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{"b", "a"},
	},
	{
		name: "nothing", program: chain(undoing("", ""), work("a"), undoing("b", ""), undoing("", "a")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{},
	},
	{
		name: "twice", program: chain(work("a"), work("b"), undoing("b", ""), undoing("", ""), work("c"), undoing("", "")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{"b", "a", "c"},
	},
	{
		name: "a fork, which others look like", program: chain(work("f2"), work("fx"), fork("f", chain(work("x"), work("y")), chain(fork("g", chain(work("z"))))),
			work("b"), undoing("f", ""), work("c")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "back to a fork", program: chain(work("a"), fork("f", chain(work("x")), chain(work("z"))), work("b"), undoing("", "f")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{"b"},
	},
	{
		name: "side by side", program: chain(work("a"), fork("f",
			chain(work("x1"), work("x2"), undoing("", ""), work("x3")),
			chain(work("y1"), work("y2"), undoing("y1", ""), work("y3")),
			chain(work("z1"), work("z2"), work("z3"))), failing("b", 9, 0)),
		end: `REVERTED value  failure "Boom" timed out false`,
	},
	{
		name: "a branch fails while another undoes", program: chain(work("a"), fork("f",
			chain(work("x1"), work("x2"), undoing("", ""), pause("t", time.Hour)), chain(work("y"), failing("z", 9, 0)))),
		end: `REVERTED value  failure "Boom" timed out false`,
	},
	{
		name: "what cannot be undone", program: chain(work("a"), stuck("b"), work("c"), undoing("", "")),
		end: `FAILURE value  failure "Stuck" timed out false`, undone: []string{"c"},
	},
	{
		name: "what cannot be undone, in a branch", program: chain(work("a"), fork("f", chain(work("x"), stuck("y"), work("z"), undoing("", "")), chain(pause("t", time.Hour)))),
		end: `FAILURE value  failure "Stuck" timed out false`, undone: []string{"f[0]/z"},
	},
	{
		name: "behind a point of no return", program: chain(work("a"), toyStep{Kind: "work", Name: "p", Undo: true, Pivot: true}, work("b"), undoing("", ""), work("c")),
		end: `SUCCESS value "done" failure "" timed out false`, undone: []string{"b"},
	},
	{
		name: "before a fork is tried again", program: chain(work("a"), toyStep{
			Kind: "fork", Name: "f", Retries: 2, Clean: true,
			Flows: []toyFlow{chain(work("x"), failing("y", 1, 0)), chain(work("z"), pause("t", time.Minute))},
		}, work("b")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "while something executes", program: chain(toyStep{Kind: "work", Name: "b", Undo: true, Beside: true}, undoing("b", "")),
	},
}

// TestUndoing undoes parts of the work, and the rest at the end.
//
// Guarantee (G4): A part of a growing flow is undone before the flow continues, beside branches that continue, with a
// death at every commit.
// Also: `TestUndoingCrash`, `engine: TestUndoingSurvives`, `TestCompensationSurvives`.
func TestUndoing(t *testing.T) {
	t.Parallel()
	for _, c := range undoPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, each := range []bool{true, false} {
				g := newGardener(t, c.program)
				g.each = each
				g.play()
				g.check()
				if c.end != "" && g.end() != c.end {
					t.Errorf("each %t: ended %s, want %s", each, g.end(), c.end)
				}
				if diff := cmp.Diff(c.undone, append([]string{}, g.undone...)); c.undone != nil && diff != "" {
					t.Errorf("each %t: undone (-want +got):\n%s", each, diff)
				}
			}
		})
	}
}

// TestUndoingCrash lets each program crash after every commit, and suspends it there. It ends as without either.
func TestUndoingCrash(t *testing.T) {
	t.Parallel()
	for _, c := range undoPrograms {
		if c.end == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, each := range []bool{true, false} {
				crashes(t, c.program, each, first, c.end)
				crashes(t, c.program, each, last, c.end)
			}
			for at := 1; ; at++ {
				g := newGardener(t, c.program)
				g.stopAt = at
				g.play()
				if g.stopAt > 0 {
					return
				}
				g.check()
				if g.end() != c.end {
					t.Errorf("suspended after commit %d: ended %s, want %s", at, g.end(), c.end)
				}
			}
		})
	}
}

// TestStackStaysSmall: entries that were undone below others leave the stack with them. Concurrent flows undo their
// work repeatedly.
func TestStackStaysSmall(t *testing.T) {
	t.Parallel()
	branch := chain(work("x"), work("y"), undoing("", ""))
	var steps []toyStep
	for range 20 {
		steps = append(steps, toyStep{Kind: "fork", Name: "f" + string(rune('a'+len(steps))), Flows: []toyFlow{branch, branch, branch}})
	}
	g := newGardener(t, chain(steps...))
	g.play()
	g.check()
	if g.over.FlowTo != states.FlowSuccess || len(g.undone) != 120 || len(g.undo) > 0 {
		t.Errorf("ended %v, undone %d, %d on the stack", g.over.FlowTo, len(g.undone), len(g.undo))
	}
}

// TestPart checks which entries are within a node, and which only look like it.
func TestPart(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"P[0]/S": true, "P[0]/S[3]/A": true, "P[0]/S@2[0]/A#3": true, "P[0]/S@12[0]/B[1]/C": true,
		"S": false, "P[0]/S2": false, "P[0]/S#2": false, "P[0]/S[x]/A": false, "P[0]/S[0]": false, "P[0]/S[0][1]/A": false,
		"P[1]/S": false, "P[0]": false, "P[0]/SX/A": false,
	} {
		p := scheduler.Part{Flow: "P[0]", Under: "P[0]/S"}
		if got, _ := p.Picks(path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

// TestImpossibleUndoing refuses to undo running work.
func TestImpossibleUndoing(t *testing.T) {
	t.Parallel()
	one := []grow.Spec{{Name: "a", Undo: &grow.Undo{}}}
	for want, lang := range map[string]answers{
		`the flow's language wants undone what has not ended`: {grow.Begin: {Add: one, Undo: &grow.Undoing{}}},
		`the flow's language wants something undone first, and something else first, too`: {grow.Begin: {
			Undo: &grow.Undoing{}, End: &grow.End{},
		}},
		`the flow's language answered "undone" of "" with nothing to wait for`: {grow.Begin: {Undo: &grow.Undoing{}}},
	} {
		g := newGardener(t, toyFlow{})
		g.lang = lang
		g.play()
		if f := g.over.End.Failure; f == nil || f.Message != want {
			t.Errorf("ended %v with %v, want %q", g.over.FlowTo, f, want)
		}
	}
}

// holding is a language that undoes a task while another beside it ends.
type holding struct{}

func (holding) Grow(ask *grow.Ask) grow.Growth {
	node := func(name string) grow.Spec {
		return grow.Spec{Name: name, Input: atom.MustEncode(toyStep{Undo: true}), Undo: &grow.Undo{Task: "undo"}}
	}
	var g grow.Growth
	switch c := &ask.Cause; {
	case c.Kind == grow.Begin:
		g = grow.Growth{Add: []grow.Spec{node("a"), node("b")}, Memory: atom.Null}
	case c.Kind == grow.Undone:
		g = grow.Growth{Memory: c.Note}
	case c.Name == "a":
		g = grow.Growth{Undo: &grow.Undoing{Under: "a", Note: atom.MustEncode("undone")}}
	default:
		g = grow.Growth{End: &grow.End{Value: ask.Memory}}
	}
	g.Events = []grow.Event{{Name: ask.Cause.Kind.String() + " " + ask.Cause.Name}}
	return g
}

func (holding) Undo(ask *grow.UndoAsk) (atom.Value, error) { return ask.Spec.Input, nil }

// TestUndoingHolds: a flow hears of nothing else until the part that it wants undone is undone.
func TestUndoingHolds(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		g := newGardener(t, toyFlow{})
		g.lang, g.crashAt = holding{}, at
		g.play()
		if at > 0 && !g.crashed {
			break
		}
		g.check()
		if want := `SUCCESS value "undone" failure "" timed out false`; g.end() != want {
			t.Errorf("crash after commit %d: ended %s, want %s", at, g.end(), want)
		}
	}
}
