package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// FuzzDocument: no text makes a reader of documents panic. A document that was read prints as JSON with a position for
// each line. A JSON document keeps its value.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -0.5e3, true, null, "x\n\u00e9"], "b": {}}`, "a:\n  - !Ref B\n  - &x {c: d}\n  - *x\n<<: {e: .5}\n", "a: |\n  x\n  y\n",
		"- 0x1f\n- .inf\n- 1_000\n- 2026-01-31\n", "a: &a [*a, *a]", "? [x]\n: y\n", "{", "a: b: c", "--- 1\n--- 2\n", "!GetAtt a.b", "\"\\ud800\"", "a: 01",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if d, err := ParseYAML(text); err == nil {
			checkPrint(t, d)
		} else if err.Error() == "" {
			t.Error("an error that says nothing")
		}
		d, err := ParseJSON(text)
		if err != nil {
			return
		}
		printed := checkPrint(t, d)
		var want, got any
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(printed, &got) != nil {
			return // text follows the value, or a number is too large for Go
		}
		if !reflect.DeepEqual(want, got) && !bytes.Contains(text, []byte(`"`)) {
			t.Errorf("%s is printed as %s", text, printed)
		}
	})
}

func checkPrint(t *testing.T, d *Document) []byte {
	t.Helper()
	text, places := d.Print()
	if !json.Valid(text) {
		t.Fatalf("no JSON: %s", text)
	}
	if lines := bytes.Count(text, []byte("\n")); lines != len(places) {
		t.Fatalf("%d lines have %d places", lines, len(places))
	}
	for _, p := range places {
		if p.Line < 1 || p.Column < 1 {
			t.Fatalf("the place %v", p)
		}
	}
	return text
}

// TestInvalidBytes names the place of bytes that are not UTF-8.
func TestInvalidBytes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{\n \"a\": \"\xff\"}", "{\n \"a\": \"\xc3\"}"} {
		if _, err := ParseJSON([]byte(text)); err == nil || err.Error() != "2:8: the text is not UTF-8" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestDocumentPlaces shows that each token of a document knows where it stood.
func TestDocumentPlaces(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func([]byte) (*Document, error){"JSON": ParseJSON, "YAML": ParseYAML} {
		d, err := read([]byte("{\n  \"a\": [1,\n   \"ü\", {\"b\": null}]}"))
		if err != nil {
			t.Fatal(name, err)
		}
		list := d.Get("a")
		for what, c := range map[string]struct{ got, want Place }{
			"the object": {d.Place, Place{1, 1}}, "the name": {d.Members[0].Place, Place{2, 3}}, "the list": {list.Place, Place{2, 8}},
			"the number": {list.Items[0].Place, Place{2, 9}}, "the text": {list.Items[1].Place, Place{3, 4}},
			"behind it": {list.Items[2].Get("b").Place, Place{3, 15}},
		} {
			if c.got != c.want {
				t.Errorf("%s: %s stands at %v, want %v", name, what, c.got, c.want)
			}
		}
	}
}

// TestBrokenYAML shows that an error names the line on which the library has met it, whatever it counts from.
func TestBrokenYAML(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\nb: [x, Buy or Sell?]\n":  "2: the YAML is broken: did not find expected ',' or ']' (quote a text with one of ? : , [ ] { } in it)",
		"a: 1\nb: 2\nc: {x: Sell?}\n":   "3: the YAML is broken: did not find expected ',' or '}' (quote a text with one of ? : , [ ] { } in it)",
		"a: 1\nb: x: y\n":               "2: the YAML is broken: mapping values are not allowed in this context",
		"a: 1\nb:\n  - \"x\" y\nc: 1\n": "3: the YAML is broken: did not find expected '-' indicator",
		"a: 1\n\tb: 2\n":                "2: the YAML is broken: found a tab character that violates indentation",
	} {
		_, err := ParseYAML([]byte(text))
		broken, is := errors.AsType[*Error](err)
		if !is {
			t.Fatalf("%q: %v", text, err)
		}
		if got := fmt.Sprintf("%d: %s", broken.Line, broken.Problem); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}
