package jsonata

import "slices"

// A Use is a place where an expression refers to something outside of the expression.
type Use struct {
	// Name is the name of the variable, or of the member of the input: * and ** for any, $ and $$ for the input itself.
	Name string
	// Members are the names of the members that the expression then reads: input, order for $states.input.order[0].id.
	Members []string
	Offset  int
}

// Variables returns the uses of variables that the expression does not bind itself, including the language's functions.
func (e *Expression) Variables() []Use { return e.uses().variables }

// Inputs returns the uses of the expression's input, which is undefined in the States Language.
func (e *Expression) Inputs() []Use { return e.uses().inputs }

func (e *Expression) uses() *uses {
	u := &uses{}
	u.node(e.root, nil, true)
	return u
}

type uses struct{ variables, inputs []Use }

// A scope holds the names that are bound around a node.
type scope struct {
	names []string
	outer *scope
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.outer {
		if slices.Contains(s.names, name) {
			return true
		}
	}
	return false
}

// within returns a scope with the names that the nodes bind. A function may use a name that is bound after it.
func (s *scope) within(nodes ...node) *scope {
	inner := &scope{outer: s}
	for _, n := range nodes {
		inner.bind(n)
	}
	return inner
}

func (s *scope) bind(n node) {
	switch n := n.(type) {
	case *bindNode:
		s.names = append(s.names, n.name)
		s.bind(n.value)
	case *conditionNode:
		s.bind(n.condition)
		s.bind(n.then)
		s.bind(n.otherwise)
	case *binaryNode:
		s.bind(n.left)
		s.bind(n.right)
	}
}

// node finds the uses in a node. The input is the expression's own until a node around this one replaces it.
func (u *uses) node(n node, s *scope, input bool) {
	if n == nil {
		return
	}
	if s == nil {
		s = s.within(n)
	}
	c := n.common()
	u.nodes(c.predicates, s, false)
	for _, stage := range c.stages {
		u.node(stage.predicate, s, false)
	}
	if c.group != nil {
		if _, isPath := n.(*pathNode); !isPath {
			u.pairs(c.group, s, false)
		}
	}
	switch n := n.(type) {
	case *variableNode:
		u.variable(n, nil, s, input)
	case *nameNode:
		u.input(n.name, c.at, input)
	case *wildcardNode:
		u.input("*", c.at, input)
	case *descendantNode:
		u.input("**", c.at, input)
	case *pathNode:
		u.path(n, s, input)
	case *sortNode:
		for _, term := range n.terms {
			u.node(term.by, s, false)
		}
	case *binaryNode:
		u.nodes([]node{n.left, n.right}, s, input)
	case *negateNode:
		u.node(n.operand, s, input)
	case *arrayNode:
		u.nodes(n.items, s.within(n.items...), input)
	case *objectNode:
		u.pairs(&n.members, s, input)
	case *bindNode:
		u.node(n.value, s, input)
	case *conditionNode:
		u.nodes([]node{n.condition, n.then, n.otherwise}, s, input)
	case *blockNode:
		u.nodes(n.parts, s.within(n.parts...), input)
	case *applyNode:
		u.nodes([]node{n.left, n.right}, s, input)
	case *callNode:
		u.node(n.procedure, s, input)
		u.nodes(n.arguments, s, input)
	case *partialNode:
		u.node(n.procedure, s, input)
		u.nodes(n.arguments, s, input)
	case *lambdaNode:
		inner := (&scope{outer: s, names: n.parameters}).within(n.body)
		u.node(n.body, inner, input)
	case *thunkNode:
		u.node(n.call, s, input)
	case *transformNode:
		u.nodes([]node{n.pattern, n.update, n.remove}, s, false)
	}
}

func (u *uses) nodes(list []node, s *scope, input bool) {
	for _, n := range list {
		u.node(n, s, input)
	}
}

func (u *uses) pairs(g *grouping, s *scope, input bool) {
	for _, pair := range g.pairs {
		u.nodes(pair[:], s, input)
	}
}

// path finds the uses in a path. Only its first step uses the input.
func (u *uses) path(n *pathNode, s *scope, input bool) {
	inner := &scope{outer: s}
	for _, step := range n.steps {
		c := step.common()
		inner.names = append(inner.names, c.focus, c.index)
		for _, stage := range c.stages {
			inner.names = append(inner.names, stage.index)
		}
	}
	for i, step := range n.steps {
		if v, ok := step.(*variableNode); ok && i == 0 {
			u.stagesOf(step, inner)
			u.variable(v, n.steps[1:], inner, input)
			continue
		}
		u.node(step, inner, input && i == 0)
	}
	if n.group != nil {
		u.pairs(n.group, inner, false)
	}
}

func (u *uses) stagesOf(step node, s *scope) {
	u.nodes(step.common().predicates, s, false)
	for _, stage := range step.common().stages {
		u.node(stage.predicate, s, false)
	}
}

func (u *uses) variable(n *variableNode, rest []node, s *scope, input bool) {
	switch {
	case n.name == "":
		u.input("$", n.at, input)
		return
	case n.name == "$":
		u.input("$$", n.at, true)
		return
	case s.has(n.name):
		return
	}
	use := Use{Name: n.name, Offset: n.at}
	for _, step := range rest {
		name, ok := step.(*nameNode)
		if !ok || len(n.stages)+len(n.predicates) > 0 {
			break
		}
		use.Members = append(use.Members, name.name)
		if len(name.stages) > 0 {
			break
		}
	}
	u.variables = append(u.variables, use)
}

func (u *uses) input(name string, at int, input bool) {
	if input {
		u.inputs = append(u.inputs, Use{Name: name, Offset: at})
	}
}
