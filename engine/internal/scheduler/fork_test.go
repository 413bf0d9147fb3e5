package scheduler_test

import (
	"testing"
	"time"

	"github.com/ebbflow/ebb/states"
)

// TestForkBeginsInSteps begins a fork with very many children. Each Step begins one of them,
// in order, so a run that is suspended meanwhile begins no more. When it resumes, it
// begins the others.
func TestForkBeginsInSteps(t *testing.T) {
	t.Parallel()
	const children, suspendAt = 250, 75
	flows := make([]toyFlow, children)
	for i := range flows {
		flows[i] = chain(pause("t", time.Minute))
	}
	g := newGardener(t, chain(fork("f", flows...)))
	g.stopAt, g.defers = suspendAt, func() bool { return g.commits == suspendAt }
	if g.process(); !g.dead || g.flow != states.FlowSuspended {
		t.Fatalf("it is %v", g.flow)
	}
	if n := len(g.nodes); n > 2*suspendAt {
		t.Errorf("%d commits kept %d nodes and child flows", g.commits, n)
	}
	if g.longest > 20 {
		t.Errorf("a Step led to %d commands", g.longest)
	}
	g.longest, g.defers = 0, nil
	g.play()
	if g.check(); g.flow != states.FlowSuccess {
		t.Errorf("it ended %v", g.flow)
	}
	if g.longest > 2*suspendAt { // one Step resumes all that started
		t.Errorf("a Step led to %d commands", g.longest)
	}
}
