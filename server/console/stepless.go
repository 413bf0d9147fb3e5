package console

import (
	"context"
	"strings"

	"github.com/ebbflow/ebb/internal/inspect"
)

// chosenStep shows the step that is chosen, if it has no atom, as a state that only computes.
func (p *runPage) chosenStep(ctx context.Context) (node, error) {
	var state, cause node
	if !p.isLarge() {
		t, err := p.recorded(ctx)
		if err != nil {
			return nil, err
		}
		if s := stepAt(&t.Top, p.chosen); s != nil {
			r := rowOf(s, 0)
			state, cause = fragment{words(" "), chip(r.Status)}, el("p", class("cause"), words(r.Cause))
		}
	}
	return fragment{
		el("h2", words(p.chosen), state), cause,
		soft(say("This step has no record of its own, as a state that only computes. The history has what is known of it.")),
	}, nil
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
