package sm4c

import (
	"github.com/ebbflow/ebb/internal/jsontext"
)

// stateRule is a state.
type stateRule struct{}

func (stateRule) read(c *checker, n *node) (s *state) {
	if list := c.states.list; n.Index < len(list) && list[n.Index].node == n {
		s = list[n.Index].read
	} else {
		s = &state{} // of a list that another of the same name takes the place of
	}
	c.Within("state "+quote(text(n, "name"))+": ", func() { stateObject.fill(c, n, s) })
	return s
}

// trigger is what makes a transition fire.
type trigger uint8

const (
	implicit  trigger = iota // at once
	condition                // when its condition holds
	events                   // when its groups have their events
	timer                    // when its time is up
	inert                    // never: it combines triggers, which has no meaning
)

// triggerOf returns what makes a transition fire (decision 7).
func triggerOf(n *node) trigger {
	found := implicit
	for _, t := range [...]trigger{condition, events, timer} {
		switch {
		case !isTriggered(n, t):
		case found != implicit:
			return inert
		default:
			found = t
		}
	}
	return found
}

// isTriggered reports whether a transition has a trigger.
func isTriggered(n *node, t trigger) bool {
	switch t {
	case condition:
		return get(n, "condition") != nil
	case events:
		return len(items(n, "eventGroups")) > 0
	default:
		return get(n, "timeout") != nil
	}
}

// describeTransition notes what makes a transition fire, and what it is taken for.
func describeTransition(_ *checker, n *node, t *transition) {
	t.number, t.trigger, t.label = n.Index, triggerOf(n), labelOf(n)
}

// checkTransitions is what the transitions of a state must be together.
func checkTransitions(c *checker, n *node, _ *state) {
	var first [inert + 1]*node
	transitions := items(n, "transitions")
	for _, t := range transitions {
		if t.Kind != jsontext.Object {
			continue
		}
		kind := triggerOf(t)
		switch {
		case kind == inert:
			c.Valuef(ruleInert, t, "the transition is never taken: it has more than one of condition, eventGroups and timeout")
		case kind == implicit && first[kind] != nil:
			c.Valuef(ruleTwoImplicit, t, "there are two transitions without condition, eventGroups and timeout")
		case kind == timer && first[kind] != nil:
			c.Valuef(ruleTwoTimeouts, t, "there are two transitions with a timeout alone")
		case kind == implicit && get(t, "nextState") == nil:
			c.Fixf(ruleSpin, t, "add nextState", "the transition fires at once, again and again")
		case kind == timer && get(t, "nextState") == nil && get(t, "action") == nil:
			c.Fixf(ruleSpin, t, "add nextState, or an action", "the transition does nothing when its time is up")
		}
		if first[kind] == nil {
			first[kind] = t
		}
	}
	if first[implicit] != nil {
		for _, t := range transitions {
			if t != first[implicit] && t.Kind == jsontext.Object && triggerOf(t) != implicit {
				c.Valuef(ruleHidden, t, "the transition is never taken: another of the state has no condition, eventGroups and timeout")
			}
		}
	}
	if len(transitions) > 0 && first[implicit] == nil && first[condition] == nil && first[events] == nil && first[timer] == nil {
		c.Valuef(ruleStuck, n, "none of the state's transitions is ever taken")
	}
}

// checkStart is that a machine begins with one state, from which all others can
// be come to.
func checkStart(c *checker, n *node, m *Machine) {
	for _, def := range c.states.list {
		switch {
		case !get(def.node, "start").IsTrue():
		case m.start != nil:
			c.Valuef(ruleStart, get(def.node, "start"), "the states %s and %s both have \"start\": true", quote(m.start.name), quote(def.name))
		default:
			m.start = def.read
		}
	}
	if m.start == nil {
		if len(c.states.list) > 0 {
			c.Fixf(ruleStart, get(n, "states"), `add "start": true to the first`, "no state has \"start\": true")
		}
		return
	}
	reached := map[*state]bool{m.start: true}
	for open := []*state{m.start}; len(open) > 0; open = open[1:] {
		for _, next := range open[0].successors() {
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

// checkMachine warns of the timeout under its other name, and looks at what Ebb adds
// to the attributes of a machine.
func checkMachine(c *checker, n *node, _ *Machine) {
	if other := get(n, "execTimeout"); other != nil && get(n, "timeout") != nil {
		c.Valuef(ruleUnused, other, "execTimeout has no effect beside timeout, which is the same")
	}
	for _, name := range []string{"resources", "waitDefault"} {
		if added := get(n, name); added != nil {
			c.extension(added, name)
		}
	}
}
