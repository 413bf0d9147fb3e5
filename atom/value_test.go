package atom_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   any
		want string
	}{
		"nothing":        {nil, "null"},
		"empty struct":   {struct{}{}, "null"},
		"number":         {7, "7"},
		"HTML is left":   {"a<b>&c", `"a<b>&c"`},
		"a value":        {atom.FromJSON([]byte("[1]")), "[1]"},
		"a raw message":  {json.RawMessage(`{"a": 1}`), `{"a":1}`},
		"a nil pointer":  {(*int)(nil), "null"},
		"a struct":       {struct{ A, B int }{1, 2}, `{"A":1,"B":2}`},
		"a nested value": {map[string]atom.Value{"x": atom.Null, "y": nil}, `{"x":null,"y":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := atom.Encode(tc.in)
			if err != nil || got.String() != tc.want {
				t.Errorf("Encode(%v) = %s, %v; want %s", tc.in, got, err, tc.want)
			}
		})
	}
}

// Guarantee (G9): encoded values, output of programs, answers of servers: 1 MiB each.
// Also: `engine/tasks: TestExec`, `TestHTTPFailures`.
func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	if _, err := atom.Encode(math.NaN()); err == nil || !strings.Contains(err.Error(), "atom: encode float64") {
		t.Errorf("Encode(NaN) fails with %v", err)
	}
	text := strings.Repeat("x", atom.MaxValue-3) // with codec and quotes as large as may be
	fits, err := atom.Encode(text)
	if err != nil || len(fits) != atom.MaxValue {
		t.Fatalf("%d bytes: %v", len(fits), err)
	}
	if _, err := atom.Encode(text + "x"); !errors.Is(err, atom.ErrValueTooLarge) {
		t.Errorf("one byte more: %v, want ErrValueTooLarge", err)
	}
	if _, err := atom.Encode(append(fits, ' ')); !errors.Is(err, atom.ErrValueTooLarge) {
		t.Errorf("an encoded value that is too large: %v, want ErrValueTooLarge", err)
	}
}

func TestMustEncodePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a channel encodes")
		}
	}()
	atom.MustEncode(make(chan int))
}

func TestValueDecode(t *testing.T) {
	t.Parallel()
	n := 5
	if err := atom.Value(nil).Decode(&n); err != nil || n != 5 {
		t.Errorf("no value decodes to %d, %v", n, err)
	}
	if err := atom.MustEncode(6).Decode(&n); err != nil || n != 6 {
		t.Errorf("6 decodes to %d, %v", n, err)
	}
	if err := (atom.Value{'?', '7'}).Decode(&n); err == nil || !strings.Contains(err.Error(), "unknown codec byte '?'") {
		t.Errorf("an unknown codec: %v", err)
	}
	if _, err := (atom.Value{'?', '7'}).MarshalJSON(); err == nil {
		t.Error("an unknown codec is marshaled")
	}
}

// TestValueInJSON: a value survives being part of a JSON text, and null stays
// null rather than becoming no value.
func TestValueInJSON(t *testing.T) {
	t.Parallel()
	want := atom.History{
		Tries: []atom.Try{
			{Value: atom.Null, Failures: []*atom.Failure{{Atom: "a", Code: "C"}}},
			{Value: atom.MustEncode([]int{1, 2})},
			{},
		},
		Failure: &atom.Failure{Code: "D"},
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got atom.History
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", text, diff)
	}
}

func TestValueField(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, key, want string
		ok              bool
	}{
		"number":          {`{"a":1}`, "a", "1", true},
		"last of two":     {`{"a":1,"b":2,"a":3}`, "a", "3", true},
		"null is a value": {`{"a":null}`, "a", "null", true},
		"nested":          {`{"x":{"a":1},"a":[{"a":2},"]"]}`, "a", `[{"a":2},"]"]`, true},
		"spaces":          {" {\n\"a\" :\t{ \"b\" : 1 } , \"c\":2}", "a", `{ "b" : 1 }`, true},
		"escaped key":     {`{"\u0061\"":1}`, `a"`, "1", true},
		"braces in text":  {`{"x":"}\\\"","a":"{"}`, "a", `"{"`, true},
		"empty key":       {`{"":true}`, "", "true", true},
		"absent":          {`{"a":1}`, "b", "", false},
		"exact case only": {`{"A":1}`, "a", "", false},
		"an array":        {`["a",1]`, "a", "", false},
		"a text":          {`"a"`, "a", "", false},
		"nothing":         {``, "a", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := atom.FromJSON([]byte(tc.text)).Field(tc.key)
			if ok != tc.ok || got.String() != tc.want {
				t.Errorf("Field(%q) of %s = %q, %t; want %q, %t", tc.key, tc.text, got, ok, tc.want, tc.ok)
			}
		})
	}
	if _, ok := atom.Value(nil).Field("a"); ok {
		t.Error("no value has a field")
	}
}

// TestValueFields compares the members of objects, and of other values, with the results of decoding.
func TestValueFields(t *testing.T) {
	t.Parallel()
	texts := []string{
		`{}`, ` { } `, `null`, ``, `{"a":1,"b":{"c":[2,"}"]},"a":3}`, " {\n\"a\" :\t{ \"b\" : 1 } , \"c\":null}",
		`{"\u0061\"":1,"":true}`,
		"{\"\xff\":1}", `{"a":1`, `{"a":1}x`, `{"a" 1}`, `{"a":01}`, `[1]`, `"a"`, `1`, `{1:2}`, `{"a":1,}`,
	}
	values := []atom.Value{nil, {}, {atom.CodecJSON}, []byte("x{}")}
	for _, text := range texts {
		values = append(values, atom.FromJSON([]byte(text)))
	}
	for _, v := range values {
		want := map[string]atom.Value{}
		wrong := v.Decode(&want)
		got, err := v.Fields()
		if (err == nil) != (wrong == nil) {
			t.Errorf("%q: %v, but decoding says %v", v, err, wrong)
		} else if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%q (-decoded +got):\n%s", v, diff)
		}
	}
}

func TestValueIndex(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		i    int
		want string
		ok   bool
	}{
		"first":       {`[1,2]`, 0, "1", true},
		"last":        {`[ 1 , [2, {"a":[3]}] ]`, 1, `[2, {"a":[3]}]`, true},
		"null":        {`[null]`, 0, "null", true},
		"text":        {`["a,]","b"]`, 1, `"b"`, true},
		"behind":      {`[1,2]`, 2, "", false},
		"before":      {`[1,2]`, -1, "", false},
		"empty":       {`[]`, 0, "", false},
		"an object":   {`{"0":1}`, 0, "", false},
		"cut off":     {`[1,`, 1, "", false},
		"no elements": {`[,]`, 0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := atom.FromJSON([]byte(tc.text)).Index(tc.i)
			if ok != tc.ok || got.String() != tc.want {
				t.Errorf("Index(%d) of %s = %q, %t; want %q, %t", tc.i, tc.text, got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestProvideOf(t *testing.T) {
	t.Parallel()
	result := atom.FromJSON([]byte(`{"a":1}`))
	for name, tc := range map[string]struct {
		part   atom.Provide
		result atom.Value
		want   string
		ok     bool
	}{
		"whole":               {atom.Provide{}, result, `{"a":1}`, true},
		"whole of nothing":    {atom.Provide{}, nil, "", false},
		"by key":              {atom.Provide{From: atom.ByKey, Key: "a"}, result, "1", true},
		"by a key not there":  {atom.Provide{From: atom.ByKey, Key: "b"}, result, "", false},
		"by index":            {atom.Provide{From: atom.ByIndex, Index: 1}, atom.MustEncode([]int{4, 5}), "5", true},
		"by index of objects": {atom.Provide{From: atom.ByIndex}, result, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := tc.part.Of(tc.result)
			if ok != tc.ok || got.String() != tc.want {
				t.Errorf("Of = %q, %t; want %q, %t", got, ok, tc.want, tc.ok)
			}
		})
	}
}

// FuzzValueParts: Field and Index find what encoding/json finds in every valid
// text, and survive every other.
func FuzzValueParts(f *testing.F) {
	for _, text := range []string{
		`{"a":1,"a":2}`, `{"a":{"b":[1,"]"]}}`, ` [ 1 , 2.5e3, "x\"y" , null ] `, `{"\u0061":true}`, `{"a`, `[1,`, `[}`,
		`{"a":}`, `"a"`, ``, `[[[]],{}]`,
	} {
		f.Add([]byte(text), "a", 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, key string, i int) {
		v := atom.FromJSON(text)
		field, hasField := v.Field(key)
		element, hasElement := v.Index(i)
		if !json.Valid(text) || !utf8.Valid(text) || !utf8.ValidString(key) {
			return
		}
		var object map[string]json.RawMessage
		var array []json.RawMessage
		var want json.RawMessage
		ok := false
		if json.Unmarshal(text, &object) == nil {
			want, ok = object[key]
		}
		if ok != hasField || string(want) != field.String() {
			t.Errorf("Field(%q) of %s = %q, %t; encoding/json finds %q, %t", key, text, field, hasField, want, ok)
		}
		want, ok = nil, false
		if json.Unmarshal(text, &array) == nil && i >= 0 && i < len(array) {
			want, ok = array[i], true
		}
		if ok != hasElement || string(want) != element.String() {
			t.Errorf("Index(%d) of %s = %q, %t; encoding/json finds %q, %t", i, text, element, hasElement, want, ok)
		}
	})
}
