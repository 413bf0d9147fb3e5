package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/asl"
)

// FuzzDocument shows that no text makes a reader of documents panic, and that
// what is read prints as JSON with a place for each line. From JSON it is the
// same value.
func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		`{"a": [1, -0.5e3, true, null, "x\n\u00e9"], "b": {}}`, "a:\n  - !Ref B\n  - &x {c: d}\n  - *x\n<<: {e: .5}\n", "a: |\n  x\n  y\n",
		"- 0x1f\n- .inf\n- 1_000\n- 2026-01-31\n", "a: &a [*a, *a]", "? [x]\n: y\n", "{", "a: b: c", "--- 1\n--- 2\n", "!GetAtt a.b", "\"\\ud800\"", "a: 01",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if d, err := parseYAML(text); err == nil {
			checkPrint(t, d)
		} else if err.Error() == "" {
			t.Error("an error that says nothing")
		}
		d, err := parseJSON(text)
		if err != nil {
			return
		}
		printed := checkPrint(t, d)
		var want, got any
		if json.Unmarshal(text, &want) != nil || json.Unmarshal(printed, &got) != nil {
			return // there is something behind the value, or a number is too large for Go
		}
		if !reflect.DeepEqual(want, got) && !bytes.Contains(text, []byte(`"`)) {
			t.Errorf("%s is printed as %s", text, printed)
		}
	})
}

func checkPrint(t *testing.T, d *document) []byte {
	t.Helper()
	text, places := d.print()
	if !json.Valid(text) {
		t.Fatalf("no JSON: %s", text)
	}
	if lines := bytes.Count(text, []byte("\n")); lines != len(places) {
		t.Fatalf("%d lines have %d places", lines, len(places))
	}
	for _, p := range places {
		if p.line < 1 || p.column < 1 {
			t.Fatalf("the place %v", p)
		}
	}
	return text
}

// TestDocumentPlaces shows that each token of a document knows where it stood.
func TestDocumentPlaces(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func([]byte) (*document, error){"JSON": parseJSON, "YAML": parseYAML} {
		d, err := read([]byte("{\n  \"a\": [1,\n   \"ü\", {\"b\": null}]}"))
		if err != nil {
			t.Fatal(name, err)
		}
		list := d.get("a")
		for what, c := range map[string]struct{ got, want place }{
			"the object": {d.place, place{1, 1}}, "the name": {d.members[0].place, place{2, 3}}, "the list": {list.place, place{2, 8}},
			"the number": {list.items[0].place, place{2, 9}}, "the text": {list.items[1].place, place{3, 4}},
			"behind it": {list.items[2].get("b").place, place{3, 15}},
		} {
			if c.got != c.want {
				t.Errorf("%s: %s stands at %v, want %v", name, what, c.got, c.want)
			}
		}
	}
}

// TestDiagnose shows the line of a problem and the mark under it.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 200) + `"wrong"` + strings.Repeat("b", 200)
	lines := []string{"\t\"Next\": \"Shi\\\"pp\",\r", "\x1b[31m{\"a\": 12.5}", long, "key: plain text"}
	for _, c := range []struct {
		problem asl.Problem
		want    string
	}{
		{
			asl.Problem{Severity: asl.Error, Code: "C", File: "f", Line: 1, Column: 10, Message: "m", Fix: "x"},
			"f:1:10: error: m (x) [C]\n    1 | \t\"Next\": \"Shi\\\"pp\",\n      | \t        ^~~~~~~~~\n",
		},
		{
			asl.Problem{Severity: asl.Warning, Code: "C", File: "f\x1b", Line: 2, Column: 12, Message: "m\x1b[0m"},
			"f\\x1b:2:12: warning: m\\x1b[0m [C]\n    2 | \uFFFD[31m{\"a\": 12.5}\n      |            ^~~~\n",
		},
		{
			asl.Problem{Severity: asl.Unsupported, Code: "C", File: "f", Line: 3, Column: 201, Message: "m"},
			"f:3:201: cannot be run: m [C]\n    3 | …" + strings.Repeat("a", 33) + `"wrong"` + strings.Repeat("b", 60) + "…\n      | " +
				strings.Repeat(" ", 34) + "^~~~~~~\n",
		},
		{
			asl.Problem{Severity: asl.Error, Code: "C", File: "f", Line: 4, Column: 6, Message: "m"},
			"f:4:6: error: m [C]\n    4 | key: plain text\n      |      ^~~~~\n",
		},
		{asl.Problem{Severity: asl.Error, Code: "C", File: "f", Line: 4, Column: 99, Message: "m"}, "f:4:99: error: m [C]\n    4 | key: plain text\n      |                ^\n"},
		{asl.Problem{Severity: asl.Error, Code: "C", File: "f", Line: 9, Column: 1, Message: "m"}, "f:9:1: error: m [C]\n"},
	} {
		if got := (page{}).diagnose(c.problem, lines); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
	got := page{colour: true}.diagnose(asl.Problem{Severity: asl.Error, Code: "C", File: "f", Line: 4, Column: 1, Message: "m"}, lines)
	if want := "\x1b[1mf:4:1: \x1b[0m\x1b[31merror:\x1b[0m m \x1b[2m[C]\x1b[0m\n    4 | key: plain text\n      | \x1b[31m^~~\x1b[0m\n"; got != want {
		t.Errorf("in colours: %q, want %q", got, want)
	}
}
