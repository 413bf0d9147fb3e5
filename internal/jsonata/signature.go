package jsonata

import (
	"fmt"
	"strings"
)

const maxParameters = 100

// A signature says which arguments a function takes, such as <s-nn?:s>. Types are s(tring), n(umber), b(oolean), l
// (null), o(bject), a(rray), f(unction), j(SON) and x (anything). The letter m stands for a missing argument.
type signature struct{ parameters []parameter }

type parameter struct {
	types    string // the types that the argument may have
	array    bool   // accepts a single value in place of an array of it
	of       string // type of the items of an array; "" for any
	optional bool
	many     bool // one or more
	context  bool // the context replaces a missing argument
}

var itemNames = map[string]string{
	"a": "arrays", "b": "booleans", "f": "functions", "n": "numbers", "o": "objects",
	"s": "strings",
}

// parseSignature reads a signature, from < to the colon or the closing >.
func parseSignature(text string) (*signature, *fault) {
	s := &signature{}
	kind := "" // of the last parameter
	for i := 1; i < len(text) && text[i] != ':'; i++ {
		last := len(s.parameters) - 1
		if last >= maxParameters {
			return nil, &fault{code: "S0402", at: i, message: fmt.Sprintf("a signature has at most %d parameters",
				maxParameters)}
		}
		switch c := text[i]; c {
		case 's', 'n', 'b', 'l', 'o':
			s.parameters = append(s.parameters, parameter{types: string(c) + "m"})
			kind = string(c)
		case 'a':
			s.parameters = append(s.parameters, parameter{types: "asnblfom", array: true})
			kind = "a"
		case 'f':
			s.parameters = append(s.parameters, parameter{types: "f"})
			kind = "f"
		case 'j':
			s.parameters = append(s.parameters, parameter{types: "asnblom"})
			kind = "j"
		case 'x':
			s.parameters = append(s.parameters, parameter{types: "asnblfom"})
			kind = "x"
		case '-', '?', '+':
			if last < 0 {
				break
			}
			p := &s.parameters[last]
			p.context = p.context || c == '-'
			p.optional = p.optional || c != '+'
			p.many = p.many || c == '+'
		case '(':
			end := closing(text, i, '(', ')')
			types := text[i+1 : end]
			if strings.Contains(types, "<") {
				return nil, &fault{code: "S0402", at: i, value: types}
			}
			s.parameters = append(s.parameters, parameter{types: types + "m"})
			kind, i = "("+types+")", end
		case '<':
			if kind != "a" && kind != "f" {
				return nil, &fault{code: "S0401", at: i, value: kind}
			}
			end := closing(text, i, '<', '>')
			s.parameters[last].of = text[i+1 : end]
			i = end
		}
	}
	return s, nil
}

// closing returns the offset at which the bracket at an offset is closed.
func closing(text string, at int, open, shut byte) int {
	depth := 1
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

func mustSignature(text string) *signature {
	s, f := parseSignature(text)
	if f != nil {
		panic("jsonata: signature " + text + ": " + f.Error()) // a mistake in this package
	}
	return s
}

// typeOf returns the letter of a value's type.
func typeOf(v any) byte {
	switch v.(type) {
	case nil:
		return 'm'
	case null:
		return 'l'
	case bool:
		return 'b'
	case float64, long:
		return 'n'
	case string:
		return 's'
	case *array:
		return 'a'
	case *object:
		return 'o'
	case function:
		return 'f'
	}
	return 'm'
}

// validate returns the arguments as a function with the signature receives them.
func (s *signature) validate(r *run, args []any, context any) ([]any, error) {
	r.work(len(s.parameters) * len(args) / bytesPerStep)
	types := make([]byte, len(args))
	for i, arg := range args {
		types[i] = typeOf(arg)
	}
	counts, _ := fit(s.parameters, types, true)
	if counts == nil {
		return nil, s.mismatch(args, types)
	}
	out := make([]any, 0, len(s.parameters))
	at := 0
	for i := range s.parameters {
		p := &s.parameters[i]
		if counts[i] == 0 {
			if !p.context {
				out = append(out, nil)
				at++
				continue
			}
			if !p.takes(typeOf(context)) {
				return nil, &fault{code: "T0411", value: context, index: at + 1}
			}
			out = append(out, context)
			continue
		}
		for range counts[i] {
			arg := args[at]
			if p.array {
				var err error
				if arg, err = p.asArray(arg, at+1); err != nil {
					return nil, err
				}
			}
			out = append(out, arg)
			at++
		}
	}
	return out, nil
}

func (p *parameter) takes(kind byte) bool { return strings.IndexByte(p.types, kind) >= 0 }

// asArray checks the items of an argument for an array. It puts a single value into an array.
func (p *parameter) asArray(arg any, index int) (any, error) {
	if arg == nil {
		return undefined, nil
	}
	list, isArray := arg.(*array)
	ok := true
	switch {
	case p.of == "":
	case !isArray:
		ok = string(typeOf(arg)) == p.of
	case len(list.items) > 0:
		ok = arrayOf(list, func(item any) bool { return typeOf(item) == p.of[0] })
	}
	if !ok {
		return nil, &fault{code: "T0412", value: arg, index: index, want: itemNames[p.of]}
	}
	if isArray {
		return arg, nil
	}
	out := &array{}
	out.push(arg)
	return out, nil
}

// fit finds how many arguments each parameter takes: as many as possible, while every other parameter gets what it
// requires. If all is set, no argument may be left. If that is impossible, fit returns nil.
func fit(parameters []parameter, types []byte, all bool) (counts []int, length int) {
	// fits[i][j]: the parameters from i on can take the arguments from j on
	fits := make([][]bool, len(parameters)+1)
	for i := len(parameters); i >= 0; i-- {
		fits[i] = make([]bool, len(types)+1)
		for j := range fits[i] {
			if i == len(parameters) {
				fits[i][j] = !all || j == len(types)
			} else {
				fits[i][j] = parameters[i].count(types[j:], func(n int) bool { return fits[i+1][j+n] }) >= 0
			}
		}
	}
	if !fits[0][0] {
		return nil, 0
	}
	counts = make([]int, len(parameters))
	for i := range parameters {
		counts[i] = parameters[i].count(types[length:], func(n int) bool { return fits[i+1][length+n] })
		length += counts[i]
	}
	return counts, length
}

// count returns the maximum number of arguments that a parameter can take while the rest still fits, or -1.
func (p *parameter) count(types []byte, rest func(n int) bool) int {
	most := 1
	if p.many {
		most = len(types)
	}
	n := 0
	for n < most && n < len(types) && p.takes(types[n]) {
		n++
	}
	least := 1
	if p.optional {
		least = 0
	}
	for n >= least && !rest(n) {
		n--
	}
	if n < least {
		return -1
	}
	return n
}

// mismatch finds the argument that does not fit.
func (s *signature) mismatch(args []any, types []byte) error {
	good := 0
	for i := range s.parameters {
		counts, length := fit(s.parameters[:i+1], types, false)
		if counts == nil {
			break
		}
		good = length
	}
	f := &fault{code: "T0410", index: good + 1}
	if good < len(args) {
		f.value = args[good]
	}
	return f
}
