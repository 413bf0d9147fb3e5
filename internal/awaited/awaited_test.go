package awaited_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/awaited"
	"github.com/ebbflow/ebb/internal/jsonschema"
)

// stored encodes a value as a named record holds it.
func stored(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// TestRecord refuses what no atom of a flow takes from outside, after the record was stored.
func TestRecord(t *testing.T) {
	t.Parallel()
	number, text := jsonschema.Of(reflect.TypeFor[int]()), jsonschema.Of(reflect.TypeFor[string]())
	r := awaited.Read(stored(t, awaited.Record{
		"count": {Value: number}, "ask": {Value: jsonschema.OfResult(reflect.TypeFor[struct {
			By string `json:"by"`
		}]())}, "by number": {Signal: "go", Value: number}, "by text": {Signal: "go", Value: text},
	}))
	for name, c := range map[string]struct {
		err  error
		want string // a part of the error, "" if there is none
	}{
		"a result that fits":            {r.CheckResult("count", []byte(`4`)), ""},
		"a result that does not":        {r.CheckResult("count", []byte(`"four"`)), "no result of count"},
		"an atom that is not recorded":  {r.CheckResult("other", []byte(`"four"`)), ""},
		"a signal for one of two atoms": {r.CheckSignal("go", []byte(`"four"`)), ""},
		"a signal for neither":          {r.CheckSignal("go", []byte(`{}`)), "by number"},
		"a signal that nobody awaits":   {r.CheckSignal("stop", []byte(`{}`)), ""},
		"no name":                       {r.CheckSignal("", []byte(`{}`)), ""},
		"any atom": {
			awaited.Record{awaited.AllAtoms: {Value: number}}.CheckResult("x[3]", []byte(`"four"`)),
			"no result of x[3]",
		},
		"no record":                   {awaited.Read(nil).CheckResult("count", []byte(`"four"`)), ""},
		"a record of a later version": {awaited.Read([]byte(`[1]`)).CheckResult("count", []byte(`"four"`)), ""},
	} {
		if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, c.err, c.want)
		}
	}
	if got := r.Example("ask"); !strings.Contains(got, `"by"`) || r.CheckResult("ask", []byte(got)) != nil {
		t.Errorf("the example %q does not fit", got)
	}
	if got := r.Example("count"); r.CheckResult("count", []byte(got)) != nil || got == "" {
		t.Errorf("the example %q does not fit", got)
	}
	if got := r.Example("other"); got != "" {
		t.Errorf("the example of an unknown type is %q", got)
	}
}

// TestCheckInput checks an input against the version of the flow that will run.
func TestCheckInput(t *testing.T) {
	t.Parallel()
	object := func(of reflect.Type, required ...string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"size": jsonschema.Of(of)}, Required: required}
	}
	body := stored(t, awaited.Inputs{1: object(reflect.TypeFor[string]()), 2: object(reflect.TypeFor[int](), "size")})
	for _, c := range []struct {
		version     int64
		input, want string
	}{
		{0, `{"size": 4}`, ""},
		{2, `{"size": 4, "other": 1}`, ""},
		{1, `{"size": "4"}`, ""},
		{1, `{}`, ""},
		{3, `{}`, ""},
		{0, `{"size": "4"}`, `the input "size"`},
		{1, `{"size": 4}`, `the input "size"`},
		{0, `{}`, `the input lacks "size"`},
		{0, `4`, "not an object"},
	} {
		err := awaited.CheckInput(body, c.version, []byte(c.input))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("version %d, %s: got %v, want %q", c.version, c.input, err, c.want)
		}
	}
	if err := awaited.CheckInput([]byte(`"later"`), 0, []byte(`4`)); err != nil {
		t.Errorf("a record of a later version: %v", err)
	}
}
