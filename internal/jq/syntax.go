package jq

import (
	"strconv"

	"github.com/itchyny/gojq"
)

// Parts of syntax trees.

func identity() *gojq.Query { return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}} }

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func number(n int) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(n)}}
}

// inBrackets makes a query a term, so that it can be an operand.
func inBrackets(q *gojq.Query) *gojq.Query {
	if q.Term != nil && len(q.FuncDefs) == 0 {
		return q
	}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

// piped joins the queries to one pipe.
func piped(all ...*gojq.Query) *gojq.Query {
	q := inBrackets(all[len(all)-1])
	for i := len(all) - 2; i >= 0; i-- {
		q = &gojq.Query{Left: inBrackets(all[i]), Op: gojq.OpPipe, Right: q}
	}
	return q
}

func element(i int) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIndex, Index: &gojq.Index{Start: number(i)}}}
}

// guardInput returns a query that outputs its input, if the guard allows the operation.
func guardInput(c cost) *gojq.Query {
	return call(inputGuard, number(int(c)), call(meterVariable))
}

// guardArgument returns a query that outputs the results of a function's argument, if the guard allows the call.
func guardArgument(c cost, arg *gojq.Query) *gojq.Query {
	return call(argumentGuard, number(int(c)), identity(), arg, call(meterVariable))
}

// guarded returns an operation on operands that the guard allows. The guard outputs them as a pair, in the order in
// which jq pairs them.
func guarded(op gojq.Operator, left, right *gojq.Query) *gojq.Query {
	return piped(
		call(operandGuard, number(int(op)), left, right, call(meterVariable)),
		&gojq.Query{Left: element(0), Op: op, Right: element(1)},
	)
}
