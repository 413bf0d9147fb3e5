package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/states"
)

func work(name string) toyStep { return toyStep{Kind: "work", Name: name, Undo: true} }

func failing(name string, fails, retries int) toyStep {
	return toyStep{Kind: "work", Name: name, Undo: true, Fails: fails, Retries: retries}
}

func pause(name string, d time.Duration) toyStep { return toyStep{Kind: "timer", Name: name, After: d} }

func chain(steps ...toyStep) toyFlow { return toyFlow{Steps: steps} }

func fork(name string, flows ...toyFlow) toyStep {
	return toyStep{Kind: "fork", Name: name, Flows: flows}
}

// toyPrograms are the programs whose every crash is tried, with how they end.
var toyPrograms = []struct {
	name    string
	program toyFlow
	end     string
	undone  []string // in order; nil when it is not looked at
}{
	{
		name: "chain", program: chain(work("a"), work("b"), work("c")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "chain fails", program: chain(work("a"), work("b"), failing("c", 9, 0)),
		end: `REVERTED value  failure "Boom" timed out false`, undone: []string{"c", "b", "a"},
	},
	{
		name:    "an undo fails",
		program: chain(work("a"), toyStep{Kind: "work", Name: "b", Undo: true, Stuck: true}, work("c"), failing("d", 9, 0)),
		end:     `FAILURE value  failure "Boom" timed out false`, undone: []string{"d", "c"},
	},
	{
		name: "nothing to undo", program: chain(toyStep{Kind: "work", Name: "a", Fails: 9}),
		end: `FAILURE value  failure "Boom" timed out false`, undone: []string{},
	},
	{
		name: "empty", program: chain(),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "more and timer", program: chain(work("a"), toyStep{Kind: "more"}, pause("t", time.Minute), toyStep{Kind: "more"}, work("b")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "more first, and last", program: chain(toyStep{Kind: "more"}, fork("f", chain(toyStep{Kind: "more"}), chain()), toyStep{Kind: "more"}),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "again at once", program: chain(work("a"), failing("b", 2, 2), work("c")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "again after a while", program: chain(toyStep{Kind: "work", Name: "b", Fails: 2, Retries: 3, After: time.Hour}),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "again in vain", program: chain(work("a"), failing("b", 3, 2)),
		end: `REVERTED value  failure "Boom" timed out false`, undone: []string{"b", "a"},
	},
	{
		name: "fork of three, one nested", program: chain(work("a"), fork("f",
			chain(work("x"), work("y")), chain(fork("g", chain(work("u")), chain(work("v")))), chain(work("z"))), work("b")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "fork of none", program: chain(work("a"), fork("f"), work("b")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "fork by slots", program: chain(toyStep{
			Kind: "fork", Name: "f", Slots: 2,
			Flows: []toyFlow{chain(work("a")), chain(work("b"), work("c")), chain(), chain(work("d")), chain(work("e"))},
		}),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "a failing child ends its siblings", program: chain(work("a"), fork("f",
			chain(work("x"), failing("y", 9, 0), work("z")), chain(pause("t", time.Hour), work("never")),
			chain(fork("g", chain(work("u"), work("u2"), work("u3"), work("u4")), chain(pause("t", time.Hour)))))),
		end: `REVERTED value  failure "Boom" timed out false`,
	},
	{
		name: "a fork is tried again", program: chain(work("a"), toyStep{
			Kind: "fork", Name: "f", Retries: 1, After: time.Minute,
			Flows: []toyFlow{chain(work("x"), failing("y", 1, 0)), chain(work("z"), pause("t", time.Hour))},
		}, work("b")),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "ends while something executes", program: chain(work("a"), toyStep{Kind: "work", Name: "b", Undo: true, Beside: true}, fork("f",
			chain(toyStep{Kind: "work", Name: "x", Undo: true, Beside: true}), chain(work("y"), work("z")))),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "the run ends while something executes", program: chain(work("a"), toyStep{Kind: "work", Name: "b", Undo: true, Beside: true}),
		end: `SUCCESS value "done" failure "" timed out false`,
	},
	{
		name: "fails while something executes", program: chain(work("a"), fork("f",
			chain(toyStep{Kind: "work", Name: "x", Undo: true, Beside: true}, toyStep{Kind: "work", Name: "y", Beside: true, Undo: true}, failing("z", 9, 0)),
			chain(work("u"), work("v"), work("w"), work("q"))), work("never")),
		end: `REVERTED value  failure "Boom" timed out false`,
	},
	{
		name: "overdue", program: toyFlow{
			Deadline: time.Minute,
			Steps:    []toyStep{work("a"), fork("f", chain(work("x"), pause("t", time.Hour)), chain(work("y")))},
		},
		end: `REVERTED value  failure "Timeout" timed out true`, undone: []string{"f[1]/y", "f[0]/x", "a"},
	},
	{
		name: "in time", program: toyFlow{Deadline: time.Hour, Steps: []toyStep{work("a"), {Kind: "timer", Name: "t", After: time.Minute}}},
		end: `SUCCESS value "done" failure "" timed out false`,
	},
}

// TestGrowth runs each program without a crash.
//
// Guarantee (G4): Growing flows undo everything that can be undone.
// Also: `TestGrowthRandom`.
func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, c := range toyPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, each := range []bool{true, false} {
				g := newGardener(t, c.program)
				g.each = each
				g.play()
				g.check()
				if g.end() != c.end {
					t.Errorf("each %t: ended %s, want %s", each, g.end(), c.end)
				}
				if diff := cmp.Diff(c.undone, append([]string{}, g.undone...)); c.undone != nil && diff != "" {
					t.Errorf("each %t: undone (-want +got):\n%s", each, diff)
				}
			}
		})
	}
}

// TestGrowthCrash lets each program crash after every commit. It ends as without a crash.
//
// Guarantee (G5): Growing flows end the same with a death after every commit. Random ones keep success or failure after
// repeated deaths.
// Also: `TestGrowthRandom`.
func TestGrowthCrash(t *testing.T) {
	t.Parallel()
	for _, c := range toyPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, each := range []bool{true, false} {
				crashes(t, c.program, each, first, c.end)
				crashes(t, c.program, each, last, c.end)
			}
		})
	}
}

// The completion that is reported next.
func first(int) int  { return 0 }
func last(n int) int { return n - 1 }

// crashes runs a program once for each commit that it may crash after.
func crashes(t *testing.T, program toyFlow, each bool, pick func(n int) int, end string) {
	t.Helper()
	for at := 1; ; at++ {
		g := newGardener(t, program)
		g.each, g.crashAt, g.pick = each, at, pick
		g.play()
		if !g.crashed {
			return
		}
		g.check()
		if g.end() != end {
			t.Errorf("each %t, crash after commit %d: ended %s, want %s", each, at, g.end(), end)
		}
	}
}

// TestGrowthSuspend suspends each program after every commit and resumes it from the stored records.
func TestGrowthSuspend(t *testing.T) {
	t.Parallel()
	for _, c := range toyPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
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
				if len(c.undone) > 0 && slices.Sorted(slices.Values(g.undone))[0] != slices.Sorted(slices.Values(c.undone))[0] {
					t.Errorf("suspended after commit %d: undone %v, want %v", at, g.undone, c.undone)
				}
			}
		})
	}
}

// TestAborted checks what a language hears of nodes that were ended because a child failed, or because the flow was
// overdue, whichever commit the process dies after: their paths, and which of them had ended before.
func TestAborted(t *testing.T) {
	t.Parallel()
	inner := fork("g", chain(pause("u", time.Hour)), chain(pause("w", time.Hour)))
	for _, c := range []struct {
		name    string
		program toyFlow
		kind    grow.CauseKind
		of      string
		want    []string
	}{
		{
			"a child failed", chain(fork("f", chain(work("x"), failing("y", 9, 0)), chain(pause("t", time.Hour)), chain(inner))),
			grow.JoinFailed, "f",
			[]string{"f[1]/t", "f[2]/g", "f[2]/g[0]/u", "f[2]/g[1]/w"},
		},
		{
			"a child of a child failed", chain(fork("f", chain(fork("e", chain(failing("y", 9, 0)), chain(inner))))),
			grow.JoinFailed, "e",
			[]string{"f[0]/e[1]/g", "f[0]/e[1]/g[0]/u", "f[0]/e[1]/g[1]/w"},
		},
		{
			"a child fails while others execute", chain(fork("f", chain(failing("y", 9, 0)), chain(work("x")),
				chain(fork("g", chain(work("v")), chain(work("w")))))),
			grow.JoinFailed, "f",
			[]string{"f[1]/x", "f[2]/g", "f[2]/g[0]/v", "f[2]/g[1]/w"},
		},
		{
			"overdue",
			toyFlow{Deadline: time.Minute, Steps: []toyStep{fork("f", chain(pause("t", time.Hour)), chain(pause("u", time.Hour)))}},
			grow.Overdue, "",
			[]string{"f", "f[0]/t", "f[1]/u"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for at := range 100 {
				g := newGardener(t, c.program)
				g.each, g.own, g.crashAt = at%4 < 2, at%2 == 0, at/4
				var got, accepted []string
				g.asked = func(cause *grow.Cause) {
					if cause.Kind == c.kind && cause.Name == c.of {
						got, accepted = cause.Aborted, cause.Accepted
					}
				}
				g.play()
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("crash after commit %d (-want +got):\n%s", g.crashAt, diff)
				}
				for _, path := range got {
					ended := g.nodes[path].Rec.Ended != grow.EndNone
					if slices.Contains(accepted, path) != ended {
						t.Errorf("crash after commit %d: %s ended: %t, accepted are %v", g.crashAt, path, ended, accepted)
					}
				}
			}
		})
	}
}

// answers is a language that gives one answer to a cause of each kind.
type answers map[grow.CauseKind]grow.Growth

func (a answers) Grow(ask *grow.Ask) grow.Growth       { return a[ask.Cause.Kind] }
func (answers) Undo(*grow.UndoAsk) (atom.Value, error) { return atom.Null, nil }

// TestImpossibleAnswers shows that a flow fails whose language gives an answer
// that cannot be followed.
//
// Guarantee (G8): A language's impossible answer, of three tested, fails the flow with that reason.
func TestImpossibleAnswers(t *testing.T) {
	t.Parallel()
	one := []grow.Spec{{Name: "a"}}
	for want, lang := range map[string]answers{
		`the flow's language answered "begin" of "" with nothing to wait for`:  {},
		`the flow's language answered "ended" of "a" with nothing to wait for`: {grow.Begin: {Add: one}},
		`the flow's language added two nodes of one name`:                      {grow.Begin: {Add: []grow.Spec{{Name: "a"}, {Name: "a"}}}},
	} {
		g := newGardener(t, toyFlow{})
		g.lang = lang
		g.play()
		if f := g.over.End.Failure; g.over.FlowTo != states.FlowFailure || f == nil || f.Code != atom.CodeLanguage || f.Message != want {
			t.Errorf("ended %v with %v, want %q", g.over.FlowTo, f, want)
		}
	}
}
