package sm4c

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ebbflow/ebb/internal/digraph"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A compiler makes a machine of a definition that was checked: it relies on what
// the checker noted in the nodes, and has nothing to report.
type compiler struct {
	*Machine

	checked   *checker
	states    map[*definition]*state
	events    map[*definition]*event
	functions map[*definition]*function
	names     map[string]int // how many actions of the run's own flow have a node of the name
}

func compile(checked *checker) *Machine {
	root := checked.root
	c := &compiler{
		Machine: &Machine{title: text(root, "name"), version: text(root, "version"), byName: map[string]*state{}},
		checked: checked, states: map[*definition]*state{}, events: map[*definition]*event{}, functions: map[*definition]*function{},
		names: map[string]int{},
	}
	for _, def := range checked.defined[eventKind].list {
		c.event(def)
	}
	for _, def := range checked.defined[functionKind].list {
		f := &function{name: def.name, kind: typeOf(def.node), operation: text(def.node, "operation"), formula: def.formula, at: -1}
		if def.source.file == checked.file {
			f.at = get(def.node, "operation").At
		}
		c.functions[def] = f
		c.Machine.functions = append(c.Machine.functions, f)
	}
	for i, def := range checked.defined[stateKind].list {
		s := &state{name: def.name, number: i}
		c.states[def], c.byName[def.name] = s, s
		c.Machine.states = append(c.Machine.states, s)
		if get(def.node, "start").IsTrue() {
			c.start = s
		}
	}
	for _, def := range checked.defined[stateKind].list {
		c.state(c.states[def], def.node)
	}
	c.executionTimeout(root)
	c.loops()
	c.correlates = slices.ContainsFunc(c.awaited, func(d *event) bool { return len(d.correlation) > 0 })
	for _, a := range c.actions {
		a.repeats = a.repeats || c.names[a.name] > 1
	}
	return c.Machine
}

func (c *compiler) event(def *definition) {
	e := &event{name: def.name, typ: text(def.node, "type"), source: text(def.node, "source")}
	for _, n := range items(def.node, "correlation") {
		k := correlation{attribute: strings.ToLower(text(n, "contextAttributeName"))}
		if v := get(n, "contextAttributeValue"); v != nil {
			t := templateOf(v)
			k.value = &t
		} else if !slices.Contains(c.keys, k.attribute) {
			c.keys = append(c.keys, k.attribute)
		}
		e.correlation = append(e.correlation, k)
	}
	c.events[def] = e
	c.Machine.events = append(c.Machine.events, e)
}

func (c *compiler) executionTimeout(root *node) {
	n := get(root, "timeout")
	if n == nil {
		n = get(root, "execTimeout")
	}
	if n == nil {
		return
	}
	c.timeout = &executionTimeout{after: duration(n, "duration")}
	if a := get(n, "action"); a != nil {
		c.timeout.action = c.action(a, placement{base: "timeout"})
	}
}

// duration returns the time span that a member is, 0 without it.
func duration(n *node, name string) time.Duration {
	return jsontext.Meaning[time.Duration](get(n, name))
}

func expressionOf(n *node, name string) *expression {
	return jsontext.Meaning[*expression](get(n, name))
}

func (c *compiler) state(s *state, n *node) {
	base := segment.Replace(s.name)
	s.wait = base + "/wait"
	s.filter = expressionOf(n, "inputFilter")
	s.enter = c.effect(n, "enterAction", "enterResultHandler", base, "enter")
	s.exit = c.effect(n, "exitAction", "exitResultHandler", base, "exit")
	for i, t := range items(n, "transitions") {
		tr := &transition{
			number: i, label: labelOf(t), trigger: triggerOf(t), condition: expressionOf(t, "condition"), timeout: duration(t, "timeout"),
		}
		role := "again"
		if next := jsontext.Meaning[*definition](get(t, "nextState")); next != nil {
			tr.next = c.states[next]
			role = "to " + segment.Replace(next.name)
		}
		tr.effect = c.effect(t, "action", "resultHandler", base, role)
		for _, g := range items(t, "eventGroups") {
			group := &group{condition: expressionOf(g, "condition"), handler: expressionOf(g, "resultHandler")}
			for _, e := range items(g, "events") {
				d := c.events[jsontext.Meaning[*definition](e)]
				group.events = append(group.events, d)
				if tr.trigger != inert && !slices.Contains(c.awaited, d) {
					c.awaited = append(c.awaited, d)
				}
			}
			tr.groups = append(tr.groups, group)
		}
		s.waitsAgain = s.waitsAgain || tr.next == nil
		s.transitions = append(s.transitions, tr)
	}
}

// effect compiles an action with the handler of its result, nil without an
// action.
func (c *compiler) effect(n *node, action, handler, base, role string) *effect {
	a := get(n, action)
	if a == nil {
		return nil
	}
	return &effect{
		action:  c.action(a, placement{base: base, role: role, repeats: role == "again"}),
		handler: expressionOf(n, handler),
	}
}

// A placement is where an action stands, from which its node has its name.
type placement struct {
	base    string // begins the name; "" for the first of a flow of its own
	role    string // what it is where it stands; "" for the first of a flow of its own
	parent  *action
	repeats bool // it can be begun more than once in a run of its flow
	inner   bool // it is not in the run's own flow
}

// action compiles an action with all that is in it.
func (c *compiler) action(n *node, at placement) *action {
	a := &action{
		number: len(c.actions), kind: typeOfAction(n), key: childKey(n), parent: at.parent, title: text(n, "name"),
		span: duration(n, "timeout"), timed: get(n, "timeout") != nil, expression: expressionOf(n, "expression"),
	}
	c.actions = append(c.actions, a)
	for _, h := range items(n, "errorHandlers") {
		a.handlers = append(a.handlers, c.handler(h))
	}
	tried := slices.ContainsFunc(a.handlers, func(h handler) bool { return h.retry != nil })
	a.repeats = at.repeats || tried
	a.name = nodeName(a, at)
	if a.title == "" {
		a.title = a.name
	}
	if !at.inner {
		c.names[a.name]++
	}
	c.children(a, n, at)
	switch a.kind {
	case foreachAction:
		a.expression, a.slots = expressionOf(n, "input"), max(1, jsontext.Meaning[int](get(n, "maxParallel")))
	case invokeFunction:
		a.function = c.functions[jsontext.Meaning[*definition](get(n, "functionName"))]
		c.call(a, n)
	case invokeSubflow:
		a.subflow = text(n, "subflowName")
		c.call(a, n)
	case sendEvent:
		a.event = c.events[jsontext.Meaning[*definition](get(n, "event"))]
		if more := get(n, "contextAttributes"); more != nil {
			for _, m := range more.Members {
				a.attributes = append(a.attributes, templateMember{strings.ToLower(m.Name), templateOf(m.Value)})
			}
		}
	default:
	}
	return a
}

// nodeName returns the name of an action's node in its flow: HotelReserved/enter,
// HotelReserved/enter/book, Book/parallel.
func nodeName(a *action, at placement) string {
	role := at.role
	if a.title != "" {
		role = segment.Replace(a.title)
	}
	kind := a.kind.String()
	switch {
	case at.base == "" && role == "":
		return kind
	case at.base == "":
		return role
	case role == "":
		role = at.base
	default:
		role = at.base + "/" + role
	}
	if a.forks() {
		return role + "/" + kind
	}
	return role
}

func (c *compiler) children(a *action, n *node, at placement) {
	inside := placement{base: a.name, parent: a, repeats: a.repeats, inner: at.inner}
	if a.forks() {
		inside = placement{parent: a, inner: true}
	}
	nodes := items(n, "actions")
	if a.kind == foreachAction {
		nodes = []*node{get(n, "action")}
	}
	for _, child := range nodes {
		if a.kind == sequenceAction {
			inside.role = segment.Replace(childKey(child))
		}
		a.children = append(a.children, c.action(child, inside))
	}
	if a.kind == parallelAction {
		a.completion = completion(jsontext.Meaning[word](get(n, "completionType")))
		switch a.completion {
		case completeFirst:
			a.need = 1
		case completeSome:
			a.need = jsontext.Meaning[int](get(n, "n"))
		case completeAll:
			a.need = len(a.children)
		}
	}
}

func (c *compiler) call(a *action, n *node) {
	a.waits = c.checked.waitsFor(n)
	if args := get(n, "arguments"); args != nil {
		t := templateOf(args)
		a.arguments = &t
	}
	r := get(n, "revert")
	switch {
	case r == nil:
	case r.Kind == jsontext.Bool:
		a.revert = &revert{pivot: !r.IsTrue()}
	default:
		a.revert = &revert{function: c.functions[jsontext.Meaning[*definition](get(r, "functionName"))]}
		if args := get(r, "arguments"); args != nil {
			t := templateOf(args)
			a.revert.arguments = &t
		}
	}
}

func (c *compiler) handler(n *node) handler {
	h := handler{condition: expressionOf(n, "condition"), result: expressionOf(n, "resultHandler")}
	if def := jsontext.Meaning[*definition](get(n, "retryPolicy")); def != nil {
		h.retry = retryOf(def.node)
	}
	return h
}

// loops marks the states that can be entered more than once, with their actions,
// so that only their nodes are counted: what a machine without loops remembers
// does not grow.
func (c *compiler) loops() {
	digraph.Loops(c.Machine.states, (*state).successors, func(loop []*state) {
		for _, s := range loop {
			s.waitsAgain = true
			for _, e := range s.effects() {
				e.action.repeat()
			}
		}
	})
}

// successors returns the states that transitions lead to.
func (s *state) successors() []*state {
	var next []*state
	for _, t := range s.transitions {
		if t.next != nil && t.trigger != inert {
			next = append(next, t.next)
		}
	}
	return next
}

func (s *state) effects() []*effect {
	all := []*effect{s.enter, s.exit}
	for _, t := range s.transitions {
		all = append(all, t.effect)
	}
	return slices.DeleteFunc(all, func(e *effect) bool { return e == nil })
}

// repeat marks an action, and what is in its flow with it.
func (a *action) repeat() {
	a.repeats = true
	if a.forks() {
		return
	}
	for _, child := range a.children {
		child.repeat()
	}
}

// visited returns the name of the nth node of an action or wait: the first has
// its plain name, the second Pay#2. A name that ends so itself has the first one,
// too, so that no two nodes have one name.
func visited(name string, n int) string {
	if i := strings.LastIndexByte(name, '#'); n == 1 && (i < 0 || strings.Trim(name[i+1:], "0123456789") != "") {
		return name
	}
	return name + "#" + strconv.Itoa(n)
}
