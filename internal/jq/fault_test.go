package jq_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/jq"
)

// TestFaults checks the messages about wrong programs, and their positions: a ^ precedes the position.
func TestFaults(t *testing.T) {
	t.Parallel()
	for marked, want := range map[string]string{
		`.a | ^| .b`:                      `unexpected token "|"`,
		`.a + ^`:                          `unexpected EOF`,
		`.a["x^`:                          `unterminated string literal`,
		`.xs | ^mapp(. + 1)`:              `there is no function mapp/1 (did you mean map/1?)`,
		`.xs | ^map`:                      `there is no function map/0 (there is map/1)`,
		`.now + "now" + ^now`:             `now cannot be used: the time is not to be seen here: an expression gives the same whenever it is evaluated`,
		"# env\n.a + ^env":                `env cannot be used: nothing outside is to be seen here`,
		`^$ENV.HOME`:                      `$ENV cannot be used: nothing outside is to be seen here`,
		`.a = ^$valeu`:                    `the variable $valeu is not defined (did you mean $value?)`,
		`.a = ^$x`:                        `the variable $x is not defined (there are $data, $value)`,
		`"a\(1 + ^$x)"`:                   `the variable $x is not defined (there are $data, $value)`,
		`^input`:                          `input cannot be used: there is one input, which is .`,
		`^import "a" as a; a::f`:          `modules cannot be used here`,
		`^include "a"; f`:                 `modules cannot be used here`,
		`^halt_error`:                     `halt_error cannot be used: it is of use at a terminal only`,
		`del(^reduce .[] as $x (.; .a))`:  `reduce cannot be used inside a path (use .. or recurse(.[]?))`,
		`def f: .a | f; path(^f)`:         `f cannot be used inside a path (use .. or recurse(.[]?))`,
		`.[^2000000] = 1`:                 `an array index is larger than it may be`,
		`break ^$out`:                     `there is no label $out`,
		`. | ^@base65`:                    `there is no format @base65 (did you mean @base64?)`,
		`^_sort_by(.)`:                    `there is no function _sort_by/1 (did you mean sort_by/1?)`,
		`^__ebb_input(1; 2)`:              `there is no function __ebb_input/2`,
		`^$__ebb`:                         `the variable $__ebb is not defined (there are $data, $value)`,
		`^$__ebb_operand`:                 `the variable $__ebb_operand is not defined (there are $data, $value)`,
		`def f: 1;^`:                      `the expression has no body (use ".")`,
		`^` + strings.Repeat(" ", 40_000): `the expression has 40000 bytes; 32768 is the most`,
		`. as {a: $x} | ^$y`:              `the variable $y is not defined (did you mean $x?)`,
		`^` + strings.Repeat("9", 1001):   `a number has more digits than it may`,
		`def f(g): g; f(f(1)) | ^f(2; 3; 4) | f(1)`: `there is no function f/3 (there is f/1)`,
		`[.[] | select(.a == "b") | foo(^)]`:        `unexpected token ")"`,
	} {
		source := strings.Replace(marked, "^", "", 1)
		_, err := jq.Compile(source, "value", "data")
		fault, ok := errors.AsType[*jq.Error](err)
		if !ok {
			t.Errorf("%s: %v, want %s", marked, err, want)
			continue
		}
		if got := source[:fault.Offset] + "^" + source[fault.Offset:]; err.Error() != want || got != marked {
			t.Errorf("%s:\n got %s at %s\nwant %s", marked, err, got, want)
		}
	}
}

// TestRun checks the results for outputs, variables and errors.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source, input, want string
		count               int
	}{
		{`.r += $value`, `{"r": 1}`, `{"r":3}`, 1},
		{`empty`, `1`, `null`, 0},
		{`.[]`, `[1,2,3]`, `1`, 2},
		{`first(., error("not looked at"))`, `1`, `1`, 1},
		{`.a`, `{"a": 1.10}`, `1.10`, 1},
		{`.`, `[1e2, -0, 123456789012345678901234567890, 0.1, 1E+5]`, `[1e2,-0,123456789012345678901234567890,0.1,1E+5]`, 1},
		{`map(. + 0)`, `[1e2, -0, 123456789012345678901234567890, 0.1]`, `[100,0,123456789012345678901234567890,0.1]`, 1},
		{
			`[nan, infinite]`, `null`,
			`[null,179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000` +
				`00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000]`, 1,
		},
		{`{b: 1, a: 2, "\u0001": "\n\"ü"}`, `null`, `{"\u0001":"\n\"ü","a":2,"b":1}`, 1},
	} {
		p, err := jq.Compile(c.source, "value")
		if err != nil {
			t.Fatal(err)
		}
		input, err := jq.Decode([]byte(c.input))
		if err != nil {
			t.Fatal(err)
		}
		result, err := p.Run(input, 2)
		if err != nil || result.Count != c.count {
			t.Errorf("%s: %d outputs, %v; want %d", c.source, result.Count, err, c.count)
		}
		if c.source == "[nan, infinite]" {
			continue
		}
		if text, err := jq.Encode(result.Value, 1000); string(text) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.source, text, err, c.want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`error("in handler")`:  `in handler`,
		`error({code: 7})`:     `{"code":7}`,
		`.a.b`:                 `expected an object but got: number (1)`,
		`.a + "x"`:             `cannot add: number (1) and string ("x")`,
		`"x" * 1e9`:            `the expression builds a value that is larger than it may`,
		`[range(1e9)]`:         `the expression takes more steps than it may`,
		`"a" | test(1)`:        `a regular expression is a string, not number (1)`,
		`"a" | test("(")`:      "error parsing regexp: missing closing ): `(`",
		`"a" | test("a"; "q")`: `regular expressions have no flag "q"`,
		`1 | test("a")`:        `only a string can be matched, not number (1)`,
		`{} | {(1, 2): 3}`:     `expected a string for object key but got: number (1)`,
	} {
		p, err := jq.Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Run(map[string]any{"a": 1})
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
		if beyond := errors.Is(err, jq.ErrLimit); beyond != strings.Contains(want, "than it may") {
			t.Errorf("%s: beyond limits: %t", source, beyond)
		}
	}
}

// FuzzCompile shows that no program panics, hangs or changes its input.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`.a | map(. + 1)`, `reduce .[] as $x (0; . + $x)`, `"a\(.b)"`, `. as [$a] ?// {$a} | $a`,
		`def f(g; $x): g | f(g; $x); f(.; 1)`,
		`label $l | .[]? | ., break $l`, `.a[1:] |= del(.[0])`, `@csv "x\([1])"`, `{"\(.)": 1, (.a): 2, $value}`,
		`path(..), getpath(["a"])`,
		`gsub("(?<x>.)"; .x + "-")`, `try error catch .`, `if . then 1 elif 2 then 3 else 4 end`,
		`foreach range(5) as $i (0; $i; .)`, `.["a", 1]?`,
		`"x" * 1e9`, `[limit(5; repeat(1))] | transpose`, `$value.a // "b" | ltrimstr("c")`,
		`-(1), .. == 1, [1,2] - [2] | @sh`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		p, err := jq.Compile(source, "value")
		if err != nil {
			fault, ok := errors.AsType[*jq.Error](err)
			if !ok || fault.Offset < 0 || fault.Offset > len(source) {
				t.Fatalf("%q: %#v", source, err)
			}
			return
		}
		const text = `{"a":[1,{"b":"xyz"},null,2.5],"b":"text","c":{"d":true}}`
		input, err := jq.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		result, err := p.Run(input, map[string]any{"a": "v"})
		if err == nil {
			if _, err := jq.Encode(result.Value, 1<<20); err != nil && !errors.Is(err, jq.ErrLimit) {
				t.Fatalf("%q: %v", source, err)
			}
		} else if strings.Contains(err.Error(), "broke jq") {
			t.Fatalf("%q: %v", source, err)
		}
		if after, err := jq.Encode(input, 1000); string(after) != text {
			t.Fatalf("%q changed its input to %s, %v", source, after, err)
		}
	})
}

func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ name, source string }{
		{"path", `.order.id`},
		{"condition", `.n > 3 and .ok`},
		{"merge", `.r += $value`},
		{"map", `[.xs[] | . * 2] | add`},
		{"build", `{id: .order.id, text: "order \(.order.id)", xs: (.xs | map(tostring))}`},
	} {
		p, err := jq.Compile(c.source, "value")
		if err != nil {
			b.Fatal(err)
		}
		input, err := jq.Decode([]byte(`{"order": {"id": 7}, "n": 5, "ok": true, "r": 1, "xs": [1, 2, 3, 4, 5]}`))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Run(input, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jq.Compile(`.items | map(select(.price > 3)) | sort_by(.name) | .total = $value`, "value"); err != nil {
			b.Fatal(err)
		}
	}
}
