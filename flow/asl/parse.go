package asl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow"
)

// A Machine is a compiled state machine: a [flow.Language] and nothing else. It
// never changes and may be used by any number of goroutines and runs.
type Machine struct {
	name     string
	top      *level
	states   map[string]*state // of all levels
	timeout  time.Duration     // 0: none
	warnings Problems
}

// A level is one States object: the machine itself, a branch of a Parallel
// state, or what a Map state does with each item.
type level struct {
	start *state
	outer *level
	owner *state // the Parallel or Map state it belongs to; nil at the top
	names []string
	here  map[string]*state
	// assigns holds every variable that some state of this level assigns.
	assigns map[string]*node
}

// An Option is a choice about how a definition is read.
type Option func(*compiler)

// Strict refuses what Ebb adds to the language, such as Revert.
func Strict() Option { return func(c *compiler) { c.strict = true } }

// Parse reads and compiles a state machine. The name stands for it in messages
// and is the name of its flow; a file's name is a good one.
//
// When anything is wrong the error is [Problems]: all there is to report at
// once, each with its place. What looks wrong but can be run is in
// [Machine.Warnings].
func Parse(name string, text []byte, opts ...Option) (*Machine, error) {
	c := &compiler{file: name, source: text, names: map[string]*node{}, language: jsonPath}
	for _, opt := range opts {
		opt(c)
	}
	m := c.machine()
	slices.SortStableFunc(c.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	var errs, warnings Problems
	for _, p := range c.problems {
		if p.Severity == Error {
			errs = append(errs, p)
		} else {
			warnings = append(warnings, p)
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	m.name, m.warnings = name, warnings
	return m, nil
}

// Name returns the name that Parse was given.
func (m *Machine) Name() string { return m.name }

// Warnings returns what looks wrong in the definition though it can be run, in
// the order of the text.
func (m *Machine) Warnings() Problems { return m.warnings }

// Flow returns the machine as a flow that can be run.
func (m *Machine) Flow() *flow.GrowingFlow { return flow.Growing(m.name, m) }

// A compiler turns nodes into a machine and collects problems on the way. It
// goes on behind each problem, so that all are reported at once.
type compiler struct {
	file      string
	source    []byte
	strict    bool
	problems  Problems
	names     map[string]*node // of all states, where each was named first
	states    map[string]*state
	language  queryLanguage // of the whole machine
	levels    []*level
	where     string // begins every message: which state is being read
	reverting bool   // what is being read is evaluated when a state is undone
}

func (c *compiler) add(severity Severity, code Code, n *node, at int, fix, format string, args []any) {
	if len(c.problems) >= MaxProblems {
		return
	}
	p := Problem{Code: code, Severity: severity, File: c.file, Fix: fix, Message: c.where + fmt.Sprintf(format, args...)}
	if n != nil {
		p.Pointer = n.pointer()
	}
	p.Line, p.Column = Position(c.source, at)
	c.problems = append(c.problems, p)
}

// refusef reports an error at a node.
func (c *compiler) refusef(code Code, n *node, fix, format string, args ...any) {
	c.add(Error, code, n, n.at, fix, format, args)
}

// schemaf reports the commonest kind of error.
func (c *compiler) schemaf(n *node, format string, args ...any) {
	c.refusef(SchemaValidationFailed, n, "", format, args...)
}

// warnf reports what looks wrong.
func (c *compiler) warnf(code Code, n *node, fix, format string, args ...any) {
	c.add(Warning, code, n, n.at, fix, format, args)
}

// unsupported refuses what the language has and Ebb has not yet.
func (c *compiler) unsupported(n *node, what string) {
	c.schemaf(n, "%s is not supported yet", what)
}

func (c *compiler) machine() *Machine {
	root := c.root()
	if root == nil {
		return nil
	}
	c.repeated(root)
	m := &Machine{states: map[string]*state{}}
	c.states = m.states
	c.fields(root, "a state machine", machineFields)
	if v := root.get("Version"); v != nil && (v.kind != stringNode || v.str != "1.0") {
		c.schemaf(v, `Version must be "1.0"`)
	}
	c.language = c.queryLanguage(root)
	if s, ok := c.seconds(root, "TimeoutSeconds", 1); ok {
		m.timeout = time.Duration(s) * time.Second
	}
	m.top = c.level(root, nil, nil)
	for _, l := range c.levels {
		c.shadows(l)
	}
	return m
}

// root reads the text, or reports why it cannot be read.
func (c *compiler) root() *node {
	fail := func(code Code, at int, format string, args ...any) *node {
		c.add(Error, code, nil, at, "", format, args)
		return nil
	}
	if len(c.source) > MaxDefinition {
		return fail(SchemaValidationFailed, 0, "the definition has %d bytes; %d is the most", len(c.source), MaxDefinition)
	}
	if strings.TrimSpace(string(c.source)) == "" {
		return fail(SchemaValidationFailed, 0, "the definition must be a JSON object, found nothing")
	}
	root, err := parseText(c.source)
	if broken, ok := errors.AsType[*textError](err); ok {
		code := InvalidJSON
		if broken.deep {
			code = TooDeeplyNested
		}
		return fail(code, broken.at, "%s", broken.problem)
	}
	if root.kind != objectNode {
		return fail(SchemaValidationFailed, root.at, "the definition must be a JSON object, found %s", root.kind)
	}
	return root
}

// repeated reports names that occur twice in one object, everywhere.
func (c *compiler) repeated(n *node) {
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		if seen[m.name] {
			code := SchemaValidationFailed
			if n.key == "States" {
				code = DuplicateStateName
			}
			c.add(Error, code, m.value, m.at, "", "the name %s occurs twice in one object", []any{quote(m.name)})
		}
		seen[m.name] = true
		c.repeated(m.value)
	}
	for _, item := range n.items {
		c.repeated(item)
	}
}

// level compiles an object with StartAt and States.
func (c *compiler) level(n *node, owner *state, outer *level) *level {
	l := &level{outer: outer, owner: owner, here: map[string]*state{}, assigns: map[string]*node{}}
	c.levels = append(c.levels, l)
	list, start := n.get("States"), n.get("StartAt")
	if missing := absent(n, "States", "StartAt"); len(missing) > 0 {
		c.schemaf(n, "these fields are required: %s", strings.Join(missing, ", "))
	}
	if list != nil {
		c.declare(l, list)
		for _, m := range list.members {
			if s := l.here[m.name]; s != nil && s.source == m.value {
				c.compileState(s)
			}
		}
	}
	if start != nil && list != nil {
		l.start = c.target(l, start)
	}
	c.reachable(l, list)
	l.loops()
	return l
}

func absent(n *node, names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return n.get(name) != nil })
}

// declare notes the names and kinds of a level's states, so that they can refer
// to each other.
func (c *compiler) declare(l *level, list *node) {
	if list.kind != objectNode || len(list.members) == 0 {
		c.schemaf(list, "States must be an object with at least one state")
		return
	}
	for _, m := range list.members {
		c.stateName(m)
		if m.value.kind != objectNode {
			c.schemaf(m.value, "the state %s must be an object, found %s", quote(m.name), m.value.kind)
			continue
		}
		if l.here[m.name] != nil {
			continue // reported as repeated
		}
		if first := c.names[m.name]; first != nil {
			line, _ := Position(c.source, first.at)
			c.add(Error, DuplicateStateName, m.value, m.at, "", "the state name %s is taken in line %d; names are unique in the whole machine, branches included",
				[]any{quote(m.name), line})
		} else {
			c.names[m.name] = m.value
		}
		s := &state{name: m.name, source: m.value, level: l}
		l.here[m.name] = s
		l.names = append(l.names, m.name)
		c.states[m.name] = s
	}
}

func (c *compiler) stateName(m member) {
	var problem string
	switch n := utf8.RuneCountInString(m.name); {
	case m.name == "":
		problem = "a state's name must not be empty"
	case n > maxNameLength:
		problem = fmt.Sprintf("the state name %s has %d characters; %d is the most", quote(m.name), n, maxNameLength)
	case strings.ContainsFunc(m.name, unicode.IsControl):
		problem = fmt.Sprintf("the state name %s has a control character", quote(m.name))
	default:
		return
	}
	c.add(Error, InvalidStateName, m.value, m.at, "", "%s", []any{problem})
}

// target returns the state that a Next, Default or StartAt names.
func (c *compiler) target(l *level, n *node) *state {
	if n.kind != stringNode {
		c.schemaf(n, "%s must be a state's name, found %s", n.key, n.kind)
		return nil
	}
	if s := l.here[n.str]; s != nil {
		return s
	}
	fix := ""
	if c.names[n.str] != nil {
		fix = "a transition stays within its own States; that state is in another"
	} else if near := nearest(n.str, l.names); near != "" {
		fix = fmt.Sprintf("did you mean %s?", quote(near))
	}
	c.refusef(MissingTransitionTarget, n, fix, "%s %s is no state", n.key, quote(n.str))
	return nil
}

// reachable checks that a level can be left, and warns of states that no
// transition leads to.
func (c *compiler) reachable(l *level, list *node) {
	ends := false
	for _, name := range l.names {
		s := l.here[name]
		ends = ends || s.ends || s.broken
	}
	if !ends && len(l.names) > 0 {
		c.refusef(MissingEndState, list, `give a state "End": true, or add one of Type Succeed or Fail`, "no state ends the machine")
	}
	if l.start == nil {
		return
	}
	reached := map[*state]bool{l.start: true}
	for queue := []*state{l.start}; len(queue) > 0; queue = queue[1:] {
		for _, next := range queue[0].successors() {
			if next != nil && !reached[next] {
				reached[next] = true
				queue = append(queue, next)
			}
		}
	}
	for _, name := range l.names {
		if s := l.here[name]; !reached[s] {
			c.warnf(MissingTransitionTarget, s.source, "", "no transition leads to the state %s", quote(name))
		}
	}
}
