package asl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/jsonata"
)

// A query is an expression of JSONata in a state.
type query struct {
	*jsonata.Expression

	at   place
	uses usage // those of $states that it may look at
}

// A usage is which members of $states an expression may look at.
type usage uint8

const (
	usesInput usage = 1 << iota
	usesContext
	usesOutcome // result or errorOutput
	usesAll     = usesInput | usesContext | usesOutcome
)

// A place is where in a state a value stands.
type place struct {
	field    string
	location string // as AWS tells it, such as Choices[1]/Output/total
	text     string // of the value
}

// queryOf returns the query that an expression is.
func queryOf(e *jsonata.Expression, at place) *query {
	q := &query{Expression: e, at: at}
	for _, use := range e.Variables() {
		switch {
		case use.Name != "states":
		case len(use.Members) == 0:
			q.uses |= usesAll
		case use.Members[0] == "input":
			q.uses |= usesInput
		case use.Members[0] == "context":
			q.uses |= usesContext
		default:
			q.uses |= usesOutcome
		}
	}
	return q
}

// evaluate returns what the expression gives. That it gives nothing is an error.
func (q *query) evaluate(v *view) (jsonata.Value, *stateError) {
	if f := v.showStates(q.uses); f != nil {
		return jsonata.Value{}, f
	}
	w := v.walk.querying()
	w.states, w.broken = v.states, nil
	value, err := q.Evaluate(&w.env)
	wrong, failed := errors.AsType[*jsonata.Error](err)
	switch {
	case w.broken != nil:
		return jsonata.Value{}, w.broken
	case failed && wrong.Code == jsonata.LimitCode:
		return jsonata.Value{}, q.fault("threw an error during evaluation: " + wrong.Message)
	case failed:
		return jsonata.Value{}, q.fault("threw an error during evaluation. " + cutOff(wrong.Error()))
	case value.Kind() == jsonata.Undefined:
		return value, q.fault("returned nothing (undefined).")
	case value.Kind() == jsonata.Function:
		return value, q.fault("returned an unsupported result type.")
	}
	return value, nil
}

// querying is what the queries of an interpreter are evaluated with, one at a time.
type querying struct {
	env    jsonata.Environment
	states jsonata.Value
	broken *stateError // a variable could not be looked into
}

func (w *interpreter) querying() *querying {
	if w.queries == nil {
		q := &querying{}
		q.env = jsonata.Environment{Now: w.ask.Now, Random: w.random, Steps: &w.steps, Interrupted: w.ask.Interrupted}
		q.env.Variable = func(name string) (value jsonata.Value, ok bool) {
			if name == "states" {
				return q.states, true
			}
			d := w.variable(name)
			if d == nil {
				return value, false
			}
			value, f := d.query()
			if f != nil {
				q.broken = f
			}
			return value, true
		}
		w.queries = q
	}
	return w.queries
}

// showStates makes $states, as far as it is looked at.
func (v *view) showStates(uses usage) *stateError {
	if uses&^v.shown == 0 {
		return nil
	}
	uses |= v.shown
	var members [3]jsonata.Member
	if uses&usesInput != 0 {
		value, f := v.walk.input.query()
		if f != nil {
			return f
		}
		members[0] = jsonata.Member{Name: "input", Value: value}
	}
	if uses&usesContext != 0 {
		value, f := v.walk.contextQuery()
		if f != nil {
			return f
		}
		members[1] = jsonata.Member{Name: "context", Value: value}
	}
	if uses&usesOutcome != 0 && v.as != "" {
		value, f := v.input.query()
		if f != nil {
			return f
		}
		members[2] = jsonata.Member{Name: v.as, Value: value}
	}
	v.states, v.shown = jsonata.ObjectOf(members[:]...), uses
	return nil
}

// looksAt reports whether queries in a payload may look at members of $states.
func looksAt(p payload, of usage) bool {
	switch p := p.(type) {
	case *query:
		return p.uses&of != 0
	case *document:
		return slices.ContainsFunc(p.queries, func(q *query) bool { return q.uses&of != 0 })
	}
	return false
}

// of makes a query a payload.
func (q *query) of(v *view) (*jsonValue, *stateError) {
	value, f := q.evaluate(v)
	if f != nil {
		return nil, f
	}
	return queryValue(value), nil
}

// typed is evaluate where a type is expected.
func (q *query) typed(v *view, want jsonata.Kind) (jsonata.Value, *stateError) {
	value, f := q.evaluate(v)
	if f == nil && value.Kind() != want {
		f = unexpected(&q.at, want, queryValue(value))
	}
	return value, f
}

// unexpected is the error of a field whose value is not of the type it should be.
func unexpected(at *place, want jsonata.Kind, found *jsonValue) *stateError {
	value, f := found.query()
	if f != nil {
		return f
	}
	const how = "returned an unexpected result type. Expected '%s', but was '%s' for value: %s"
	return expressionError(at, fmt.Sprintf(how, want, value.Kind(), shown(found)))
}

// whole is evaluate where a whole number of a range is expected.
func (q *query) whole(v *view, least, most int64) (int64, *stateError) {
	value, f := q.typed(v, jsonata.Number)
	if f != nil {
		return 0, f
	}
	text := shown(queryValue(value))
	n, ok := wholeNumber(text)
	switch {
	case !ok:
		return 0, queryError(&q.at, "The %s field cannot be parsed as an integer: %s", q.at.field, text)
	case n < least || n > most:
		return 0, queryError(&q.at, "%s must be between %d and %d but was: %d", q.at.field, least, most, n)
	}
	return n, nil
}

// shown returns a value as causes tell it.
func shown(d *jsonValue) string {
	return cutOff(d.encoded().String())
}

// cutOff returns as much of a text as causes tell.
func cutOff(text string) string {
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// A textQuery is an expression where a text is expected.
type textQuery struct{ *query }

func (q textQuery) evaluate(v *view) (any, *stateError) {
	value, f := q.typed(v, jsonata.String)
	return value.Text(), f
}

// expressionError says what became of the expression in a field.
func expressionError(at *place, what string) *stateError {
	return queryError(at, "The JSONata expression '%s' specified for the field '%s' %s", at.text, at.location, what)
}

func (q *query) fault(what string) *stateError { return expressionError(&q.at, what) }

// queryError is what goes wrong in a field of a state in JSONata.
func queryError(at *place, format string, args ...any) *stateError {
	f := localError(statesQueryEvaluation, format, args...)
	f.location = at.location
	return f
}
