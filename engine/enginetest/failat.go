package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/states"
)

// FailAt runs the flow of w once for each way in which each of its atoms can
// fail, and once for each point at which its process can die, every time in a
// world of its own, and fails tb when the world is not as it must be:
//
//   - after a run that was undone, or that failed with nothing to undo, State is
//     what it was before the run;
//   - after a run that succeeded in spite of a failure, since a retry or a catch
//     helped, State is what it is when nothing fails. When the flow went another
//     way (other atoms, or another value of a retry that others use) it is what
//     it is when the atom fails before it did anything;
//   - after a run whose process died, the run's end and State are what they are
//     without that.
//
// An atom fails in five ways: with an error, before and after it did its work
// (Revert is told Failed); with a panic after it; and by being given up on, as in
// a timeout, with its work undone and done (Revert is told Unknown). It fails
// every time, and where it is tried again also only the first time.
//
// A process dies after each commit, and after each call of an atom and before
// what that did is committed: while all goes well, and while the failure is dealt
// with that undoes most. To die before a commit is to die at the last of these
// points before it.
//
// With a *testing.T each case is a subtest, such as FailAt/charge/after_effect or
// FailAt/crash_after_commit_7, in a bubble of testing/synctest: waits take no
// time. With any other testing.TB the cases are run on the spot in real time, and
// Errorf is called for each that fails.
//
// Atoms execute one after the other, so that each case goes the same way every
// time. The run without any failure must succeed. What must be idempotent, and
// how to tell, is in docs/how-to/test-your-flow.md.
func FailAt[W any](tb testing.TB, w World[W]) {
	tb.Helper()
	x, err := w.explorer()
	if err != nil {
		tb.Errorf("%v", err)
		return
	}
	t, ok := tb.(*testing.T)
	if !ok {
		x.failAt(tb, func(name string, try func(tb testing.TB) string) {
			tb.Helper()
			if text := try(tb); text != "" {
				tb.Errorf("FailAt/%s: %s", name, text)
			}
		})
		return
	}
	t.Run("FailAt", func(t *testing.T) {
		x.failAt(t, func(name string, try func(tb testing.TB) string) {
			t.Run(name, func(t *testing.T) {
				if text := try(t); text != "" {
					t.Error(text)
				}
			})
		})
	})
}

// An explorer runs the cases of one world.
type explorer struct {
	fresh    func(tb testing.TB) *instance
	codes    []string
	stays    []string
	most     int
	realTime bool

	plain *played            // the run in which nothing fails
	known map[script]*played // runs without crash that are needed more than once
	told  map[string]string  // what was found, by the first case that told of it
	bad   int
}

// inTime runs f in virtual time if it can.
func (x *explorer) inTime(tb testing.TB, f func(tb testing.TB)) {
	tb.Helper()
	if t, ok := tb.(*testing.T); ok && !x.realTime {
		synctest.Test(t, func(t *testing.T) { f(t) })
		return
	}
	f(tb)
}

// failAt runs the cases, each by run, which is given what finds out what is
// wrong.
func (x *explorer) failAt(tb testing.TB, run func(name string, try func(tb testing.TB) string)) {
	tb.Helper()
	if fault := x.prepare(tb); fault != "" {
		tb.Errorf("%s", fault)
		return
	}
	cases := x.cases(tb)
	for _, c := range cases {
		run(c.name, func(tb testing.TB) string {
			tb.Helper()
			return x.try(tb, c)
		})
	}
	if x.bad > 0 {
		tb.Logf("%d of %d cases show that something is wrong", x.bad, len(cases))
	}
}

// prepare runs the flow undisturbed, and returns why that is nothing to build
// on, or "".
func (x *explorer) prepare(tb testing.TB) string {
	tb.Helper()
	x.plain = x.play(tb, script{}, false)
	x.known[script{}] = x.plain
	switch p := x.plain; {
	case p.err != nil:
		return fmt.Sprintf("FailAt: the flow cannot be run: %v", p.err)
	case p.run.State != states.FlowSuccess:
		return fmt.Sprintf("FailAt: with nothing failing, the flow must succeed in a new world; it ended %v: %v", p.run.State, p.run.Failure)
	}
	again := x.play(tb, script{}, true)
	if changes := x.plain.begin.diff(again.begin); len(changes) > 0 {
		return "FailAt: two worlds that New made differ already; State must leave that out:\n\n" + table(changes, nil)
	}
	if changes := x.plain.end.diff(again.end); len(changes) > 0 {
		return "FailAt: two runs in which nothing failed leave worlds that differ; State must leave that out:\n\n" + table(changes, nil)
	}
	return x.look(tb, again)
}

// look says what of the flow cannot be judged: what State does not show, and
// what does not run.
func (x *explorer) look(tb testing.TB, p *played) string {
	tb.Helper()
	var unseen []string
	seen := false
	for _, st := range p.steps {
		changes := len(st.before.diff(st.end)) > 0
		seen = seen || changes
		if !changes && p.reverts[st.Path] {
			unseen = append(unseen, st.atom())
		}
	}
	if !seen {
		return "FailAt: State shows nothing of what the flow does: it is the same before and after each atom, so nothing could be found"
	}
	if len(unseen) > 0 {
		tb.Logf("FailAt: State does not show what these atoms do, so whether it is undone is not known: %s", strings.Join(unseen, ", "))
	}
	if len(p.idle) > 0 {
		tb.Logf("FailAt: these atoms do not run when nothing fails, so they were not made to fail; a world that leads to them needs a FailAt of its own: %s",
			strings.Join(p.idle, ", "))
	}
	return ""
}
