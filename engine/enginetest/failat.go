package enginetest

import (
	"testing"
	"testing/synctest"

	"github.com/ebbflow/ebb/internal/failat"
)

// FailAt runs the flow of w once for each way in which each of its atoms can fail, and for each point at which its
// process can die. Each case has its own world. FailAt fails tb if the world is not as it must be:
//
//   - After a run that was undone, or that failed with nothing to undo, State is the same as before the run.
//   - After a run that succeeded in spite of a failure, because a retry or a catch helped, State is the same as when
//     nothing fails. If the flow went another way (other atoms, or another value of a retry that others use), State is
//     the same as when the atom fails before it did anything.
//   - After a run whose process died, the run's end and State are the same as without the death.
//
// An atom fails in five ways. It returns an error before or after it did its work (Revert is told Failed), or panics
// after it. Or it is given up, as in a timeout, with its work undone or done (Revert is told Unknown). In each way it
// fails at every attempt. If it is retried, a further case fails only the first attempt.
//
// A process dies after each commit, and after each call of an atom whose effect is not committed yet. It does so while
// all goes well, and while the failure that undoes most is handled. To die before a commit is to die at the last of
// these points before it.
//
// With a *testing.T each case is a subtest, such as FailAt/charge/after_effect or FailAt/crash_after_commit_7, in a
// bubble of testing/synctest, where waits take no time. With any other testing.TB, FailAt runs the cases in real time,
// and calls Errorf for each that fails.
//
// Atoms execute one after the other, so that each case goes the same way every time. The run without any failure must
// succeed. docs/how-to/test-your-flow.md says what must be idempotent.
func FailAt[W any](tb testing.TB, w World[W]) {
	tb.Helper()
	if err := w.check(); err != nil {
		tb.Errorf("%v", err)
		return
	}
	t, ok := tb.(*testing.T)
	if !ok {
		explore(tb, &w, func(name string, try func(tb testing.TB) string) {
			tb.Helper()
			if text := try(tb); text != "" {
				tb.Errorf("FailAt/%s: %s", name, text)
			}
		})
		return
	}
	t.Run("FailAt", func(t *testing.T) {
		explore(t, &w, func(name string, try func(tb testing.TB) string) {
			t.Run(name, func(t *testing.T) {
				if text := try(t); text != "" {
					t.Error(text)
				}
			})
		})
	})
}

// explore runs the cases with run, which gets the explorer.
func explore[W any](tb testing.TB, w *World[W], run func(name string, try func(tb testing.TB) string)) {
	tb.Helper()
	x := failat.New(w.world())
	if problem := x.Prepare(host[W]{tb, w}); problem != "" {
		tb.Errorf("%s", problem)
		return
	}
	cases := x.Cases(host[W]{tb, w})
	for _, c := range cases {
		run(c.Name, func(tb testing.TB) string {
			tb.Helper()
			if found := x.Try(host[W]{tb, w}, c); found != nil {
				return found.Text
			}
			return ""
		})
	}
	if x.Bad() > 0 {
		tb.Logf("%d of %d cases show that something is wrong", x.Bad(), len(cases))
	}
}

// A host runs cases in a test.
type host[W any] struct {
	testing.TB

	world *World[W]
}

// Fresh implements [failat.Host].
func (h host[W]) Fresh() *failat.Instance { return h.world.fresh(h.TB) }

// InTime runs f in virtual time if it can.
func (h host[W]) InTime(f func(failat.Host)) {
	h.Helper()
	if t, ok := h.TB.(*testing.T); ok && !h.world.RealTime {
		synctest.Test(t, func(t *testing.T) { f(host[W]{t, h.world}) })
		return
	}
	f(h)
}
