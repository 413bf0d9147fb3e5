package jsonata_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/jsonata"
)

// run evaluates an expression without input.
func run(t *testing.T, text string) (jsonata.Value, error) {
	t.Helper()
	e, err := jsonata.Parse(text)
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	return e.Evaluate(&jsonata.Environment{})
}

// TestLimitsOfAWS compares the limits of depth and size with measurements on AWS.
func TestLimitsOfAWS(t *testing.T) {
	t.Parallel()
	const (
		stack  = "Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive."
		memory = "Expression evaluation memory limit exceeded: Check for excessive memory usage"
	)
	sum := func(n int) string { return strings.Repeat("1+", n-1) + "1" }
	inside := func(open, shut string) func(int) string {
		return func(n int) string { return strings.Repeat(open, n) + "1" + strings.Repeat(shut, n) }
	}
	double := func(n int) string {
		return fmt.Sprintf(`($p := function($s, $n) { $n = 0 ? $s : $p($s & $s, $n - 1) }; $length($p("x", %d)))`, n)
	}
	span := func(n int) string { return fmt.Sprintf(`[1..%d] ~> $count()`, n) }
	recursion := func(n int) string {
		return fmt.Sprintf(`($f := function($n) { $n = 0 ? 0 : 1 + $f($n - 1) }; $f(%d))`, n)
	}
	for _, c := range []struct {
		what    string
		text    func(n int) string
		most    int
		problem string
	}{
		{"terms of a sum", sum, 100, stack},
		{"parentheses", inside("(", ")"), 99, stack},
		{"brackets", inside("[", "]"), 99, stack},
		{"recursion", recursion, 31, stack},
		{"range", span, 873_782, memory},
		{"doubling", double, 22, memory},
	} {
		if _, err := run(t, c.text(c.most)); err != nil {
			t.Errorf("%s: %d: %v", c.what, c.most, err)
		}
		_, err := run(t, c.text(c.most+1))
		wrong, ok := errors.AsType[*jsonata.Error](err)
		if !ok || wrong.Code != jsonata.LimitCode || wrong.Message != c.problem {
			t.Errorf("%s: %d: %v; want %s", c.what, c.most+1, err, c.problem)
		}
	}
}

// TestBounded shows that no evaluation takes long or much memory.
//
// Guarantee (G9): size, depth, steps and memory of JSONata and regular expressions.
// Also: `TestLimitsOfAWS`, `internal/ecmaregexp: TestBudget`, `flow/asl: TestQueryBounds`.
func TestBounded(t *testing.T) { //nolint:paralleltest // measures memory
	const (
		longest = 5 * time.Minute // far more than a second, for the slowest machine
		most    = 1 << 30         // allocated in all, not held
	)
	for _, text := range []string{
		`[1..1e9]`,
		`[1..9999999] ~> $sum()`,
		`[1..800000].[1..800000]`,
		`[1..3000].([1..3000].[1..3000])`,
		`$pad("x", 1e9)`,
		`$pad("x", -1e300)`,
		`$pad("x", 7000000, "äöü")`,
		`$range(1, 1e15, 1)`,
		`$range(-9e307, 9e307, 1)`,
		`$join($map([1..100000], function($i) { $pad("", 60) }), $pad("", 6000000))`,
		`($f := function($x) { $f($x) }; $f(1))`,
		`($f := function($x) { 1 + $f($x) }; $f(1))`,
		`($f := function($x) { $x & $f($x & $x) }; $f("a"))`,
		`($f := function($a, $n) { $n = 0 ? $a : $f($append($a, $a), $n - 1) }; $count($f([1], 60)))`,
		`($f := function($a, $n) { $n = 0 ? $a : $f([[$a], [$a]], $n - 1) }; $f([1], 60))`,
		`($f := function($a, $n) { $n = 0 ? $string($a) : $f({"l": $a, "r": $a}, $n - 1) }; $f(1, 60))`,
		`($f := function($a, $n) { $n = 0 ? $string($a, true) : $f({"": $a}, $n - 1) }; $f(1, 100000))`,
		`($f := function($a, $n) { $n = 0 ? $a.** : $f([$a, {"a": $a}], $n - 1) }; $count($f(1, 18)))`,
		`$reduce([1..100000], function($a, $b) { [$a, $b] })`,
		`$reduce([1..100000], function($a, $b) { $a & "0123456789" }, "")`,
		`$reduce([1..100000], function($a, $b) { $append($a, $b) }, [])`,
		`$replace($pad("", 100000, "a"), /a/, $pad("", 100000))`,
		`$replace($pad("", 100000, "a"), "a", $pad("", 100000))`,
		`$replace($pad("", 30, "a"), /(.*)/, $pad("", 3000000, "$1"))`,
		`$split($pad("", 6000000), "")`,
		`$split($pad("", 6000000, "a,"), /,/)`,
		`$match($pad("", 6000000, "a,"), /a/)`,
		`$match($pad("", 40, "a") & "!", /^(a+)+$/)`,
		`$contains($pad("", 5000, "a") & "!", /(a|aa)+$/)`,
		`$distinct([1..200000].{"a": $})`,
		`[1..200000][$ in [1..200000]]`,
		`$sort([1..100000], function($a, $b) { $a > $b })`,
		`[1..100000]^($ % 7)`,
		`[1..100000]{$string($): $}`,
		`[1..100000]{"a": $}`,
		`$zip([1..800000], [1..800000], [1..800000])`,
		`$partition([1..800000], 1)`,
		`[1..1000]@$a.([1..1000]@$b.([1..1000]@$c.{}))`,
		`[{"a": [1..5000]}] ~> |$|{"b": $.a, "c": $$, "d": $}|`,
		`{"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}} ~> |**|{"x": $, "y": $, "z": $, "w": $}|`,
		`$formatNumber(1, $pad("", 1000000, "0"))`,
		`$formatNumber(0, "0e0")`,
		`$formatInteger(1e308, "w")`,
		`$formatInteger(1e300, "I")`,
		`$formatInteger(1, $pad("", 1000000, "0"))`,
		`$fromMillis(0, $pad("", 1000000, "[Y]"))`,
		`$fromMillis(0, $pad("", 1000000, "[Y,999999-999999]"))`,
		`$toMillis($pad("", 1000, "1"), $pad("", 7000, "[Y]"))`,
		`$number("0x" & $pad("", 5000000, "f"))`,
		`$number($pad("1", 5000000, "0"))`,
		`$parse($pad("", 1000000, "[["))`,
		`$parse($pad("", 1000000, "{\"a\":"))`,
		`$hash($pad("", 6000000), "SHA-512") & $hash($pad("", 6000000), "SHA-512")`,
		`($f := function($n)<` + strings.Repeat("x+", 90) + `:x> { $n }; $map([1..50000], $f))`,
		`$merge([1..100000].{$string($): $})`,
		`($x := [1..100000].{"a": $, "b": [$]}; $x = $x.$ and $string($x) = $string($x))`,
		`$map([1..1000], function($a) { $map([1..1000], function($b) { $map([1..1000], function($c) { $a * $b * $c }) }) })`,
	} {
		e, err := jsonata.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		steps := jsonata.MaxSteps
		if testing.Short() {
			steps /= 10
		}
		v, err := e.Evaluate(&jsonata.Environment{Steps: &steps})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if took > longest || allocated > most {
			t.Errorf("%s: took %v, %d MB", text, took, allocated>>20)
		}
		if err == nil && v.Size() > jsonata.MaxSize+100 {
			t.Errorf("%s: gave a value of size %d", text, v.Size())
		}
		if testing.Verbose() {
			t.Logf("%6d ms %5d MB  %.100s  %.100v", took.Milliseconds(), allocated>>20, text, err)
		}
	}
}

// TestPatterns shows that the regular expressions of one expression share a limit.
func TestPatterns(t *testing.T) {
	t.Parallel()
	if _, err := jsonata.Parse("[1" + strings.Repeat(", /((((a{20}b){20}){20}){2})/", 5000) + "]"); err == nil ||
		!strings.Contains(err.Error(), "500000 instructions") {
		t.Error(err)
	}
}
