package failat

import (
	"slices"

	"github.com/ebbflow/ebb/states"
)

// A Case is one run that must leave the world as another one does.
type Case struct {
	Name string // such as charge/after_effect

	script script
	at     point // where the process dies, if it does
}

// Cases lists what is to be tried, in the order of the flow: failures, then
// crashes while nothing fails, then crashes while a failure is dealt with: the
// one that undoes most, and the one that keeps the run busiest and helped.
func (x *Explorer) Cases(h Host) []Case {
	var cases []Case
	var undone, tried fault
	most := 0
	for _, path := range x.failing() {
		for _, code := range append([]string{""}, x.codes(path)...) {
			f := fault{path: path, how: x.usual(), code: code}
			p := x.run(h, f)
			if p.err == nil && p.run.State != states.FlowSuccess && p.undone() >= x.run(h, undone).undone() {
				undone = f
			}
			again := p.faults > 1 // something has it tried once more
			cases = append(cases, x.faults(path, code, again)...)
			if f.once = true; again && len(x.run(h, f).steps) >= most {
				tried, most = f, len(x.run(h, f).steps)
			}
		}
	}
	for _, path := range x.of.Waits {
		for _, f := range []fault{{path: path, how: refused}, {path: path, how: unanswered}} {
			cases = append(cases, Case{Name: f.name(), script: script{fault: f}})
		}
	}
	cases = append(cases, deaths("", fault{}, x.plain.points, 0)...)
	if undone != (fault{}) {
		p := x.run(h, undone)
		cases = append(cases, deaths(undone.group(), undone, p.points, p.faulty)...)
	}
	if tried != (fault{}) { // were the failure itself lost in the crash, the atom would not be tried again
		p := x.run(h, tried)
		cases = append(cases, deaths(tried.group(), tried, p.points, p.faulty+1)...)
	}
	return x.bounded(h, cases)
}

func (x *Explorer) codes(path string) []string {
	if x.of.Codes == nil {
		return nil
	}
	return x.of.Codes(path)
}

// failing are the atoms that are made to fail.
func (x *Explorer) failing() []string {
	if x.of.Class == nil {
		return x.paths()
	}
	seen := map[string]bool{}
	var paths []string
	for _, path := range x.paths() {
		if class := x.of.Class(path); !seen[class] {
			seen[class] = true
			paths = append(paths, path)
		}
	}
	return paths
}

// usual is how atoms fail in the runs that show what a failure does to the flow.
func (x *Explorer) usual() how {
	if x.of.Honest {
		return before
	}
	return after
}

// paths are the atoms that run when nothing fails, in that order.
func (x *Explorer) paths() []string {
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
func (x *Explorer) faults(path, code string, again bool) []Case {
	hows := ways
	if x.of.Honest {
		hows = []how{before, unknownAfter}
	}
	if code != "" { // a panic has no code, nor has a call that is given up
		hows = hows[:1:1]
		if !x.of.Honest {
			hows = append(hows, after)
		}
	}
	var cases []Case
	for _, how := range hows {
		f := fault{path: path, how: how, code: code}
		cases = append(cases, Case{Name: f.name(), script: script{fault: f}})
		if again {
			f.once = true
			cases = append(cases, Case{Name: f.name(), script: script{fault: f}})
		}
	}
	return cases
}

// deaths are the ways in which the process of a run dies, from a point on.
func deaths(prefix string, f fault, points []point, from int) []Case {
	var cases []Case
	for i := from; i < len(points); i++ {
		cases = append(cases, Case{Name: prefix + points[i].name(), script: script{fault: f, cut: i + 1}, at: points[i]})
	}
	return cases
}

// bounded leaves out what is too much, evenly.
func (x *Explorer) bounded(h Host, cases []Case) []Case {
	if len(cases) <= x.of.Most {
		return cases
	}
	h.Logf("FailAt: of %d cases, %d are run, evenly chosen; World.MaxCases bounds them", len(cases), x.of.Most)
	chosen := make([]Case, 0, x.of.Most)
	for i := range x.of.Most {
		chosen = append(chosen, cases[i*len(cases)/x.of.Most])
	}
	return chosen
}

// run returns how a run without a crash goes, running it at most once.
func (x *Explorer) run(h Host, f fault) *played {
	s := script{fault: f}
	if x.known[s] == nil {
		x.known[s] = x.play(h, s, false)
	}
	return x.known[s]
}
