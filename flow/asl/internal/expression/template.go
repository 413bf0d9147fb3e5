package expression

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonpath"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Payload is a value of a definition that may contain expressions.
type Payload interface {
	Of(v *View) (*data.Value, *stateerror.Error)
}

// A Fixed payload contains no expressions.
type Fixed struct{ *data.Value }

// Of returns the value.
func (p Fixed) Of(*View) (*data.Value, *stateerror.Error) { return p.Value, nil }

// A Template is a compiled payload template. It evaluates members whose name ends in .$, and copies all others.
type Template struct {
	Constant *data.Value // set if the template contains nothing to evaluate
	Expr     Dynamic
	Fields   []Field     // of an object
	Items    []*Template // of an array
}

// A Field is one of an object.
type Field struct {
	Name  string
	Value *Template
}

// A Dynamic is the value of a .$ member: a path or an intrinsic function.
type Dynamic interface {
	Evaluate(v *View) (any, *stateerror.Error)
}

// Payload returns the template, or the constant that it is.
func (t *Template) Payload() Payload {
	if t.Constant != nil {
		return Fixed{t.Constant}
	}
	return t
}

// Evaluate returns the value of the template.
func (t *Template) Evaluate(v *View) (any, *stateerror.Error) {
	switch {
	case t.Constant != nil:
		return t.Constant.Tree, nil
	case t.Expr != nil:
		return t.Expr.Evaluate(v)
	case t.Fields != nil:
		object := jsontext.NewOrderedMap(len(t.Fields))
		for i := range t.Fields {
			value, f := t.Fields[i].Value.Evaluate(v)
			if f != nil {
				return nil, f
			}
			object.Set(t.Fields[i].Name, value)
		}
		return object, nil
	}
	array := make([]any, len(t.Items))
	for i, item := range t.Items {
		value, f := item.Evaluate(v)
		if f != nil {
			return nil, f
		}
		array[i] = value
	}
	return array, nil
}

// Of makes a template a payload.
func (t *Template) Of(v *View) (*data.Value, *stateerror.Error) {
	tree, f := t.Evaluate(v)
	if f != nil {
		return nil, f
	}
	return data.Tree(tree), nil
}

// AsWhole returns the integer in a number, or in the text of a number.
func AsWhole(value any) (int64, bool) {
	switch v := value.(type) {
	case json.Number:
		return WholeNumber(string(v))
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// DataPath is an InputPath, OutputPath or ResultPath.
type DataPath struct {
	Path *jsonpath.Path // nil: everything
	None bool           // null: nothing, which is {}
}

// UnlessRoot returns nil for the path to the input itself.
func UnlessRoot(path *jsonpath.Path) *jsonpath.Path {
	if path != nil && path.Root() == jsonpath.RootInput && path.Whole() {
		return nil
	}
	return path
}

// WholeNumber returns the value of an integer: 3, 3.0 and 3e0 are the same.
func WholeNumber(literal string) (int64, bool) {
	if v, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		return 0, false
	}
	return int64(f), true
}

// ParseTimestamp parses a timestamp of the language: RFC 3339 with a capital T, seconds, and Z or an offset.
func ParseTimestamp(text string) (time.Time, bool) {
	if len(text) < len("2006-01-02T15:04:05Z") || len(text) > 19 && text[19] == ',' {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}
