package jsonata

import (
	"time"
)

// An Expression is a compiled expression. Any number of goroutines may evaluate
// it.
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

// Patterns returns how many instructions the regular expressions in it compiled
// to, which is at most [MaxPatterns].
func (e *Expression) Patterns() int { return e.patterns }

// Text returns the expression as it was parsed.
func (e *Expression) Text() string { return e.text }

// An Environment has the values that an expression can see. The zero value shows the
// expression nothing.
type Environment struct {
	// Input is what $ and $$ are, undefined in the States Language.
	Input Value
	// Variable returns a variable, and whether there is one of the name.
	Variable func(name string) (Value, bool)
	// Now is what $now and $millis tell.
	Now time.Time
	// Random gives random bits to $random, $shuffle and $uuid; nil gives zeros.
	Random func() uint64
	// Steps is how many steps may be taken. Evaluate takes away those that it
	// took. nil is MaxSteps.
	Steps *int
	// Interrupted is asked every few thousand steps whether to give up; nil never does.
	// The error is then of no use.
	Interrupted func() bool
}

// inputName is the name under which the outermost frame has the input.
var inputName = []string{"$"}

// Evaluate returns the value of the expression, which may be undefined. The error is
// an [*Error]: an error of the expression, or an exceeded limit of this package. An
// evaluation always ends, and leaves nothing behind.
func (e *Expression) Evaluate(env *Environment) (Value, error) {
	var all struct { // in one piece, which is quicker
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
	Undefined Kind = iota // nothing
	Null
	Boolean
	Number
	String
	Array
	Object
	Function
)

// String returns the name of the type, in the words of the language.
func (k Kind) String() string {
	return [...]string{
		Undefined: "undefined", Null: "null", Boolean: "boolean", Number: "number", String: "string",
		Array: "array", Object: "object", Function: "function",
	}[k]
}

// A Value is the input or the result of an expression. Its zero value is undefined. A
// Value cannot be changed.
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

// Number returns the value of a number, 0 of anything else.
func (v Value) Number() float64 {
	n, _ := number(v.v)
	return n
}

// Text returns the value of a string, "" of anything else.
func (v Value) Text() string {
	s, _ := v.v.(string)
	return s
}

// Size returns about how many bytes the value takes as JSON.
func (v Value) Size() int { return sizeOf(v.v) }

// AppendJSON appends the value as JSON. Functions are empty strings, numbers that
// are not finite are their names, and undefined is null.
func (v Value) AppendJSON(b []byte) []byte {
	w := writer{b: b}
	w.value(v.v)
	return w.b
}

// A Member is a name and a value of an object.
type Member struct {
	Name  string
	Value Value
}

// ObjectOf returns an object of members; those that are undefined are left out.
func ObjectOf(members ...Member) Value {
	o := &object{names: make([]string, 0, len(members)), values: make([]any, 0, len(members))}
	for _, m := range members {
		if m.Value.v != nil {
			o.set(m.Name, m.Value.v)
		}
	}
	return Value{o}
}
