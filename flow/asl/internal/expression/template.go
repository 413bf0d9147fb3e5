package expression

import (
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// A Payload is a value of a definition in which something may be evaluated.
type Payload interface {
	Of(v *View) (*data.Value, *stateerror.Error)
}

// A Fixed payload is one in which nothing is evaluated.
type Fixed struct{ *data.Value }

func (p Fixed) Of(*View) (*data.Value, *stateerror.Error) { return p.Value, nil }

// A Template is a compiled payload template. Members whose name ends in .$ are
// evaluated, all else stands as it is.
type Template struct {
	Constant *data.Value // not nil: nothing in it is evaluated
	Expr     Dynamic
	Fields   []Field     // of an object
	Items    []*Template // of an array
}

type Field struct {
	Name  string
	Value *Template
}

// An Dynamic is the value of a .$ member: a path or an intrinsic function.
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

// Evaluate returns what the template gives.
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

func (t *Template) Of(v *View) (*data.Value, *stateerror.Error) {
	tree, f := t.Evaluate(v)
	if f != nil {
		return nil, f
	}
	return data.Tree(tree), nil
}
