package console

import "slices"

// mostMentioned is how many atoms and runs the box that says why leads to.
const mostMentioned = 8

// mentioned leads to the atoms and runs that the sentences of the box name: those that failed, and those that wait or
// are waited for.
func (p *runPage) mentioned() node {
	var paths, runs []string
	for i := range p.why.Failed {
		paths = append(paths, p.why.Failed[i].Path)
	}
	if f := p.run.Failure; len(paths) == 0 && f != nil {
		paths = append(paths, f.Atom)
	}
	for _, w := range p.why.Waits(p.visit.now) {
		paths, runs = append(paths, w.Path), append(runs, w.Child)
	}
	var links fragment
	add := func(names []string, link func(string) node) {
		for i, name := range names {
			if name != "" && len(links) < mostMentioned && !slices.Contains(names[:i], name) {
				links = append(links, fragment{words(" "), link(name)})
			}
		}
	}
	add(paths, p.atomLink)
	add(runs, func(run string) node { return say("run {0}", runLink(run)) })
	return when(len(links) > 0, el("p", class("soft"), say("Look at:"), links))
}
