package jsonata

import (
	"slices"
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

// path joins both operands of a dot into one path.
func (l *lowering) path(s *syntax) (node, *fault) {
	left, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	path, ok := left.(*pathNode)
	if !ok {
		path = &pathNode{base: base{at: s.at}, steps: []node{left}}
		if up, ok := left.(*parentNode); ok {
			path.seeking = []*parent{up.slot}
		}
	}
	right, f := l.node(s.right)
	if f != nil {
		return nil, f
	}
	if rest, ok := right.(*pathNode); ok {
		path.steps = append(path.steps, rest.steps...)
	} else {
		c := right.common()
		for _, predicate := range c.predicates {
			c.stages = append(c.stages, stage{predicate: predicate})
		}
		c.predicates = nil
		path.steps = append(path.steps, right)
	}
	for i, step := range path.steps {
		if literal, ok := step.(*literalNode); ok {
			name, isText := literal.value.(string)
			if !isText {
				return nil, &fault{code: "S0213", at: literal.at, value: literal.value}
			}
			path.steps[i] = &nameNode{literal.base, name}
		}
		path.keepSingleton = path.keepSingleton || step.common().keepArray
	}
	for _, end := range []node{path.steps[0], path.steps[len(path.steps)-1]} {
		if array, ok := end.(*arrayNode); ok {
			array.cons = true
		}
	}
	return path, l.resolve(path)
}

// filter attaches a predicate to a node, or to the last step of a path.
func (l *lowering) filter(s *syntax) (node, *fault) {
	n, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	step := n
	path, isPath := n.(*pathNode)
	if isPath {
		step = path.steps[len(path.steps)-1]
	}
	c := step.common()
	if c.group != nil {
		return nil, &fault{code: "S0209", at: s.at}
	}
	predicate, f := l.node(s.right)
	if f != nil {
		return nil, f
	}
	if p := predicate.common(); len(p.seeking) > 0 {
		for _, slot := range p.seeking {
			if slot.level != 1 {
				slot.level--
			} else if f := l.seekParent(step, slot); f != nil {
				return nil, f
			}
		}
		c.seek(predicate)
	}
	if isPath {
		c.stages = append(c.stages, stage{predicate: predicate})
	} else {
		c.predicates = append(c.predicates, predicate)
	}
	return n, nil
}

func (l *lowering) group(s *syntax) (node, *fault) {
	n, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	if n.common().group != nil {
		return nil, &fault{code: "S0210", at: s.at}
	}
	pairs, f := l.pairs(s.pairs, nil)
	n.common().group = &grouping{pairs, s.at}
	return n, f
}

func (l *lowering) order(s *syntax) (node, *fault) {
	n, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	path, ok := n.(*pathNode)
	if !ok {
		path = &pathNode{base: base{at: s.at}, steps: []node{n}}
	}
	step := &sortNode{base: base{at: s.at}}
	for _, term := range s.terms {
		by, f := l.inner(term.by, &step.base)
		if f != nil {
			return nil, f
		}
		step.terms = append(step.terms, orderTerm{by, term.descending})
	}
	path.steps = append(path.steps, step)
	return path, l.resolve(path)
}

// focus binds each value of a step to a variable.
func (l *lowering) focus(s *syntax) (node, *fault) {
	n, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	step := n
	if path, ok := n.(*pathNode); ok {
		step = path.steps[len(path.steps)-1]
	}
	c := step.common()
	if len(c.stages) > 0 || len(c.predicates) > 0 {
		return nil, &fault{code: "S0215", at: s.at}
	}
	if _, ok := step.(*sortNode); ok {
		return nil, &fault{code: "S0216", at: s.at}
	}
	c.keepArray = c.keepArray || s.keepArray
	c.focus, c.tuple = s.right.text, true
	return n, nil
}

// index binds the position of each value of a step to a variable.
func (l *lowering) index(s *syntax) (node, *fault) {
	n, f := l.node(s.left)
	if f != nil {
		return nil, f
	}
	path, ok := n.(*pathNode)
	if !ok {
		path = &pathNode{base: base{at: s.at}, steps: []node{n}}
		c := n.common()
		for _, predicate := range c.predicates {
			c.stages = append(c.stages, stage{predicate: predicate})
		}
		c.predicates = nil
	}
	c := path.steps[len(path.steps)-1].common()
	if len(c.stages) == 0 {
		c.index = s.right.text
	} else {
		c.stages = append(c.stages, stage{index: s.right.text})
	}
	c.tuple = true
	return path, nil
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

// seek takes over the parents that a node within still seeks.
func (c *base) seek(n node) {
	c.seeking = append(c.seeking, n.common().seeking...)
	if up, ok := n.(*parentNode); ok {
		c.seeking = append(c.seeking, up.slot)
	}
}

// resolve searches from the last step of a path to the left for the steps whose input a % in it means. The search for
// the others continues around the path.
func (l *lowering) resolve(path *pathNode) *fault {
	last := path.steps[len(path.steps)-1]
	slots := slices.Clone(last.common().seeking)
	if up, ok := last.(*parentNode); ok {
		slots = append(slots, up.slot)
	}
	for _, slot := range slots {
		for i := len(path.steps) - 2; slot.level > 0; {
			if i < 0 {
				path.seeking = append(path.seeking, slot)
				break
			}
			step := path.steps[i]
			i--
			for i >= 0 && step.common().focus != "" && path.steps[i].common().focus != "" {
				step = path.steps[i] // steps that bind share their input
				i--
			}
			if f := l.seekParent(step, slot); f != nil {
				return f
			}
		}
	}
	return nil
}

// seekParent moves one step up, and marks the step if the % means its input.
func (l *lowering) seekParent(n node, slot *parent) *fault {
	c := n.common()
	switch n := n.(type) {
	case *nameNode, *wildcardNode:
		if slot.level--; slot.level == 0 {
			if c.ancestor != nil {
				slot.label = c.ancestor.label
			} else {
				c.ancestor = slot
			}
			c.tuple = true
		}
	case *parentNode:
		slot.level++
	case *blockNode:
		if len(n.parts) > 0 {
			c.tuple = true
			return l.seekParent(n.parts[len(n.parts)-1], slot)
		}
	case *pathNode:
		c.tuple = true
		for i := len(n.steps) - 1; i >= 0 && (slot.level > 0 || i == len(n.steps)-1); i-- {
			if f := l.seekParent(n.steps[i], slot); f != nil {
				return f
			}
		}
	default:
		return &fault{code: "S0217", at: c.at}
	}
	return nil
}
