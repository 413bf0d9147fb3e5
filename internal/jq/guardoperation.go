package jq

import "github.com/itchyny/gojq"

// operation reads an arithmetic operation or a comparison.
func (g *guarder) operation(q *gojq.Query) error {
	if err := g.both(q, g.value); err != nil {
		return err
	}
	if !isCheap(q) {
		*q = *guarded(q.Op, q.Left, q.Right)
	}
	return nil
}

// isCheap reports whether an operation costs little for all operands.
func isCheap(q *gojq.Query) bool {
	_, left := numeral(q.Left)
	_, right := numeral(q.Right)
	switch q.Op {
	case gojq.OpMul:
		return left && right
	case gojq.OpAdd, gojq.OpSub, gojq.OpDiv:
		return left || right
	case gojq.OpMod:
		return true
	default: // a comparison
		return isConstant(q.Left) || isConstant(q.Right)
	}
}

// numeral returns the value of a literal number in the program.
func numeral(q *gojq.Query) (any, bool) {
	if q.Term == nil || q.Term.Type != gojq.TermTypeNumber || len(q.Term.SuffixList) > 0 || len(q.FuncDefs) > 0 {
		return nil, false
	}
	n, err := Decode([]byte(q.Term.Number))
	return n, err == nil
}

// isText reports whether a query is a string literal in the program.
func isText(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeString && q.Term.Str.Queries == nil &&
		len(q.Term.SuffixList) == 0 && len(q.FuncDefs) == 0
}

func isConstant(q *gojq.Query) bool {
	if _, ok := numeral(q); ok || isText(q) {
		return true
	}
	if q.Term == nil || len(q.Term.SuffixList) > 0 || len(q.FuncDefs) > 0 {
		return false
	}
	t := q.Term.Type
	return t == gojq.TermTypeNull || t == gojq.TermTypeTrue || t == gojq.TermTypeFalse
}

// updates are the operators inside +=, -= and so on.
var updates = map[gojq.Operator]gojq.Operator{
	gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul,
	gojq.OpUpdateDiv: gojq.OpDiv, gojq.OpUpdateMod: gojq.OpMod,
}

// assignment reads an assignment. It replaces an assignment that computes: p += v becomes v as $x | p |= . + $x.
func (g *guarder) assignment(q *gojq.Query) error {
	if err := g.growing(q.Op.String()); err != nil {
		return err
	}
	if err := g.at(asPath, q.Left); err != nil {
		return err
	}
	if err := g.value(q.Right); err != nil {
		return err
	}
	assign := &gojq.Query{Left: q.Left, Op: q.Op, Right: q.Right}
	if op, ok := updates[q.Op]; ok {
		const operand = "$__ebb_operand"
		sum := &gojq.Query{Left: identity(), Op: op, Right: call(operand)}
		if _, constant := numeral(q.Right); !constant || op == gojq.OpMul {
			sum = guarded(op, sum.Left, sum.Right)
		}
		assign = &gojq.Query{
			Left: q.Right, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: operand}},
			Right: &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: sum},
		}
	}
	definitions := q.FuncDefs
	*q = *piped(guardInput(costDeep), assign)
	q.FuncDefs = definitions
	return nil
}
