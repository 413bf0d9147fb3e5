package asl

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// An intrinsic is a call of an intrinsic function, such as
// States.Format('Hello {}', $.name).
type intrinsic struct {
	name     string
	text     string // the whole call, of which this may be an argument
	function function
	args     []expression
}

// A function computes an intrinsic from its evaluated arguments. An error is
// what went wrong, for people.
type function struct {
	least, most int // how many arguments it takes
	call        func(args []any, random func() uint64) (any, error)
}

// anyNumber is the most of a function that takes any number of arguments.
const anyNumber = 1 << 20

// maxCallNesting is how deep calls may stand in each other's arguments.
const maxCallNesting = 10

func (e *intrinsic) evaluate(v *view) (any, *stateError) {
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		if literal, ok := arg.(literalText); ok && e.name == "Format" && i == 0 {
			args[i] = string(literal) // Format needs to know which braces were escaped
			continue
		}
		var f *stateError
		if args[i], f = arg.evaluate(v); f != nil {
			return nil, f
		}
	}
	if v.walk.ask.Done() {
		return nil, interrupted
	}
	value, err := e.function.call(args, v.walk.random)
	if err != nil {
		return nil, localError(statesIntrinsicFailure, functionError+"%v", e.text, err)
	}
	return value, nil
}

// functionError begins the cause of every failure of a call, with the whole call as
// it is written: AWS does not say which of nested ones it was.
const functionError = "The function '%s' had the following error: "

// argumentPath is a path among the arguments of a call. AWS words its failure unlike
// that of a path by itself, always as States.Runtime, and tells the state's input
// even when the path leads into the context object.
type argumentPath struct {
	call string // the whole of it
	path *jsonpath.Path
}

func (e *argumentPath) evaluate(v *view) (any, *stateError) {
	value, missing, f := v.find(e.path)
	switch {
	case f != nil || missing == nil:
		return value, f
	case missing.Unfit:
		f = runtimeError(functionError+"%s", e.call, missing.Reason)
	default:
		f = runtimeError(functionError+"The JsonPath argument for the field '%s' could not be found in the input '%s'",
			e.call, underRoot(e.path), v.input.encoded())
	}
	return nil, v.walk.pathError(f)
}

// random returns random bits. An undo, which is given none, takes them from what
// it undoes, so that asked twice it answers the same.
func (w *interpreter) random() uint64 {
	if w.ask.Random != nil {
		return w.ask.Random()
	}
	h := fnv.New64a()
	w.drawn++
	_, _ = fmt.Fprintf(h, "%s/%s/%d", w.ask.Run.ID, w.ask.Path, w.drawn) // a hash takes everything
	return h.Sum64()
}

// literalText is a string argument between its quotes, escapes and all.
type literalText string

func (e literalText) evaluate(*view) (any, *stateError) { return unescape(string(e)), nil }

// unescape replaces \' \\ \{ and \} by what they stand for.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`'\{}`, text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// literalValue is a number, true, false or null.
type literalValue struct{ value any }

func (e literalValue) evaluate(*view) (any, *stateError) { return e.value, nil }

// A callParser reads an intrinsic function's call.
type callParser struct {
	text  string
	pos   int
	paths []*jsonpath.Path // among the arguments
}

// whole reads a call and nothing behind it.
func (p *callParser) whole() (expression, error) {
	call, err := p.call(1)
	if err == nil {
		if p.space(); p.pos < len(p.text) {
			err = p.fault("expected nothing more behind the call")
		}
	}
	return call, err
}

type unknownFunctionError struct{ name string }

func (e *unknownFunctionError) Error() string {
	return "there is no function States." + jsontext.Cut(e.name)
}

func (p *callParser) fault(format string, args ...any) error {
	return fmt.Errorf("%s at character %d", fmt.Sprintf(format, args...), p.pos+1)
}

func (p *callParser) space() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t' || p.text[p.pos] == '\n') {
		p.pos++
	}
}

func (p *callParser) take(c byte) bool {
	if p.space(); p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *callParser) call(depth int) (expression, error) {
	rest, ok := strings.CutPrefix(p.text[p.pos:], "States.")
	if !ok {
		return nil, p.fault("expected a path, or a function's name beginning with States.")
	}
	if depth > maxCallNesting {
		return nil, p.fault("calls nest deeper than %d", maxCallNesting)
	}
	length := strings.IndexFunc(rest, func(r rune) bool { return !isSchemeRune(r) || strings.ContainsRune("+-.", r) })
	if length < 0 {
		length = len(rest)
	}
	e := &intrinsic{name: rest[:length], text: p.text}
	if e.function, ok = functions[e.name]; !ok {
		return nil, &unknownFunctionError{e.name}
	}
	p.pos += len("States.") + length
	if !p.take('(') {
		return nil, p.fault("expected '(' behind States.%s", e.name)
	}
	for !p.take(')') {
		if len(e.args) > 0 && !p.take(',') {
			return nil, p.fault("expected ',' or ')'")
		}
		arg, err := p.argument(depth)
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, arg)
	}
	if n := len(e.args); n < e.function.least || n > e.function.most {
		return nil, p.fault("States.%s takes %s, found %d", e.name, e.function.arity(), n)
	}
	return e, nil
}

func (f function) arity() string {
	switch {
	case f.most == anyNumber:
		return fmt.Sprintf("at least %d arguments", f.least)
	case f.least == f.most:
		return fmt.Sprintf("%d arguments", f.least)
	}
	return fmt.Sprintf("%d to %d arguments", f.least, f.most)
}

func (p *callParser) argument(depth int) (expression, error) {
	if p.space(); p.pos >= len(p.text) {
		return nil, p.fault("expected an argument")
	}
	switch c := p.text[p.pos]; {
	case c == '\'':
		return p.quoted()
	case c == '$':
		return p.path()
	case c == '-' || '0' <= c && c <= '9':
		number, err := jsontext.NewReader([]byte(p.text[p.pos:])).Number()
		if err != nil {
			return nil, p.fault("expected a number")
		}
		p.pos += len(number)
		return literalValue{json.Number(number)}, nil
	}
	for word, value := range map[string]any{"true": true, "false": false, "null": nil} {
		if rest, ok := strings.CutPrefix(p.text[p.pos:], word); ok && (rest == "" || !isSchemeRune(rune(rest[0]))) {
			p.pos += len(word)
			return literalValue{value}, nil
		}
	}
	return p.call(depth + 1)
}

func (p *callParser) quoted() (expression, error) {
	start := p.pos + 1
	for i := start; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '\'':
			p.pos = i + 1
			return literalText(p.text[start:i]), nil
		}
	}
	return nil, p.fault("expected a closing ' for the string")
}

// path reads up to the comma or parenthesis behind the path.
func (p *callParser) path() (expression, error) {
	start, depth := p.pos, 0
scan:
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; c {
		case '[', '(':
			depth++
		case ']', ')':
			if depth == 0 {
				break scan
			}
			depth--
		case ',', ' ':
			if depth == 0 {
				break scan
			}
		case '\'', '"':
			if end := strings.IndexByte(p.text[p.pos+1:], c); depth > 0 && end >= 0 {
				p.pos += end + 1
			}
		case '\\':
			p.pos++
		}
	}
	path, err := jsonpath.Parse(p.text[start:min(p.pos, len(p.text))])
	if err != nil {
		return nil, err
	}
	p.paths = append(p.paths, path)
	return &argumentPath{call: p.text, path: path}, nil
}
