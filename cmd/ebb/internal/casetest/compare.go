package casetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/document"
	"github.com/ebbflow/ebb/internal/clip"
)

// A Mismatch is a difference between a run and what its case expects.
type Mismatch struct {
	Line   int    `json:"line"`   // of the expectation in the case file
	Column int    `json:"column"` // of the expectation in the case file
	What   string `json:"what"`   // what is expected, and what happened
}

// maxMismatches bounds the reported mismatches of one value.
const maxMismatches = 20

// compare returns the differences between a value and what is expected. An exact comparison allows no further members
// of objects. Numbers are compared by value: 1.0 equals 1.
func compare(want *document.Document, got any, at string, exact bool) []Mismatch {
	switch want.Kind {
	case document.Object:
		object, is := got.(map[string]any)
		if !is {
			return differs(want, at, "an object", got)
		}
		return compareMembers(want, object, at, exact)
	case document.List:
		list, is := got.([]any)
		if !is {
			return differs(want, at, "a list", got)
		}
		return compareItems(want, list, at, exact)
	case document.Text:
		if text, is := got.(string); is && text == want.Text {
			return nil
		}
	case document.Literal:
		if equalLiteral(want.Text, got) {
			return nil
		}
	}
	return differs(want, at, valueOf(want).String(), got)
}

func compareMembers(want *document.Document, object map[string]any, at string, exact bool) []Mismatch {
	var out []Mismatch
	expected := map[string]bool{}
	for _, m := range want.Members {
		expected[m.Name] = true
		value, has := object[m.Name]
		if !has {
			out = append(out, mismatchf(m.Place, "%s: missing", member(at, m.Name)))
			continue
		}
		out = append(out, compare(m.Value, value, member(at, m.Name), exact)...)
	}
	if exact {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if !expected[name] {
				out = append(out, mismatchf(want.Place, "%s: not expected, got %s", member(at, name), show(object[name])))
			}
		}
	}
	return out[:min(len(out), maxMismatches)]
}

func compareItems(want *document.Document, list []any, at string, exact bool) []Mismatch {
	var out []Mismatch
	for i, item := range want.Items[:min(len(want.Items), len(list))] {
		out = append(out, compare(item, list[i], fmt.Sprintf("%s[%d]", at, i), exact)...)
	}
	if len(want.Items) != len(list) {
		out = append(out, mismatchf(want.Place, "%s: want %d items, got %d: %s", at, len(want.Items), len(list), show(list)))
	}
	return out[:min(len(out), maxMismatches)]
}

func equalLiteral(want string, got any) bool {
	switch got := got.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == strconv.FormatBool(got)
	case json.Number:
		a, okA := number(want)
		b, okB := number(string(got))
		return want == string(got) || okA && okB && a.Cmp(b) == 0
	}
	return false
}

// number reads a number of JSON. It refuses an exponent that would take much memory.
func number(text string) (*big.Rat, bool) {
	if _, exponent, has := strings.Cut(strings.ToLower(text), "e"); has && len(exponent) > 4 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func member(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func differs(want *document.Document, at, wanted string, got any) []Mismatch {
	return []Mismatch{mismatchf(want.Place, "%s: want %s, got %s", at, clip.Text(wanted, maxShown), show(got))}
}

func mismatchf(at document.Place, format string, args ...any) Mismatch {
	return Mismatch{at.Line, at.Column, fmt.Sprintf(format, args...)}
}

// maxShown bounds the bytes of a value that a mismatch shows.
const maxShown = 300

func show(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return clip.Text(strings.TrimSuffix(b.String(), "\n"), maxShown)
}

// decoded returns a value as a tree whose numbers keep their digits.
func decoded(v atom.Value) any {
	d := json.NewDecoder(bytes.NewReader(v.JSON()))
	d.UseNumber()
	var tree any
	if d.Decode(&tree) != nil {
		return nil
	}
	return tree
}
