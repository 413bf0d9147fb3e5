package jsonata

import (
	"time"
)

// An Expression is a compiled expression. Any number of goroutines may evaluate it.
type Expression struct {
	text     string
	root     node
	patterns int
}

// Parse compiles an expression. The error is a [*ParseError].
func Parse(text string) (*Expression, error) {
	tree, patterns, f := parse(text)
	if f == nil {
		var root node
		if root, f = lower(tree); f == nil {
			return &Expression{text, root, patterns}, nil
		}
	}
	return nil, &ParseError{Code: f.code, Message: f.text(), Offset: f.at}
}

// Patterns returns the number of instructions of its regular expressions, which is at most [MaxPatterns].
func (e *Expression) Patterns() int { return e.patterns }

// Text returns the expression as it was parsed.
func (e *Expression) Text() string { return e.text }

// An Environment contains the values that an expression can see. With the zero value, it sees none.
type Environment struct {
	// Input is the value of $ and $$. It is undefined in the States Language.
	Input Value
	// Variable returns a variable, and whether it exists.
	Variable func(name string) (Value, bool)
	// Now is the result of $now and $millis.
	Now time.Time
	// Random returns random bits for $random, $shuffle and $uuid. If Random is nil, they are zero.
	Random func() uint64
	// Steps is the number of steps that the evaluation may take. Evaluate subtracts the steps that it took. nil
	// means MaxSteps.
	Steps *int
	// Interrupted is called every few thousand steps. If it returns true, Evaluate returns an error that has no
	// meaning. nil means never.
	Interrupted func() bool
}

// inputName is the name of the input in the outermost frame.
var inputName = []string{"$"}

// Evaluate returns the value of the expression, which may be undefined. The error is an [*Error]: an error of the
// expression, or an exceeded limit of this package. An evaluation always ends, and starts nothing that continues
// afterwards.
func (e *Expression) Evaluate(env *Environment) (Value, error) {
	var all struct { // one allocation is faster than several
		run    run
		host   frame
		values [1]any
	}
	r, host := &all.run, &all.host
	r.steps, r.now, r.random = MaxSteps, env.Now, env.Random
	if env.Steps != nil {
		r.steps = *env.Steps
		defer func() { *env.Steps = max(0, r.steps+r.kept) }()
	}
	if env.Interrupted != nil {
		r.interrupted = env.Interrupted
		r.cut()
	}
	host.outer, host.host, host.names, host.values = builtins, env, inputName, all.values[:]
	host.values[0] = env.Input.v
	input := env.Input.v
	if a, ok := input.(*array); ok && !a.sequence {
		wrapper := sequenceOf(a)
		wrapper.outer = true
		input = wrapper
	}
	v, err := r.evaluate(e.root, input, host)
	if err == nil {
		settle(v)
		return Value{v}, nil
	}
	f, ok := err.(*fault) //nolint:errorlint // faults are never wrapped
	if !ok {
		return Value{}, &Error{Message: err.Error()}
	}
	return Value{}, &Error{Code: f.code, Message: f.text(), Offset: f.at}
}

// Kind is the type of a value.
type Kind uint8

// The types of values.
const (
	Undefined Kind = iota // no value
	Null
	Boolean
	Number
	String
	Array
	Object
	Function
)

// String returns the language's name of the type.
func (k Kind) String() string {
	return [...]string{
		Undefined: "undefined", Null: "null", Boolean: "boolean", Number: "number", String: "string",
		Array: "array", Object: "object", Function: "function",
	}[k]
}

// A Value is an input or a result of an expression. The zero Value is undefined. A Value does not change.
type Value struct{ v any }

// Kind returns the type of the value.
func (v Value) Kind() Kind {
	switch v.v.(type) {
	case nil:
		return Undefined
	case null:
		return Null
	case bool:
		return Boolean
	case float64, long:
		return Number
	case string:
		return String
	case *array:
		return Array
	case *object:
		return Object
	default:
		return Function
	}
}

// Bool returns whether the value is true.
func (v Value) Bool() bool { return v.v == true }

// Number returns the value of a number; 0 for any other value.
func (v Value) Number() float64 {
	n, _ := number(v.v)
	return n
}

// Text returns the value of a string; "" for any other value.
func (v Value) Text() string {
	s, _ := v.v.(string)
	return s
}

// Size returns about how many bytes the value takes as JSON.
func (v Value) Size() int { return sizeOf(v.v) }

// AppendJSON appends the value as JSON. A function becomes an empty string, a number that is not finite becomes its
// name, and undefined becomes null.
func (v Value) AppendJSON(b []byte) []byte {
	w := writer{b: b}
	w.value(v.v)
	return w.b
}

// A Member is a member of an object: a name and a value.
type Member struct {
	Name  string
	Value Value
}

// ObjectOf returns an object of the members that are not undefined.
func ObjectOf(members ...Member) Value {
	o := &object{names: make([]string, 0, len(members)), values: make([]any, 0, len(members))}
	for _, m := range members {
		if m.Value.v != nil {
			o.set(m.Name, m.Value.v)
		}
	}
	return Value{o}
}
