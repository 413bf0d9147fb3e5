package jsonata_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/conformance"
	"github.com/ebbflow/ebb/internal/jsonata"
)

// TestConformanceJSONata evaluates the expressions of the reference implementation's suite. It leaves out those that
// use $eval, which the States Language does not have.
func TestConformanceJSONata(t *testing.T) {
	t.Parallel()
	aspects := conformance.NewAspects("asl/jsonata")
	for _, e := range conformance.Expressions(t) {
		if !e.UsesEval {
			aspects.Count("expressions", e.Name+": "+e.Expr, compare(t, e))
		}
	}
	aspects.Print(t)
	aspects.Demand(t, "expressions", 0.995)
}

// compare evaluates a recorded expression and returns the difference, or "".
func compare(t *testing.T, e *conformance.Expression) string {
	t.Helper()
	got, code, err := evaluate(t, e)
	switch {
	case e.ErrorCode != "" && code != e.ErrorCode:
		return "want " + e.ErrorCode + ", got " + string(got.AppendJSON(nil)) + ", " + text(err)
	case e.ErrorCode != "":
		return ""
	case e.TimeLimit > 0 && e.Result == nil && !e.Undefined:
		if err == nil {
			return "want it to be stopped"
		}
		return ""
	case err != nil:
		return err.Error()
	case e.Undefined || e.Result == nil:
		if got.Kind() != jsonata.Undefined {
			return "want nothing, got " + string(got.AppendJSON(nil))
		}
		return ""
	case got.Kind() == jsonata.Undefined:
		return "want " + string(e.Result) + ", got nothing"
	}
	var want, have any
	if err := json.Unmarshal(e.Result, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got.AppendJSON(nil), &have); err != nil {
		t.Fatal(err)
	}
	if e.Unordered {
		want, have = sorted(want), sorted(have)
	}
	return conformance.Difference(want, have)
}

func evaluate(t *testing.T, e *conformance.Expression) (v jsonata.Value, code string, err error) {
	t.Helper()
	expression, err := jsonata.Parse(e.Expr)
	if wrong, ok := err.(*jsonata.ParseError); ok { //nolint:errorlint // as promised
		return v, wrong.Code, err
	}
	env := &jsonata.Environment{Now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	if e.Data != nil {
		if env.Input, err = jsonata.Decode(e.Data); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
	}
	env.Variable = func(name string) (jsonata.Value, bool) {
		text, ok := e.Bindings[name]
		if !ok {
			return jsonata.Value{}, false
		}
		v, err := jsonata.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		return v, true
	}
	v, err = expression.Evaluate(env)
	if wrong, ok := err.(*jsonata.Error); ok { //nolint:errorlint // as promised
		return v, wrong.Code, err
	}
	return v, "", err
}

func text(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// sorted returns an array with its elements in the order of their texts.
func sorted(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b any) int {
		x, err := json.Marshal(a)
		if err != nil {
			return 0
		}
		y, err := json.Marshal(b)
		if err != nil {
			return 0
		}
		return bytes.Compare(x, y)
	})
	return list
}
