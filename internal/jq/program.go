package jq

import (
	"fmt"
	"slices"

	"github.com/itchyny/gojq"
)

// A Program is a compiled program. It never changes and may be run by any number
// of goroutines at once.
type Program struct {
	code      *gojq.Code
	variables int
}

// Compile compiles a program that may use the named variables. Names have no $. The error is *[Error].
func Compile(source string, variables ...string) (*Program, error) {
	if len(source) > MaxSource {
		return nil, &Error{Message: fmt.Sprintf("the expression has %d bytes; %d is the most", len(source), MaxSource)}
	}
	query, err := parse(source)
	if err != nil {
		return nil, err
	}
	g := newGuarder(source, variables)
	if err := g.program(query); err != nil {
		return nil, err
	}
	names := []string{meterVariable}
	for _, name := range variables {
		names = append(names, "$"+name)
	}
	options := append(slices.Clone(guardOptions), gojq.WithVariables(names))
	code, err := gojq.Compile(query, options...)
	if err != nil {
		return nil, &Error{Message: err.Error()} // a fault that the guarder did not notice
	}
	return &Program{code: code, variables: len(variables)}, nil
}

// A Result is the result of an evaluation.
type Result struct {
	Value any // the first output
	Count int // number of outputs: 0, 1, or 2 for more than one
}

// Run evaluates the program for an input and the values of its variables, in the order of their names. Run changes no
// argument, and the result may share parts with them. If the evaluation would exceed a limit, the error wraps
// [ErrLimit].
func (p *Program) Run(input any, values ...any) (result Result, err error) {
	return p.RunUntil(nil, input, values...)
}

// RunUntil is like Run, but calls interrupted, unless it is nil, every few thousand steps. If interrupted returns true,
// RunUntil stops. Its result is then of no use.
func (p *Program) RunUntil(interrupted func() bool, input any, values ...any) (result Result, err error) {
	if len(values) != p.variables {
		return Result{}, fmt.Errorf("jq: %d values for %d variables", len(values), p.variables)
	}
	defer func() {
		if broken := recover(); broken != nil {
			result, err = Result{}, &runError{fmt.Sprintf("the expression broke jq: %v", broken)}
		}
	}()
	m := newMeter(interrupted)
	outputs := p.code.RunWithContext(m, input, append([]any{m}, values...)...)
	for {
		value, ok := outputs.Next()
		if !ok {
			return result, nil
		}
		if err, failed := value.(error); failed {
			return Result{}, failure(err)
		}
		if result.Count++; result.Count > 1 {
			return result, nil
		}
		result.Value = value
	}
}
