package atom

import "encoding/json"

// Values are the arguments of one call: encoded, under the atom's own names.
type Values struct {
	args []Arg
	vals []Value
}

// NewValues pairs arguments with their values; a nil value is an optional
// argument without a value.
func NewValues(args []Arg, vals []Value) Values { return Values{args, vals} }

// Single returns the Values of a call with one unnamed argument. Tasks of ASL and SM4C
// have such an argument.
func Single(v Value) Values { return Values{singleArg, []Value{v}} }

var singleArg = []Arg{{}}

// Get returns the argument of that name, and whether it was passed.
func (v Values) Get(name string) (Value, bool) {
	for i := range v.args {
		if v.args[i].Name == name {
			return v.vals[i], v.vals[i] != nil
		}
	}
	return nil, false
}

// Input returns the one unnamed argument, or nil.
func (v Values) Input() Value {
	in, _ := v.Get("")
	return in
}

// All calls yield with each argument that was passed, in order.
func (v Values) All(yield func(name string, value Value) bool) {
	for i := range v.args {
		if v.vals[i] != nil && !yield(v.args[i].Name, v.vals[i]) {
			return
		}
	}
}

// Object returns all arguments as the members of one JSON object.
func (v Values) Object() Value {
	size := 3
	for i := range v.args {
		size += len(v.args[i].Name) + len(v.vals[i]) + 4
	}
	out := append(make(Value, 0, size), CodecJSON, '{')
	for name, val := range v.All {
		if len(out) > 2 {
			out = append(out, ',')
		}
		out = appendKey(out, name)
		out = append(append(out, ':'), val.JSON()...)
	}
	return append(out, '}')
}

func appendKey(out []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			quoted, _ := json.Marshal(name) // strings always encode
			return append(out, quoted...)
		}
	}
	return append(append(append(out, '"'), name...), '"')
}
