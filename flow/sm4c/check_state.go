package sm4c

import (
	"github.com/ebbflow/ebb/internal/jsontext"
)

// stateRule is a state.
type stateRule struct{}

func (stateRule) check(c *checker, n *node) {
	c.within("state "+quote(text(n, "name"))+": ", func() { stateObject.check(c, n) })
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

// transitionsCheck is what the transitions of a state must be together.
type transitionsCheck struct{}

func (transitionsCheck) check(c *checker, n *node) {
	var first [inert + 1]*node
	transitions := items(n, "transitions")
	for _, t := range transitions {
		if t.Kind != jsontext.Object {
			continue
		}
		kind := triggerOf(t)
		switch {
		case kind == inert:
			c.valuef(ruleInert, t, "the transition is never taken: it has more than one of condition, eventGroups and timeout")
		case kind == implicit && first[kind] != nil:
			c.valuef(ruleTwoImplicit, t, "there are two transitions without condition, eventGroups and timeout")
		case kind == timer && first[kind] != nil:
			c.valuef(ruleTwoTimeouts, t, "there are two transitions with a timeout alone")
		case kind == implicit && get(t, "nextState") == nil:
			c.fixf(ruleSpin, t, "add nextState", "the transition fires at once, again and again")
		case kind == timer && get(t, "nextState") == nil && get(t, "action") == nil:
			c.fixf(ruleSpin, t, "add nextState, or an action", "the transition does nothing when its time is up")
		}
		if first[kind] == nil {
			first[kind] = t
		}
	}
	if first[implicit] != nil {
		for _, t := range transitions {
			if t != first[implicit] && t.Kind == jsontext.Object && triggerOf(t) != implicit {
				c.valuef(ruleHidden, t, "the transition is never taken: another of the state has no condition, eventGroups and timeout")
			}
		}
	}
	if len(transitions) > 0 && first[implicit] == nil && first[condition] == nil && first[events] == nil && first[timer] == nil {
		c.valuef(ruleStuck, n, "none of the state's transitions is ever taken")
	}
}

// startCheck is that a machine begins with one state, from which all others can
// be come to.
type startCheck struct{}

func (startCheck) check(c *checker, n *node) {
	var start *definition
	for _, def := range c.defined[stateKind].list {
		switch {
		case !get(def.node, "start").IsTrue():
		case start != nil:
			c.valuef(ruleStart, get(def.node, "start"), "the states %s and %s both have \"start\": true", quote(start.name), quote(def.name))
		default:
			start = def
		}
	}
	if start == nil {
		if len(c.defined[stateKind].list) > 0 {
			c.fixf(ruleStart, get(n, "states"), `add "start": true to the first`, "no state has \"start\": true")
		}
		return
	}
	reached := map[*definition]bool{start: true}
	for open := []*definition{start}; len(open) > 0; open = open[1:] {
		for _, t := range items(open[0].node, "transitions") {
			next := jsontext.Meaning[*definition](get(t, "nextState"))
			if next != nil && !reached[next] && triggerOf(t) != inert {
				reached[next] = true
				open = append(open, next)
			}
		}
	}
	for _, def := range c.defined[stateKind].list {
		if !reached[def] && def.name != "" {
			c.valuef(ruleUnreachable, def.node, "no transition leads to the state %s", quote(def.name))
		}
	}
}

// timeoutOnce warns of the timeout under its other name.
type timeoutOnce struct{}

func (timeoutOnce) check(c *checker, n *node) {
	if other := get(n, "execTimeout"); other != nil && get(n, "timeout") != nil {
		c.valuef(ruleUnused, other, "execTimeout has no effect beside timeout, which is the same")
	}
}

// additionsCheck looks at what Ebb adds to the attributes of a machine.
type additionsCheck struct{}

func (additionsCheck) check(c *checker, n *node) {
	for _, name := range []string{"resources", "waitDefault"} {
		if added := get(n, name); added != nil {
			c.extension(added, name)
		}
	}
}
