package failat

import (
	"slices"

	"github.com/ebbflow/ebb/states"
)

// A Case is a run that must leave the world as another run does.
type Case struct {
	Name string // such as charge/after_effect

	script script
	at     point // where the process dies, if it does
}

// Cases lists the cases in the order of the flow: failures, then crashes without a failure, then crashes while a
// failure is handled. The failures for the last ones are that with the most undos, and the handled one that keeps the
// run busiest.
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
			again := p.faults > 1 // a retry follows
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
	if tried != (fault{}) { // if the crash lost the failure, Ebb would not retry the atom
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

// failing are the atoms that the cases make fail.
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

// usual is the way in which atoms fail in the runs that show what a failure does to the flow.
func (x *Explorer) usual() how {
	if x.of.Honest {
		return before
	}
	return after
}

// paths are the atoms that run if nothing fails, in order.
func (x *Explorer) paths() []string {
	var paths []string
	for _, st := range x.plain.steps {
		if !slices.Contains(paths, st.Path) {
			paths = append(paths, st.Path)
		}
	}
	return paths
}

// undone returns how many atoms were undone.
func (out *played) undone() int {
	n := 0
	for _, st := range out.steps {
		if st.Revert {
			n++
		}
	}
	return n
}

// faults are the ways in which one atom fails with a code. If again is set, they include failing only once.
func (x *Explorer) faults(path, code string, again bool) []Case {
	hows := ways
	if x.of.Honest {
		hows = []how{before, unknownAfter}
	}
	if code != "" { // a panic and an abandoned call have no code
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

// bounded selects an even part of too many cases.
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

// run returns the course of a run without a crash. It runs it at most once.
func (x *Explorer) run(h Host, f fault) *played {
	s := script{fault: f}
	if x.known[s] == nil {
		x.known[s] = x.play(h, s, false)
	}
	return x.known[s]
}
