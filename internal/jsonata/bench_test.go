package jsonata_test

import (
	"testing"

	"github.com/ebbflow/ebb/internal/jsonata"
)

// BenchmarkEvaluate evaluates small expressions of the kinds that state machines contain, on decoded data.
func BenchmarkEvaluate(b *testing.B) {
	states, err := jsonata.Decode([]byte(`{"input": {"order": {"id": "o-1", "lines": [
		{"sku": "a", "price": 3, "n": 2}, {"sku": "b", "price": 10, "n": 1}, {"sku": "c", "price": 5, "n": 4}]}, "count": 3}}`))
	if err != nil {
		b.Fatal(err)
	}
	env := &jsonata.Environment{Variable: func(name string) (jsonata.Value, bool) { return states, name == "states" }}
	for _, c := range []struct{ name, text string }{
		{"Path", `$states.input.order.id`},
		{"Condition", `$states.input.count < 10 and $exists($states.input.order)`},
		{"Filter", `$states.input.order.lines[price > 4].sku`},
		{"Map", `$sum($map($states.input.order.lines, function($l) { $l.price * $l.n }))`},
		{"Object", `{"id": $states.input.order.id, "first": $states.input.order.lines[0].sku, "count": $states.input.count + 1}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			e, err := jsonata.Parse(c.text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Evaluate(env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLimit measures the longest evaluation.
func BenchmarkLimit(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"Loop", `($f := function($n) { $f($n + 1) }; $f(0))`},
		{"Range", `[1..800000].($ * 2) ~> $sum()`},
		{"Product", `[1..3000].([1..3000].($ + 1) ~> $sum())`},
	} {
		b.Run(c.name, func(b *testing.B) {
			e, err := jsonata.Parse(c.text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Evaluate(&jsonata.Environment{}) //nolint:errcheck // most of them are stopped
			}
		})
	}
}
