package jsonata

import "slices"

// The operator % means the input of an earlier step. Lowering marks that step, so that it keeps its input.

// seek takes over the % of an inner node whose steps were not found there. Their search continues around this node.
func (c *base) seek(n node) {
	c.seeking = append(c.seeking, n.common().seeking...)
	if up, ok := n.(*parentNode); ok {
		c.seeking = append(c.seeking, up.slot)
	}
}

// resolve finds the steps whose input the % in the last step of a path mean. It searches the path to the left. If it
// does not find a step, the search continues around the path.
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
