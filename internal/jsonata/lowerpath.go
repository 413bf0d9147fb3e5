package jsonata

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
