package jsonata

import (
	"strconv"
)

// A lowering turns a syntax tree into the form that is evaluated. It builds paths from their dots and attaches
// predicates to steps. It also finds the steps that % refers to, and the tail calls.
type lowering struct {
	parents int // number of % so far
	depth   int
}

func lower(tree *syntax) (node, *fault) {
	l := &lowering{}
	n, f := l.node(tree)
	if f != nil {
		return nil, f
	}
	if _, ok := n.(*parentNode); ok || len(n.common().seeking) > 0 {
		return nil, &fault{code: "S0217", at: n.common().at}
	}
	return n, nil
}

func (l *lowering) node(s *syntax) (node, *fault) {
	if l.depth++; l.depth > MaxNesting {
		return nil, tooDeep(s.at)
	}
	defer func() { l.depth-- }()
	n, f := l.kind(s)
	if f == nil && s.keepArray {
		n.common().keepArray = true
	}
	return n, f
}

func (l *lowering) kind(s *syntax) (node, *fault) {
	c := base{at: s.at}
	switch s.kind {
	case nameSyntax, keywordSyntax:
		step := &nameNode{base: c, name: s.text}
		step.keepArray = s.keepArray
		return &pathNode{base: c, steps: []node{step}, keepSingleton: s.keepArray}, nil
	case variableSyntax:
		return &variableNode{c, s.text}, nil
	case stringSyntax:
		return &literalNode{c, s.text}, nil
	case numberSyntax:
		return &literalNode{c, s.number}, nil
	case valueSyntax:
		return &literalNode{c, s.value}, nil
	case regexSyntax:
		return &regexNode{c, s.regex}, nil
	case wildcardSyntax:
		return &wildcardNode{c}, nil
	case descendantSyntax:
		return &descendantNode{c}, nil
	case parentSyntax:
		l.parents++
		return &parentNode{c, &parent{label: "!" + strconv.Itoa(l.parents), level: 1}}, nil
	case binarySyntax:
		return l.binary(s)
	case filterSyntax:
		return l.filter(s)
	case groupSyntax:
		return l.group(s)
	case orderSyntax:
		return l.order(s)
	case negateSyntax:
		return l.negate(s)
	case arraySyntax:
		n := &arrayNode{base: c}
		items, f := l.nodes(s.list, &n.base)
		n.items = items
		return n, f
	case objectSyntax:
		n := &objectNode{base: c}
		pairs, f := l.pairs(s.pairs, &n.base)
		n.members = grouping{pairs, s.at}
		return n, f
	case callSyntax, partialSyntax:
		return l.call(s)
	case lambdaSyntax:
		return l.lambda(s)
	case conditionSyntax:
		return l.condition(s)
	case blockSyntax:
		return l.block(s)
	case transformSyntax:
		return l.transform(s)
	default:
		return nil, &fault{code: "S0207", at: s.at}
	}
}

// inner lowers the parts of a node. The search for the step of a % inside continues from the node.
func (l *lowering) inner(s *syntax, within *base) (node, *fault) {
	n, f := l.node(s)
	if f == nil {
		within.seek(n)
	}
	return n, f
}

func (l *lowering) nodes(list []*syntax, within *base) ([]node, *fault) {
	out := make([]node, len(list))
	for i, s := range list {
		n, f := l.inner(s, within)
		if f != nil {
			return nil, f
		}
		out[i] = n
	}
	return out, nil
}

// pairs lowers members. Only an object looks for parents through them. A group does not: within is nil.
func (l *lowering) pairs(list []pair, within *base) ([][2]node, *fault) {
	if within == nil {
		within = &base{}
	}
	out := make([][2]node, len(list))
	for i, p := range list {
		both, f := l.nodes([]*syntax{p.name, p.value}, within)
		if f != nil {
			return nil, f
		}
		out[i] = [2]node{both[0], both[1]}
	}
	return out, nil
}

func (l *lowering) binary(s *syntax) (node, *fault) {
	switch s.text {
	case ".":
		return l.path(s)
	case "@":
		return l.focus(s)
	case "#":
		return l.index(s)
	}
	c := base{at: s.at}
	if s.text == ":=" {
		n := &bindNode{base: c, name: s.left.text}
		value, f := l.inner(s.right, &n.base)
		n.value = value
		return n, f
	}
	left, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	right, f := l.node(s.right)
	if f != nil {
		return nil, f
	}
	if s.text == "~>" {
		c.keepArray = left.common().keepArray || right.common().keepArray
		return &applyNode{c, left, right}, nil
	}
	n := &binaryNode{c, s.text, left, right}
	n.seek(left)
	n.seek(right)
	return n, nil
}

func (l *lowering) negate(s *syntax) (node, *fault) {
	n := &negateNode{base: base{at: s.at}}
	operand, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	if literal, ok := operand.(*literalNode); ok {
		if number, ok := literal.value.(float64); ok {
			literal.value = -number
			return literal, nil
		}
	}
	n.operand = operand
	n.seek(operand)
	return n, nil
}

func (l *lowering) call(s *syntax) (node, *fault) {
	c := base{at: s.at}
	arguments := make([]node, len(s.list))
	for i, argument := range s.list {
		if argument.kind == placeholderSyntax {
			continue
		}
		n, f := l.inner(argument, &c)
		if f != nil {
			return nil, f
		}
		arguments[i] = n
	}
	procedure, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	if s.kind == partialSyntax {
		return &partialNode{c, procedure, arguments}, nil
	}
	return &callNode{c, procedure, arguments}, nil
}

func (l *lowering) lambda(s *syntax) (node, *fault) {
	n := &lambdaNode{base: base{at: s.at}, signature: s.signature}
	for _, parameter := range s.list {
		n.parameters = append(n.parameters, parameter.text)
	}
	body, f := l.node(s.right)
	if f != nil {
		return nil, f
	}
	n.body = tailCalls(body)
	return n, nil
}

// tailCalls replaces calls by thunks if their result is the function's result.
func tailCalls(n node) node {
	switch n := n.(type) {
	case *callNode:
		if len(n.predicates) == 0 {
			return &thunkNode{base{at: n.at}, n}
		}
	case *conditionNode:
		n.then = tailCalls(n.then)
		if n.otherwise != nil {
			n.otherwise = tailCalls(n.otherwise)
		}
	case *blockNode:
		if last := len(n.parts) - 1; last >= 0 {
			n.parts[last] = tailCalls(n.parts[last])
		}
	}
	return n
}

func (l *lowering) condition(s *syntax) (node, *fault) {
	n := &conditionNode{base: base{at: s.at}}
	for _, part := range []struct {
		to   *node
		from *syntax
	}{{&n.condition, s.left}, {&n.then, s.right}, {&n.otherwise, s.third}} {
		if part.from == nil {
			continue
		}
		inner, f := l.inner(part.from, &n.base)
		if f != nil {
			return nil, f
		}
		*part.to = inner
	}
	return n, nil
}

func (l *lowering) block(s *syntax) (node, *fault) {
	n := &blockNode{base: base{at: s.at}}
	parts, f := l.nodes(s.list, &n.base)
	n.parts = parts
	for _, part := range parts {
		path, ok := part.(*pathNode)
		n.cons = n.cons || part.common().cons || ok && path.steps[0].common().cons
	}
	return n, f
}

func (l *lowering) transform(s *syntax) (node, *fault) {
	n := &transformNode{base: base{at: s.at}}
	for _, part := range []struct {
		to   *node
		from *syntax
	}{{&n.pattern, s.left}, {&n.update, s.right}, {&n.remove, s.third}} {
		if part.from == nil {
			continue
		}
		inner, f := l.node(part.from)
		if f != nil {
			return nil, f
		}
		*part.to = inner
	}
	return n, nil
}
