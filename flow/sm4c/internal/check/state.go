package check

import (
	"strings"

	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// stateRule is the rule for a state.
type stateRule struct{}

func (stateRule) read(c *checker, n *node) (s *syntax.State) {
	if list := c.states.list; n.Index < len(list) && list[n.Index].node == n {
		s = list[n.Index].read
	} else {
		s = &syntax.State{} // a duplicate whose definition is not used
	}
	s.At = c.offset(n)
	c.Within("state "+quote(text(n, "name"))+": ", func() { stateObject.fill(c, n, s) })
	return s
}

// triggerOf returns the trigger of a transition (decision 7).
func triggerOf(n *node) syntax.Trigger {
	found := syntax.Implicit
	for _, t := range [...]syntax.Trigger{syntax.Condition, syntax.Events, syntax.Timer} {
		switch {
		case !isTriggered(n, t):
		case found != syntax.Implicit:
			return syntax.Inert
		default:
			found = t
		}
	}
	return found
}

// isTriggered reports whether a transition has a trigger.
func isTriggered(n *node, t syntax.Trigger) bool {
	switch t {
	case syntax.Condition:
		return get(n, "condition") != nil
	case syntax.Events:
		return len(items(n, "eventGroups")) > 0
	default:
		return get(n, "timeout") != nil
	}
}

// describeTransition records the trigger and the label of a transition.
func describeTransition(c *checker, n *node, t *syntax.Transition) {
	t.At = c.offset(n)
	t.Number, t.Trigger, t.Label = n.Index, triggerOf(n), labelOf(n)
}

// checkTransitions checks the transitions of a state together.
func checkTransitions(c *checker, n *node, _ *syntax.State) {
	var first [syntax.Inert + 1]*node
	transitions := items(n, "transitions")
	for _, t := range transitions {
		if t.Kind != jsontext.Object {
			continue
		}
		kind := triggerOf(t)
		switch {
		case kind == syntax.Inert:
			c.Valuef(ruleInert, t, "the transition is never taken: it has more than one of condition, eventGroups and timeout")
		case kind == syntax.Implicit && first[kind] != nil:
			c.Valuef(ruleTwoImplicit, t, "there are two transitions without condition, eventGroups and timeout")
		case kind == syntax.Timer && first[kind] != nil:
			c.Valuef(ruleTwoTimeouts, t, "there are two transitions with a timeout alone")
		case kind == syntax.Implicit && get(t, "nextState") == nil:
			c.Fixf(ruleSpin, t, "add nextState", "the transition fires at once, again and again")
		case kind == syntax.Timer && get(t, "nextState") == nil && get(t, "action") == nil:
			c.Fixf(ruleSpin, t, "add nextState, or an action", "the transition does nothing when its time is up")
		}
		if first[kind] == nil {
			first[kind] = t
		}
	}
	if first[syntax.Implicit] != nil {
		for _, t := range transitions {
			if t != first[syntax.Implicit] && t.Kind == jsontext.Object && triggerOf(t) != syntax.Implicit {
				c.Valuef(ruleHidden, t,
					"the transition is never taken: another of the state has no condition, eventGroups and timeout")
			}
		}
	}
	if len(transitions) > 0 && first[syntax.Implicit] == nil && first[syntax.Condition] == nil &&
		first[syntax.Events] == nil &&
		first[syntax.Timer] == nil {
		c.Valuef(ruleStuck, n, "none of the state's transitions is ever taken")
	}
}

// checkStart reports a machine without exactly one start state, and states that cannot be reached.
func checkStart(c *checker, n *node, m *syntax.Machine) {
	for _, def := range c.states.list {
		switch {
		case !get(def.node, "start").IsTrue():
		case m.Start != nil:
			c.Valuef(ruleStart, get(def.node, "start"), "the states %s and %s both have \"start\": true", quote(m.Start.Name),
				quote(def.name))
		default:
			m.Start = def.read
		}
	}
	if m.Start == nil {
		if len(c.states.list) > 0 {
			c.Fixf(ruleStart, get(n, "states"), `add "start": true to the first`, "no state has \"start\": true")
		}
		return
	}
	reached := map[*syntax.State]bool{m.Start: true}
	for open := []*syntax.State{m.Start}; len(open) > 0; open = open[1:] {
		for _, next := range open[0].Successors() {
			if !reached[next] {
				reached[next] = true
				open = append(open, next)
			}
		}
	}
	for _, def := range c.states.list {
		if !reached[def.read] && def.name != "" {
			c.Valuef(ruleUnreachable, def.node, "no transition leads to the state %s", quote(def.name))
		}
	}
}

// checkMachine warns of the timeout under its other name, and checks Ebb's additions to the attributes of a
// machine.
func checkMachine(c *checker, n *node, _ *syntax.Machine) {
	if other := get(n, "execTimeout"); other != nil && get(n, "timeout") != nil {
		c.Valuef(ruleUnused, other, "execTimeout has no effect beside timeout, which is the same")
	}
	for _, name := range []string{"resources", "waitDefault"} {
		if added := get(n, name); added != nil {
			c.extension(added, name)
		}
	}
}

// labelOf returns the condition of a transition as a label.
func labelOf(n *node) string {
	switch triggerOf(n) {
	case syntax.Condition:
		program, _, _ := inside(text(n, "condition"))
		return jsontext.Cut(program)
	case syntax.Events:
		var all []string
		for _, g := range items(n, "eventGroups") {
			var names []string
			for _, e := range items(g, "events") {
				names = append(names, e.Str)
			}
			all = append(all, strings.Join(names, " or "))
		}
		return strings.Join(all, ", and ")
	case syntax.Timer:
		return "after " + text(n, "timeout")
	default:
		return ""
	}
}
