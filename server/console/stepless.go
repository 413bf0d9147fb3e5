package console

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
)

// chosenStep shows the step that is chosen, if it has no atom, as a state that only computes. Its values are those of
// its events.
func (p *runPage) chosenStep(ctx context.Context) (node, error) {
	var state, cause node
	known := soft(say("This step has no record of its own, as a state that only computes. The history has what is known " +
		"of it."))
	if !p.isLarge() {
		t, err := p.recorded(ctx)
		if err != nil {
			return nil, err
		}
		if s := stepAt(&t.Top, p.chosen); s != nil {
			r := rowOf(s, 0)
			state, cause = fragment{words(" "), chip(r.Status)}, el("p", class("cause"), words(r.Cause))
		}
		visit, err := p.chosenVisit(ctx)
		if err != nil {
			return nil, err
		}
		if visit != nil {
			known = visit
		}
	}
	return fragment{el("h2", words(p.chosen), state), cause, known}, nil
}

// chosenVisit shows the values of the visit that is chosen; nil if the machine of the run does not tell of it.
func (p *runPage) chosenVisit(ctx context.Context) (node, error) {
	if p.machine == nil {
		return nil, nil //nolint:nilnil // nothing is shown
	}
	for v, err := range inspect.Visits(ctx, p.store, &p.run, p.machine.Tracer(), p.chosen) {
		if err != nil {
			return nil, err
		}
		if v.Path == p.chosen {
			return fragment{
				el("dl", el("dt", say("kind")), el("dd", words(v.Type)), el("dt", say("started")), el("dd", exact(v.Started)),
					el("dt", say("ended")), el("dd", exact(v.Ended))),
				values("input", v.Input), values("variables that it sees", v.Sees), values("result", v.Result),
				values("variables that it set", v.Variables), values("output", v.Output),
			}, nil
		}
	}
	return nil, nil //nolint:nilnil // as above
}

// stepAt returns the step of a path that the tree shows below one; nil if there is none.
func stepAt(s *inspect.Step, path string) *inspect.Step {
	shown, _ := s.Shown()
	for _, step := range shown {
		if at, _, _ := strings.Cut(step.Path, "\x00"); at == path { // as in rowOf
			return step
		}
		if found := stepAt(step, path); found != nil {
			return found
		}
	}
	return nil
}
