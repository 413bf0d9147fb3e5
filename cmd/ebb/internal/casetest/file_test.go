package casetest

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
)

// FuzzRead reads any text as a case file: it gives cases, or problems that name their places.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"cases: [{name: a, input: {x: 1}, mocks: {Pay: [{error: E, cause: c, times: 2}, {result: 1, after: 1d2h}]}}]",
		`{"cases": [{"name": "a", "signals": [{"name": "s", "after": "1s", "data": null}], "expect": {"calls": [{"state": "x", "times": 0}]}}]}`,
		"definition: a.json\nmocks: {a: ~}\nundo: {b: {never: true, when: {c: [1]}}}\ncases: [{name: a, start: 2026-01-01T00:00:00Z, limit: 1s}]",
		"cases: &a [*a]", "buckets: {a: /nowhere}\ncases: 7", "[", "mocks: {a: [{times: -1}]}",
	} {
		f.Add([]byte(text))
	}
	place := regexp.MustCompile(`^x\.test\.(yaml|json):\d+:\d+: .`)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"x.test.yaml", "x.test.json"} {
			file, err := read(name, text)
			problems, are := errors.AsType[FileErrors](err)
			switch {
			case err == nil && file == nil:
				t.Fatal("neither a file nor an error")
			case err != nil && !are:
				continue // the JSON decoder's own
			}
			for _, p := range problems {
				if !place.MatchString(p) {
					t.Errorf("%q names no place", p)
				}
			}
		}
	})
}

// TestDurations reads lengths of time.
func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "0s": 0,
	} {
		if got, ok := parseDuration(text); !ok || got != want {
			t.Errorf("%s is %v (%t)", text, got, ok)
		}
	}
	for _, text := range []string{"", "d", "5", "-1s", "1d-1s", "1x", "123456d", "1d 2h", "99999d2562047h"} {
		if got, ok := parseDuration(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// TestCompare compares values with expected ones.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, got, exact, includes string }{
		{`{a: 1, b: [x, null, true]}`, `{"a": 1.0, "b": ["x", null, true]}`, "", ""},
		{`{a: 1}`, `{"a": 1, "b": 2}`, "out.b: not expected, got 2", ""},
		{`{a: 1, b: 2}`, `{"a": 1}`, "out.b: missing", "out.b: missing"},
		{`[1, 2]`, `[1]`, "out: want 2 items, got 1: [1]", "out: want 2 items, got 1: [1]"},
		{`100000000000000000001`, `100000000000000000002`, "out: want 100000000000000000001, got 100000000000000000002", "out: want 100000000000000000001, got 100000000000000000002"},
		{`"1"`, `1`, `out: want "1", got 1`, `out: want "1", got 1`},
		{`{}`, `[]`, `out: want an object, got []`, `out: want an object, got []`},
		{`{}`, `{}`, "", ""},
		{`{a: {}}`, `{"a": {"b": 1}}`, "out.a.b: not expected, got 1", ""},
	} {
		file, err := read("x.test.yaml", []byte("definition: d\ncases:\n - name: a\n   expect: {output: "+c.want+"}"))
		if err != nil {
			t.Fatal(err)
		}
		for exact, want := range map[bool]string{true: c.exact, false: c.includes} {
			var got []string
			for _, m := range compare(file.Cases[0].Expect.Output, decoded(atom.FromJSON([]byte(c.got))), "out", exact) {
				got = append(got, m.What)
			}
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("%s and %s (exact %t): %q, want %q", c.want, c.got, exact, text, want)
			}
		}
	}
}
