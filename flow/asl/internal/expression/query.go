package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/internal/data"
	"github.com/ebbflow/ebb/flow/asl/internal/stateerror"
	"github.com/ebbflow/ebb/internal/jsonata"
)

// Plain returns a value as causes quote it: texts without quotes, other values as JSON.
func Plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return data.Tree(value).Encoded().String()
}

// A Document is a payload in JSONata: the text of a JSON value with queries in
// it. Members keep their order.
type Document struct {
	Texts   []string // before each query, and behind the last
	Queries []*Query
}

// Of evaluates the queries in the order of the text. It stops if the text exceeds the maximum size of a payload.
func (d *Document) Of(v *View) (*data.Value, *stateerror.Error) {
	text := append(make([]byte, 0, 128), atom.CodecJSON)
	for i, q := range d.Queries {
		text = append(text, d.Texts[i]...)
		value, f := q.evaluate(v)
		if f != nil {
			return nil, f
		}
		if len(text)+value.Size()/data.SizePerByte > data.MaxPayload {
			return nil, stateerror.TooLarge(v.In.StateName())
		}
		text = value.AppendJSON(text)
	}
	return data.Text(append(text, d.Texts[len(d.Queries)]...)), nil
}

// A Query is an expression of JSONata in a state.
type Query struct {
	*jsonata.Expression

	At   Place
	uses usage // members of $states that the query may read
}

// A usage is the set of members of $states that an expression may read.
type usage uint8

// The members.
const (
	UsesInput usage = 1 << iota
	usesContext
	usesOutcome // result or errorOutput
	usesAll     = UsesInput | usesContext | usesOutcome
)

// A Place is the position of a value in a state.
type Place struct {
	Field    string
	Location string // AWS's form, such as Choices[1]/Output/total
	Text     string // of the value
}

// QueryOf returns the query for an expression.
func QueryOf(e *jsonata.Expression, at Place) *Query {
	q := &Query{Expression: e, At: at}
	for _, use := range e.Variables() {
		switch {
		case use.Name != "states":
		case len(use.Members) == 0:
			q.uses |= usesAll
		case use.Members[0] == "input":
			q.uses |= UsesInput
		case use.Members[0] == "context":
			q.uses |= usesContext
		default:
			q.uses |= usesOutcome
		}
	}
	return q
}

// evaluate returns the result of the expression. No result is an error.
func (q *Query) evaluate(v *View) (jsonata.Value, *stateerror.Error) {
	if f := v.showStates(q.uses); f != nil {
		return jsonata.Value{}, f
	}
	with := v.In.Queries()
	with.states, with.broken = v.states, nil
	value, err := q.Evaluate(&with.env)
	wrong, failed := errors.AsType[*jsonata.Error](err)
	switch {
	case with.broken != nil:
		return jsonata.Value{}, with.broken
	case failed && wrong.Code == jsonata.LimitCode:
		return jsonata.Value{}, q.fault("threw an error during evaluation: " + wrong.Message)
	case failed && wrong.Code == jsonata.InternalCode:
		return jsonata.Value{}, q.fault("threw an internal error during evaluation.")
	case failed:
		return jsonata.Value{}, q.fault("threw an error during evaluation. " + cutOff(wrong.Error()))
	case value.Kind() == jsonata.Undefined:
		return value, q.fault("returned nothing (undefined).")
	case value.Kind() == jsonata.Function:
		return value, q.fault("returned an unsupported result type.")
	}
	return value, nil
}

// Queries evaluates the queries of an interpreter, one at a time.
type Queries struct {
	env    jsonata.Environment
	states jsonata.Value
	broken *stateerror.Error // error of a variable that could not be decoded
}

// NewQueries returns Queries whose expressions see the variables of an environment.
func NewQueries(in environment, env jsonata.Environment) *Queries {
	q := &Queries{env: env}
	q.env.Variable = func(name string) (value jsonata.Value, ok bool) {
		if name == "states" {
			return q.states, true
		}
		d := in.Variable(name)
		if d == nil {
			return value, false
		}
		value, f := d.Query()
		if f != nil {
			q.broken = f
		}
		return value, true
	}
	return q
}

// showStates creates the members of $states that are in uses.
func (v *View) showStates(uses usage) *stateerror.Error {
	if uses&^v.shown == 0 {
		return nil
	}
	uses |= v.shown
	var members [3]jsonata.Member
	if uses&UsesInput != 0 {
		value, f := v.In.StateInput().Query()
		if f != nil {
			return f
		}
		members[0] = jsonata.Member{Name: "input", Value: value}
	}
	if uses&usesContext != 0 {
		value, f := v.In.ContextQuery()
		if f != nil {
			return f
		}
		members[1] = jsonata.Member{Name: "context", Value: value}
	}
	if uses&usesOutcome != 0 && v.As != "" {
		value, f := v.Input.Query()
		if f != nil {
			return f
		}
		members[2] = jsonata.Member{Name: v.As, Value: value}
	}
	v.states, v.shown = jsonata.ObjectOf(members[:]...), uses
	return nil
}

// LooksAt reports whether queries in a payload may read members of $states.
func LooksAt(p Payload, of usage) bool {
	switch p := p.(type) {
	case *Query:
		return p.uses&of != 0
	case *Document:
		return slices.ContainsFunc(p.Queries, func(q *Query) bool { return q.uses&of != 0 })
	}
	return false
}

// Of makes a query a payload.
func (q *Query) Of(v *View) (*data.Value, *stateerror.Error) {
	value, f := q.evaluate(v)
	if f != nil {
		return nil, f
	}
	return data.Query(value), nil
}

// Typed is evaluate with an expected type.
func (q *Query) Typed(v *View, want jsonata.Kind) (jsonata.Value, *stateerror.Error) {
	value, f := q.evaluate(v)
	if f == nil && value.Kind() != want {
		f = Unexpected(&q.At, want, data.Query(value))
	}
	return value, f
}

// Unexpected returns the error of a field whose value has the wrong type.
func Unexpected(at *Place, want jsonata.Kind, found *data.Value) *stateerror.Error {
	value, f := found.Query()
	if f != nil {
		return f
	}
	const how = "returned an unexpected result type. Expected '%s', but was '%s' for value: %s"
	return expressionError(at, fmt.Sprintf(how, want, value.Kind(), Shown(found)))
}

// Whole is evaluate with an expected integer in a range.
func (q *Query) Whole(v *View, least, most int64) (int64, *stateerror.Error) {
	value, f := q.Typed(v, jsonata.Number)
	if f != nil {
		return 0, f
	}
	text := Shown(data.Query(value))
	n, ok := WholeNumber(text)
	switch {
	case !ok:
		return 0, QueryErrorf(&q.At, "The %s field cannot be parsed as an integer: %s", q.At.Field, text)
	case n < least || n > most:
		return 0, QueryErrorf(&q.At, "%s must be between %d and %d but was: %d", q.At.Field, least, most, n)
	}
	return n, nil
}

// Shown returns a value as causes quote it.
func Shown(d *data.Value) string {
	return cutOff(d.Encoded().String())
}

// cutOff shortens a text to the limit of causes.
func cutOff(text string) string {
	if len(text) > stateerror.MaxShown {
		text = strings.ToValidUTF8(text[:stateerror.MaxShown], "") + "…"
	}
	return text
}

// A TextQuery is an expression that must return a text.
type TextQuery struct{ *Query }

// Evaluate returns the text.
func (q TextQuery) Evaluate(v *View) (any, *stateerror.Error) {
	value, f := q.Typed(v, jsonata.String)
	return value.Text(), f
}

// expressionError returns the error of the expression in a field.
func expressionError(at *Place, what string) *stateerror.Error {
	return QueryErrorf(at, "The JSONata expression '%s' specified for the field '%s' %s", at.Text, at.Location, what)
}

func (q *Query) fault(what string) *stateerror.Error { return expressionError(&q.At, what) }

// QueryErrorf returns the error of a field in JSONata.
func QueryErrorf(at *Place, format string, args ...any) *stateerror.Error {
	f := stateerror.Localf(stateerror.QueryEvaluation, format, args...)
	f.Location = at.Location
	return f
}
