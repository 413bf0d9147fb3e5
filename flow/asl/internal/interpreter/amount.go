package interpreter

import (
	"math"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/expression"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/flow/asl/internal/syntax"
	"github.com/ebbflow/ebb/internal/jsonata"
)

// Amount returns the number, which must be in a range unless it is fixed.
func (w *surroundings) Amount(n *syntax.Amount, least, most int64) (int64, *stateerror.Error) {
	switch {
	case n.Query != nil:
		return n.Query.Whole(w.View(w.Input), least, most)
	case n.Path == nil:
		return n.Fixed, nil
	}
	v, f := w.seen()
	if f != nil {
		return 0, f
	}
	value, f := v.Resolve(n.Path)
	if f != nil {
		return 0, f
	}
	found, ok := expression.AsWhole(value)
	if ok && least == 0 && found < 0 {
		return 0, stateerror.Runtimef("Expected non-negative integer for %s, got '%d' instead.", strings.TrimSuffix(n.Field, "Path"), found)
	}
	if !ok || found < least || found > most {
		return 0, stateerror.Runtimef("The %s field refers to value \"%s\" which is not a valid integer: %s", n.Field, expression.Plain(value), n.Path.Text())
	}
	return found, nil
}

// fraction is amount for a number that need not be whole.
func (w *surroundings) fraction(n *syntax.Amount) (float64, *stateerror.Error) {
	v := w.View(w.Input)
	switch {
	case n.Query != nil:
		value, f := n.Query.Typed(v, jsonata.Number)
		if f != nil {
			return 0, f
		}
		found, err := strconv.ParseFloat(expression.Shown(data.Query(value)), 64)
		if err != nil {
			return 0, expression.QueryErrorf(&n.Query.At, "The %s field cannot be parsed as a number: %s", n.Query.At.Field, expression.Shown(data.Query(value)))
		}
		return found, nil
	case n.Path == nil:
		return n.Number, nil
	}
	v, f := w.seen()
	if f != nil {
		return 0, f
	}
	value, f := v.Resolve(n.Path)
	if f != nil {
		return 0, f
	}
	found, err := strconv.ParseFloat(expression.Plain(value), 64)
	if err != nil || math.IsNaN(found) || math.IsInf(found, 0) {
		return 0, stateerror.Runtimef("The %s field refers to value \"%s\" which is not a valid float: %s", n.Field, expression.Plain(value), n.Path.Text())
	}
	return found, nil
}
