package enginetest

import (
	"slices"
	"testing"

	"github.com/ebbflow/ebb/states"
)

// A testCase is one run that must leave the world as another one does.
type testCase struct {
	name   string
	script script
	at     point // where the process dies, if it does
}

// cases lists what is to be tried, in the order of the flow: failures, then
// crashes while nothing fails, then crashes while a failure is dealt with: the
// one that undoes most, and the one that keeps the run busiest and helped.
func (x *explorer) cases(tb testing.TB) []testCase {
	tb.Helper()
	var cases []testCase
	var undone, tried fault
	most := 0
	for _, path := range x.paths() {
		for _, code := range append([]string{""}, x.codes...) {
			f := fault{path: path, how: after, code: code}
			p := x.run(tb, f)
			if p.err == nil && p.run.State != states.FlowSuccess && p.undone() >= x.run(tb, undone).undone() {
				undone = f
			}
			again := p.faults > 1 // something has it tried once more
			cases = append(cases, faults(path, code, again)...)
			if f.once = true; again && len(x.run(tb, f).steps) >= most {
				tried, most = f, len(x.run(tb, f).steps)
			}
		}
	}
	cases = append(cases, deaths("", fault{}, x.plain.points, 0)...)
	if undone != (fault{}) {
		p := x.run(tb, undone)
		cases = append(cases, deaths(undone.group(), undone, p.points, p.faulty)...)
	}
	if tried != (fault{}) { // were the failure itself lost in the crash, the atom would not be tried again
		p := x.run(tb, tried)
		cases = append(cases, deaths(tried.group(), tried, p.points, p.faulty+1)...)
	}
	return x.bounded(tb, cases)
}

// paths are the atoms that run when nothing fails, in that order.
func (x *explorer) paths() []string {
	var paths []string
	for _, st := range x.plain.steps {
		if !slices.Contains(paths, st.Path) {
			paths = append(paths, st.Path)
		}
	}
	return paths
}

// undone is how many atoms were undone.
func (out *played) undone() int {
	n := 0
	for _, st := range out.steps {
		if st.Revert {
			n++
		}
	}
	return n
}

// faults are the ways in which one atom fails with a code; again, whether to let
// it fail only once, too.
func faults(path, code string, again bool) []testCase {
	hows := ways
	if code != "" { // a panic has no code, nor has a call that is given up
		hows = []how{before, after}
	}
	var cases []testCase
	for _, how := range hows {
		f := fault{path: path, how: how, code: code}
		cases = append(cases, testCase{name: f.name(), script: script{fault: f}})
		if again {
			f.once = true
			cases = append(cases, testCase{name: f.name(), script: script{fault: f}})
		}
	}
	return cases
}

// deaths are the ways in which the process of a run dies, from a point on.
func deaths(prefix string, f fault, points []point, from int) []testCase {
	var cases []testCase
	for i := from; i < len(points); i++ {
		cases = append(cases, testCase{prefix + points[i].name(), script{fault: f, cut: i + 1}, points[i]})
	}
	return cases
}

// bounded leaves out what is too much, evenly.
func (x *explorer) bounded(tb testing.TB, cases []testCase) []testCase {
	tb.Helper()
	if len(cases) <= x.most {
		return cases
	}
	tb.Logf("FailAt: of %d cases, %d are run, evenly chosen; World.MaxCases bounds them", len(cases), x.most)
	chosen := make([]testCase, 0, x.most)
	for i := range x.most {
		chosen = append(chosen, cases[i*len(cases)/x.most])
	}
	return chosen
}

// run returns how a run without a crash goes, running it at most once.
func (x *explorer) run(tb testing.TB, f fault) *played {
	tb.Helper()
	s := script{fault: f}
	if x.known[s] == nil {
		x.known[s] = x.play(tb, s, false)
	}
	return x.known[s]
}
