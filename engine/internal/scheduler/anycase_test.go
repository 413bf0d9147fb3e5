package scheduler_test

import (
	"strconv"

	"pgregory.net/rapid"

	"github.com/ebbflow/ebb/internal/conformance"
)

// caseMaker draws flows whose tasks fail always, never, or at their first calls.
type caseMaker struct {
	t       *rapid.T
	atoms   int
	flows   int
	passing bool // whether a task may do otherwise at another call, and a revert may fail
}

// anyCase draws a case. Without passing, each task does the same at every call
// and can be reverted, and nothing is interrupted.
func anyCase(t *rapid.T, passing bool) *conformance.TaskFlowCase {
	m := &caseMaker{t: t, passing: passing}
	c := &conformance.TaskFlowCase{Flow: m.flow(3)}
	if passing {
		c.Interrupts = m.interrupts()
	}
	c.Options.DeferReverts = rapid.Bool().Draw(t, "defer reverts")
	return c
}

func (m *caseMaker) name(n *int, message string) string {
	*n++
	return message + strconv.Itoa(*n)
}

func (m *caseMaker) flow(depth int) conformance.TaskFlowNode {
	f := conformance.TaskFlowNode{
		Kind: rapid.SampledFrom([]string{"linear", "unordered", "graph"}).Draw(m.t, "kind"),
		Name: m.name(&m.flows, "f"),
	}
	if rapid.Bool().Draw(m.t, "has retry") {
		f.Retry = &conformance.TaskFlowRetry{
			Kind: rapid.SampledFrom([]string{"times", "always_revert", "always_revert_all"}).Draw(m.t, "retry"),
			Name: m.name(&m.atoms, "r"), Attempts: rapid.IntRange(1, 3).Draw(m.t, "attempts"), RevertAll: rapid.Bool().Draw(m.t, "revert all"),
		}
	}
	for range rapid.IntRange(0, 4).Draw(m.t, "children") {
		if depth > 0 && rapid.IntRange(0, 2).Draw(m.t, "deeper") == 0 {
			f.Children = append(f.Children, m.flow(depth-1))
		} else {
			f.Children = append(f.Children, m.task())
		}
	}
	if f.Kind == "graph" {
		m.links(&f)
	}
	return f
}

func (m *caseMaker) task() conformance.TaskFlowNode {
	n := conformance.TaskFlowNode{
		Kind: "task", Name: m.name(&m.atoms, "t"), Priority: rapid.IntRange(0, 2).Draw(m.t, "priority"),
	}
	switch fails := rapid.IntRange(0, 8).Draw(m.t, "fails"); {
	case fails == 0:
		n.FailAlways = "Boom"
	case fails <= 2 && m.passing:
		n.FailOn = map[string]string{"1": "Boom", "2": "Boom"}
	case fails == 3 && m.passing:
		n.RevertFailAlways = rapid.SampledFrom([]string{"", "", "Stuck"}).Draw(m.t, "revert fails")
	}
	return n
}

// interrupts draws where the run is stopped.
func (m *caseMaker) interrupts() []conformance.TaskFlowInterrupt {
	var out []conformance.TaskFlowInterrupt
	for range rapid.IntRange(0, 3).Draw(m.t, "interrupts") {
		in := conformance.TaskFlowInterrupt{Mode: rapid.SampledFrom([]string{"suspend", "suspend_reload", "crash"}).Draw(m.t, "mode")}
		in.At.Atom = rapid.SampledFrom([]string{"t", "r"}).Draw(m.t, "letter") + strconv.Itoa(rapid.IntRange(1, max(1, m.atoms)).Draw(m.t, "number"))
		in.At.State = rapid.SampledFrom([]string{"RUNNING", "SUCCESS", "FAILURE", "REVERTING", "REVERTED", "RETRYING", "PENDING", "IGNORE"}).Draw(m.t, "state")
		in.At.Nth = rapid.IntRange(1, 2).Draw(m.t, "nth")
		out = append(out, in)
	}
	return out
}

// links joins children from earlier to later ones, some with a decider.
func (m *caseMaker) links(f *conformance.TaskFlowNode) {
	for to := range f.Children {
		for from := range to {
			if rapid.IntRange(0, 2).Draw(m.t, "linked") != 0 {
				continue
			}
			l := conformance.TaskFlowLink{From: f.Children[from].Name, To: f.Children[to].Name}
			if rapid.IntRange(0, 2).Draw(m.t, "decides") == 0 {
				yes := rapid.Bool().Draw(m.t, "yes")
				l.Decider = &conformance.TaskFlowDecider{Const: &yes}
				l.Depth = rapid.SampledFrom([]string{"ALL", "FLOW", "NEIGHBORS", "ATOM"}).Draw(m.t, "depth")
			}
			f.Links = append(f.Links, l)
		}
	}
}
