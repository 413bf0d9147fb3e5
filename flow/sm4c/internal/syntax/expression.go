package syntax

import (
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jq"
)

// An Expression is a jq program, or a reference to an expression function.
type Expression struct {
	Program *jq.Program
	Fn      *Expression // the expression function that it refers to
	Where   string      // name of its attribute, for messages
	Args    bool        // it is an expression function's and sees the arguments of the call
}

// Evaluate runs a reading expression: no output is null, and more than one output is an error.
func (e *Expression) Evaluate(until func() bool, input any, variables ...any) (any, *stateerror.Error) {
	result, f := e.Run(until, input, variables...)
	return result.Value, f
}

// Run runs the program on an input. More than one output is an error.
func (e *Expression) Run(until func() bool, input any, variables ...any) (jq.Result, *stateerror.Error) {
	program := e
	for program.Fn != nil {
		program = program.Fn
	}
	if program.Args && !e.Args { // ${ fn:name }
		variables = []any{map[string]any{}}
	}
	result, err := program.Program.RunUntil(until, input, variables...)
	switch {
	case err != nil:
		return result, stateerror.Expression("%s: %v", e.Where, err)
	case result.Count > 1:
		return result, stateerror.Expression("%s: the expression gives more than one value", e.Where)
	}
	return result, nil
}

// Resolve returns the value of a template for an input. Like a value of jq, it has at most [jq.MaxSize].
func (t *Template) Resolve(until func() bool, input any, variables ...any) (any, *stateerror.Error) {
	left := jq.MaxSize
	return t.resolve(func(e *Expression) (any, *stateerror.Error) {
		v, f := e.Evaluate(until, input, variables...)
		if f != nil {
			return nil, f
		}
		size, err := jq.Size(v)
		if left -= size; err != nil || left < 0 {
			return nil, stateerror.Expression("%s: the expressions give more than %d bytes together", e.Where, jq.MaxSize)
		}
		return v, nil
	})
}

func (t *Template) resolve(evaluate func(*Expression) (any, *stateerror.Error)) (any, *stateerror.Error) {
	switch {
	case t.Expression != nil:
		return evaluate(t.Expression)
	case t.Members != nil:
		object := make(map[string]any, len(t.Members))
		for i := range t.Members {
			v, f := t.Members[i].Value.resolve(evaluate)
			if f != nil {
				return nil, f
			}
			object[t.Members[i].Name] = v
		}
		return object, nil
	case t.List != nil:
		list := make([]any, len(t.List))
		for i := range t.List {
			v, f := t.List[i].resolve(evaluate)
			if f != nil {
				return nil, f
			}
			list[i] = v
		}
		return list, nil
	}
	return t.Constant, nil
}

// A Template is a value in which texts may be expressions.
type Template struct {
	Constant   any // the value, if it contains no expressions
	Expression *Expression
	List       []Template
	Members    []TemplateMember
}

// Evaluates reports whether the template contains an expression.
func (t *Template) Evaluates() bool { return t.Expression != nil || t.List != nil || t.Members != nil }

// A TemplateMember is a member of an object.
type TemplateMember struct {
	Name  string
	Value Template
}
