package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// wildcard stands in records for values that differ from run to run.
const wildcard = "«any»"

// decoded returns the value of a JSON text, or nil for an empty one.
func decoded(text json.RawMessage) any {
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "no JSON: " + string(text)
	}
	return v
}

// Difference returns where a value first differs from a record, or "". In the record, the string «any» matches every
// value. Within a longer string, it matches any text. {"$json": value} matches the JSON text of the value.
func Difference(want, got any) string { return difference("", want, got) }

func difference(at string, want, got any) string {
	differs := func() string {
		return fmt.Sprintf("%s: want %s, got %s", at, short(want), short(got))
	}
	switch w := want.(type) {
	case string:
		if g, ok := got.(string); w != wildcard && (!ok || !glob(w, g)) {
			return differs()
		}
		return ""
	case map[string]any:
		return differentObject(at, w, got)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return differs()
		}
		for i := range w {
			if miss := difference(fmt.Sprintf("%s[%d]", at, i), w[i], g[i]); miss != "" {
				return miss
			}
		}
		return ""
	case nil, bool:
		if want != got {
			return differs()
		}
		return ""
	}
	if a, b := number(want), number(got); a == nil || b == nil || a.Cmp(b) != 0 {
		return differs()
	}
	return ""
}

func differentObject(at string, want map[string]any, got any) string {
	if value, ok := want["$json"]; ok && len(want) == 1 {
		text, isText := got.(string)
		if !isText {
			return fmt.Sprintf("%s: want a JSON text, got %s", at, short(got))
		}
		return difference(at+"($json)", value, decoded(json.RawMessage(text)))
	}
	if value, ok := want["$text"]; ok && len(want) == 1 {
		want := value
		return difference(at, want, got)
	}
	g, ok := got.(map[string]any)
	if !ok {
		return fmt.Sprintf("%s: want %s, got %s", at, short(want), short(got))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, ok := g[name]
		if !ok {
			return fmt.Sprintf("%s.%s: want %s, got nothing", at, name, short(want[name]))
		}
		if miss := difference(at+"."+name, want[name], value); miss != "" {
			return miss
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g)) {
		if _, ok := want[name]; !ok {
			return fmt.Sprintf("%s.%s: want nothing, got %s", at, name, short(g[name]))
		}
	}
	return ""
}

// number returns the value of a number, or nil for another value.
func number(v any) *big.Rat {
	var text string
	switch n := v.(type) {
	case json.Number:
		text = n.String()
	case float64, int, int64:
		text = fmt.Sprint(n)
	default:
		return nil
	}
	if r, ok := new(big.Rat).SetString(text); ok {
		return r
	}
	return nil
}

// glob reports whether text matches a pattern in which «any» stands for any text.
func glob(pattern, text string) bool {
	pieces := strings.Split(pattern, wildcard)
	if len(pieces) == 1 {
		return pattern == text
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return true
}

// short returns the JSON text of a value, shortened for a message.
func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 300
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
