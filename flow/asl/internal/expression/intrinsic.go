package expression

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// An intrinsic is a call of an intrinsic function, such as
// States.Format('Hello {}', $.name).
type intrinsic struct {
	name     string
	text     string // the outermost call, of which this may be an argument
	function function
	args     []Dynamic
}

// A function computes the result of an intrinsic function from its evaluated arguments. The text of its error is for
// people.
type function struct {
	least, most int // minimum and maximum number of arguments
	call        func(args []any, random func() uint64) (any, error)
	steps       steps
}

// steps is whose size is the number of steps that a call takes.
type steps int

const (
	ofNothing   steps = iota // the result is part of the arguments
	ofResult                 // the result is new
	ofArguments              // the arguments are read whole
)

// bytesPerStep is the number of bytes of a text that count as one step, in addition to the text itself.
const bytesPerStep = 32

// count subtracts the size of a value from the remaining steps, and stops when none remain.
func count(value any, left int) int {
	if left--; left < 0 {
		return left
	}
	switch v := value.(type) {
	case string:
		left -= len(v) / bytesPerStep
	case []any:
		for _, element := range v {
			if left = count(element, left); left < 0 {
				return left
			}
		}
	case *jsontext.OrderedMap:
		for name, member := range v.All() {
			if left = count(member, left-len(name)/bytesPerStep); left < 0 {
				return left
			}
		}
	}
	return left
}

// of returns the number of steps that a call takes.
func (s steps) of(args []any, result any) int {
	left := jsonata.MaxSteps
	switch s {
	case ofNothing:
	case ofResult:
		left = count(result, left)
	case ofArguments:
		left = count(args, left)
	}
	return jsonata.MaxSteps - left
}

// anyNumber is the maximum for a function that takes any number of arguments.
const anyNumber = 1 << 20

// maxCallNesting is how deep calls may be nested.
//
//limit:asl nested calls of intrinsic functions | {}
const maxCallNesting = 10

func (e *intrinsic) Evaluate(v *View) (any, *stateerror.Error) {
	args := make([]any, len(e.args))
	for i, arg := range e.args {
		if literal, ok := arg.(literalText); ok && e.name == "Format" && i == 0 {
			args[i] = string(literal) // Format needs to know which braces were escaped
			continue
		}
		var f *stateerror.Error
		if args[i], f = arg.Evaluate(v); f != nil {
			return nil, f
		}
	}
	if v.In.Interrupted() {
		return nil, stateerror.Interruption
	}
	value, err := e.function.call(args, v.In.Random)
	if err != nil {
		return nil, stateerror.Localf(stateerror.IntrinsicFailure, functionError+"%v", e.text, err)
	}
	if !v.In.Spend(e.function.steps.of(args, value)) {
		return nil, tooManySteps()
	}
	return value, nil
}

// Placeholders finds a call of States.Format whose number of {} differs from its number of values. It ignores a text
// that is not fixed.
func Placeholders(of Dynamic) (wants, has int, wrong bool) {
	call, ok := of.(*intrinsic)
	if !ok {
		return 0, 0, false
	}
	if call.name == "Format" && len(call.args) > 0 {
		if literal, fixed := call.args[0].(literalText); fixed {
			text := strings.NewReplacer(`\\`, "", `\{`, "", `\}`, "").Replace(string(literal))
			if wants, has = strings.Count(text, "{}"), len(call.args)-1; wants != has {
				return wants, has, true
			}
		}
	}
	for _, arg := range call.args {
		if wants, has, wrong = Placeholders(arg); wrong {
			return wants, has, true
		}
	}
	return 0, 0, false
}

// functionError is the beginning of the cause of every failed call. It quotes the outermost call, because AWS does not
// say which of several nested calls failed.
const functionError = "The function '%s' had the following error: "

// argumentPath is a path among the arguments of a call. AWS words its failure differently from that of a path
// elsewhere. The error is always States.Runtime, and the cause shows the state's input even if the path leads into the
// context object.
type argumentPath struct {
	call string // the outermost call
	path *jsonpath.Path
}

func (e *argumentPath) Evaluate(v *View) (any, *stateerror.Error) {
	value, missing, f := v.Find(e.path)
	switch {
	case f != nil || missing == nil:
		return value, f
	case missing.Unfit:
		f = stateerror.Runtimef(functionError+"%s", e.call, missing.Reason)
	default:
		f = stateerror.Runtimef(functionError+"The JsonPath argument for the field '%s' could not be found in the input '%s'",
			e.call, UnderRoot(e.path), v.Input.Encoded())
	}
	return nil, v.pathError(f)
}

// literalText is a string argument as it is written between its quotes, with its escapes.
type literalText string

func (e literalText) Evaluate(*View) (any, *stateerror.Error) { return unescape(string(e)), nil }

// escaped are the characters that may follow a backslash.
const escaped = `'\{}`

// unescape replaces \' \\ \{ and \} by what they stand for. The text has no other escapes.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// literalValue is a number, true, false or null.
type literalValue struct{ value any }

func (e literalValue) Evaluate(*View) (any, *stateerror.Error) { return e.value, nil }

// A Parser reads an intrinsic function's call.
type Parser struct {
	Text  string
	pos   int
	Paths []*jsonpath.Path // paths among the arguments
}

// Whole reads a text that must be one call.
func (p *Parser) Whole() (Dynamic, error) {
	call, err := p.call(1)
	if err == nil {
		if p.space(); p.pos < len(p.Text) {
			err = p.fault("expected nothing more behind the call")
		}
	}
	return call, err
}

// An UnknownFunctionError says that no function has the name.
type UnknownFunctionError struct{ Name string }

func (e *UnknownFunctionError) Error() string {
	return "there is no function States." + jsontext.Cut(e.Name)
}

func (p *Parser) fault(format string, args ...any) error {
	return fmt.Errorf("%s at character %d", fmt.Sprintf(format, args...), p.pos+1)
}

func (p *Parser) space() {
	for p.pos < len(p.Text) && (p.Text[p.pos] == ' ' || p.Text[p.pos] == '\t' || p.Text[p.pos] == '\n') {
		p.pos++
	}
}

func (p *Parser) take(c byte) bool {
	if p.space(); p.pos < len(p.Text) && p.Text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *Parser) call(depth int) (Dynamic, error) {
	rest, ok := strings.CutPrefix(p.Text[p.pos:], "States.")
	if !ok {
		return nil, p.fault("expected a path, or a function's name beginning with States.")
	}
	if depth > maxCallNesting {
		return nil, p.fault("calls nest deeper than %d", maxCallNesting)
	}
	length := strings.IndexFunc(rest, func(r rune) bool { return !IsSchemeRune(r) || strings.ContainsRune("+-.", r) })
	if length < 0 {
		length = len(rest)
	}
	e := &intrinsic{name: rest[:length], text: p.Text}
	if e.function, ok = functions[e.name]; !ok {
		return nil, &UnknownFunctionError{e.name}
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

func (p *Parser) argument(depth int) (Dynamic, error) {
	if p.space(); p.pos >= len(p.Text) {
		return nil, p.fault("expected an argument")
	}
	switch c := p.Text[p.pos]; {
	case c == '\'':
		return p.quoted()
	case c == '$':
		return p.path()
	case c == '-' || '0' <= c && c <= '9':
		number, err := jsontext.NewReader([]byte(p.Text[p.pos:])).Number()
		if err != nil {
			return nil, p.fault("expected a number")
		}
		p.pos += len(number)
		return literalValue{json.Number(number)}, nil
	}
	for word, value := range map[string]any{"true": true, "false": false, "null": nil} {
		if rest, ok := strings.CutPrefix(p.Text[p.pos:], word); ok && (rest == "" || !IsSchemeRune(rune(rest[0]))) {
			p.pos += len(word)
			return literalValue{value}, nil
		}
	}
	return p.call(depth + 1)
}

func (p *Parser) quoted() (Dynamic, error) {
	start := p.pos + 1
	for i := start; i < len(p.Text); i++ {
		switch p.Text[i] {
		case '\\':
			if i++; i < len(p.Text) && strings.IndexByte(escaped, p.Text[i]) < 0 {
				p.pos = i - 1
				return nil, p.fault(`only ', {, } and \ can be escaped, with \`)
			}
		case '\'':
			p.pos = i + 1
			return literalText(p.Text[start:i]), nil
		}
	}
	return nil, p.fault("expected a closing ' for the string")
}

// path reads a path up to the comma or parenthesis after it.
func (p *Parser) path() (Dynamic, error) {
	start, depth := p.pos, 0
scan:
	for ; p.pos < len(p.Text); p.pos++ {
		switch c := p.Text[p.pos]; c {
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
		case '\'':
			if end := strings.IndexByte(p.Text[p.pos+1:], c); depth > 0 && end >= 0 {
				p.pos += end + 1
			}
		}
	}
	path, err := jsonpath.Parse(p.Text[start:p.pos])
	if err != nil {
		return nil, err
	}
	p.Paths = append(p.Paths, path)
	return &argumentPath{call: p.Text, path: path}, nil
}

// IsSchemeRune reports whether a character may be in the scheme of a URI.
func IsSchemeRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-.", r)
}
