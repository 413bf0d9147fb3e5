package jq

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"
)

// decoded returns a test's value.
func decoded(tb testing.TB, text string) any {
	tb.Helper()
	v, err := Decode([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return v
}

func shown(v any) string {
	text, err := Encode(v, 1<<20)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// listed runs a compiled program and lists its outputs.
func listed(outputs gojq.Iter) string {
	var all []string
	for {
		v, ok := outputs.Next()
		if !ok {
			return strings.Join(all, " ")
		}
		if err, failed := v.(error); failed {
			return strings.Join(append(all, "error: "+failure(err).Error()), " ")
		}
		all = append(all, shown(v))
	}
}

const sample = `{"s": "hello wörld", "n": 3, "f": 1.5, "xs": [3, 1, 2, null], "os": [{"k": "b", "v": 2}, {"k": "a", "v": 1}, {"k": "b", "v": 3}],
	"deep": {"a": {"b": [1, {"c": [2]}]}, "e": {}, "l": []}, "t": true, "z": null, "big": 123456789012345678901234567890, "d": "2015-03-05T23:51:47Z"}`

// programs have the same outputs with and without guards.
var programs = []string{
	`.`, `.s`, `.xs[]`, `.xs[1:3]`, `.xs[-1]`, `.["s"]`, `."s"`, `.os[0].k`, `.os[].k`, `.no.where`, `.no?`, `.s.x`,
	`.s.x?`, `.xs | .[1, 2]`,
	`.n + 1`, `.n + .f`, `.s + "!"`, `"<" + .s + ">"`, `.xs + .xs`, `.deep + {a: 1}`, `null + 1`, `.n + .s`,
	`.xs - [1, 2]`, `.n - 1`, `.n * .f`,
	`.s * 2`, `2 * .s`, `.s * 0`, `.deep * {a: {b: 2, x: 1}}`, `.n / 2`, `.s / " "`, `.n / 0`, `.n % 2`, `-.n`,
	`-(.n, .f)`, `.big + 1`, `.big * .big`, `.big - .big`,
	`(1, 2) + (10, 20)`, `(1, 2) * (3, 4)`, `[(1, 2) < (2, 1)]`, `1 - 1 - 1`, `2 * 3 + 4`, `2 + 3 * 4`, `.n == 3`,
	`.n != 3`, `.xs < .os`, `.s >= "a"`, `.deep == .deep`,
	`.t and .z`, `.t or .z`, `.z // "none"`, `(.z, .n) // 1`, `.xs // empty`, `[.xs[] // 7]`, `first(.xs[] // empty)`,
	`[.xs[] | select(. != null) | . * 10]`, `.xs | map(. // 0) | add`, `[.os[].v] | add`, `add(.os[].v)`,
	`[.os[].k] | join("-")`, `[.s, "x"] | add`, `.xs | length`,
	`if .n > 2 then "big" elif .n > 1 then "mid" else "small" end`, `if .no then 1 end`, `try error("x") catch .`,
	`try error({a: 1}) catch .a`, `error("boom")`, `error`,
	`[.[]?]`, `[..] | length`, `[.. | numbers]`, `.deep | [paths]`, `.deep | [paths(type == "array")]`,
	`[path(..)] | length`, `path(.deep.a.b[1].c)`, `[.deep | leaf_paths?]`,
	`to_entries | map(.key)`, `.deep | with_entries(.value |= tostring)`,
	`[{key: "a", value: 1}, {name: "b", Value: null}] | from_entries`,
	`.os | group_by(.k)`, `.os | sort_by(.v)`, `.os | sort_by(.k, -.v)`, `.os | unique_by(.k)`, `.os | min_by(.v)`,
	`.os | max_by(.v)`, `.xs | sort`, `.xs | unique`, `.xs | min, max`,
	`.xs | reverse`, `.xs | index(1), rindex(1), indices(1)`, `.s | index("o"), indices("l")`, `.xs | contains([1])`,
	`[1] | inside([1, 2])`, `.s | contains("wör")`,
	`.xs | any, all`, `.xs | any(. == 1)`, `all(.os[]; .v > 0)`, `isempty(.xs[])`, `[limit(2; .xs[])]`, `first(.xs[])`,
	`last(.xs[])`, `nth(1; .xs[])`, `[range(3)]`, `[range(1; 4)]`,
	`[range(0; 10; 3)]`, `[range(5; 0; -2)]`, `[.n | while(. < 100; . * 2)]`, `.n | until(. > 100; . * 2)`,
	`[.n | recurse(if . < 10 then . + 3 else empty end)]`,
	`[recurse | scalars]`, `[.deep | recurse(.[]?) | numbers]`, `reduce .xs[] as $x (0; . + ($x // 0))`,
	`reduce .os[] as {k: $k, v: $v} ({}; .[$k] += $v)`,
	`[foreach .xs[] as $x (0; . + 1; [$x, .])]`, `[foreach range(5) as $i (0; . + $i)]`,
	`. as {n: $a, xs: [$b, $c]} | [$a, $b, $c]`, `. as [$a] ?// {n: $a} | $a`, `.n as $x | .f as $y | $x + $y`,
	`.xs[1] = 9 | .xs`, `.xs[5] = 1 | .xs`, `.n += 1 | .n`, `.n -= 1 | .n`, `.n *= 2 | .n`, `.n /= 2 | .n`,
	`.n %= 2 | .n`, `.z //= 5 | .z`, `.n |= . + 1 | .n`, `.xs |= map(. // 0) | .xs`,
	`.os[].v += 10 | .os`, `(.os[] | select(.k == "b") | .v) = 0 | .os`, `.new.path[2] = 1 | .new`,
	`del(.s, .deep, .os, .xs)`, `del(.xs[0, 2]) | .xs`, `del(.os[] | select(.v > 1)) | .os`,
	`.n = (1, 2) | .n`, `.n += (1, 2) | .n`, `.xs[1:] = ["x"] | .xs`, `delpaths([["s"], ["xs", 0]]) | .xs`,
	`setpath(["a", "b"]; 1) | .a`, `getpath(["deep", "a", "b"])`, `pick(.deep.a.b[1])`,
	`(.deep | ..) |= (if type == "number" then . + 1 else . end) | .deep`, `[.deep | tostream] | length`,
	`fromstream(.deep | tostream)`, `[1 | truncate_stream([[0], 1], [[1, 0], 2])]`,
	`.deep | walk(if type == "array" then length else . end)`, `.os | map_values(.v)`, `.xs | to_entries`,
	`.deep | map_values(empty)`, `[1, [2, [3]]] | flatten, flatten(1)`, `[[1, 2], [3]] | transpose`,
	`[[1, 2], [3, 4]] | [combinations]`, `[0, 1] | [combinations(2)]`, `.xs | bsearch(1)`, `.s | explode | implode`,
	`.s | split(" ")`, `.s | ascii_upcase, ascii_downcase`, `.s | ltrimstr("he"), rtrimstr("ld")`,
	`" x " | trim, ltrim, rtrim`, `.s | startswith("he"), endswith("x")`, `.s | test("W", "i"), test("^h")`,
	`.s | [match("l"; "g") | .offset]`, `.s | capture("(?<first>[a-z]+) (?<second>.+)")`,
	`.s | [scan("o")], [scan("(l)(.)")]`, `.s | sub("l"; "L"), gsub("l"; "L")`, `.s | gsub("(?<x>[aeiou])"; "<\(.x)>")`,
	`.s | gsub(""; "-")`, `.s | gsub("^"; ">")`, `.s | [splits("o")]`, `.s | split("l+"; null)`,
	`"aXbxc" | [splits("x"; "i")]`,
	`"abab" | [match("a*"; "g") | [.offset, .length]]`, `"ab" | [match("(x)?b").captures[0]]`,
	`"foo bar" | [match("\\b"; "g").offset]`, `"aab" | gsub("a*"; "-")`, `"a.b" | sub("(?<x>.)"; "\(.x)1", "\(.x)2")`,
	`"\(.s) is \(.n) and \(.xs)"`, `"\(1, 2)-\(3, 4)"`, `@json`, `@text`, `.s | @base64, @uri, @html, @sh`,
	`[1, "a,b", null] | @csv, @tsv`, `@base64 "x\(.s)y"`, `.s | @base64 | @base64d`, `@json "v=\(.xs)"`,
	`"a%20b" | @urid`, `@html "<\("<&>")>"`,
	`tojson`, `.xs | tostring`, `"[1, 2.50]" | fromjson`, `"12" | tonumber`, `"x" | tonumber`, `.n | tostring`,
	`.t | not`, `type`, `[.[] | type]`, `keys`, `has("s")`, `.xs | has(1)`, `"a" | in({a: 1})`,
	`{a: 1, "b": 2, ("c" + "d"): 3, s, "n", $__loc__: 1}`, `{a: 1, ("c" + "d"): 3, s, "n"}`, `.n as $n | {$n}`,
	`{"x\(.n)": 1}`, `{"\(.s)"}`, `{(.xs[:2] | map(tostring)[]): 1}`, `{a: (1, 2)}`, `."\("s")"`, `.["\("s")"]`,
	`{a: {b: 1}} | .a.b`,
	`def f: . + 1; .n | f`, `def f(g): g * 2; f(.n)`, `def f($x; $y): $x + $y; f(.n; .f)`,
	`def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 20 | fac`,
	`def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 30 | fac`, `def f: def g: 3; g; f`,
	`def f(x): x | x; 2 | f(. * .)`,
	`label $out | .xs[] | if . == 1 then ., break $out else . end`, `[.xs[] as $x | $x]`,
	`.xs as [$a, $b] | {a: $a, b: $b}`, `. as {"s": $x} | $x`, `. as {("s"): $x} | $x`, `. as {$s, $n} | [$s, $n]`,
	`[.n, .f, -1.5] | map(floor, ceil, sqrt, fabs, round)`, `pow(2; 10)`, `[1, 2] | log2?`,
	`infinite, -infinite, nan | tostring`, `[nan] | sort`, `.d | fromdate`, `1425599507 | todate`,
	`1425599507 | gmtime | mktime`, `.d | strptime("%Y-%m-%dT%H:%M:%SZ") | mktime`, `0 | strftime("%A %d")`,
	`.xs | IN(.[]; 1, 2)`, `.n | IN(1, 2, 3)`, `INDEX(.os[]; .k) | keys`, `.os | INDEX(.v) | keys`, `ascii`, `@foo`,
	`splits`, `[splits("a")]`, `.[] as [$a] | $a`, `abs`, `.n | abs`, `toboolean`, `"true" | toboolean`,
	`[.xs[]?, 1] | have_literal_numbers`,
	`.xs | .[[1]]`, `.xs | first, last, nth(2)`, `[skip(2; .xs[])]`, `[.xs[] | values]`,
	`.deep | [.. | objects | keys[]]`, `jn(2; 3)`, `ldexp(1; 3)`, `[.os[] | .v] | .[1:] + .[:1]`, `"x" * 3 | length`,
	`[.xs[:2][]]`, `.xs[.n - 2]`, `try (.s | tonumber) catch "no"`, `(.s, .n)?`, `.. |= .`,
	`getpath(["xs", 0]) = 5 | .xs[0]`, `first(.os[] | select(.k == "b")) |= empty | .os | length`,
	`reduce range(3) as $i ([]; .[$i] = $i)`, `recurse(.[]?; . != null) | numbers`, `limit(1; .os[]) |= 1 | .os[0]`,
	`path(first(.os[]))`, `[.os[] | {k, w: (.v * 2)}]`, `to_entries[0].key`, `ltrimstr(1)`, `.a.b |= 3 | .a`,
	`.["a", "b"] = 1 | .a, .b`, `[.[] | strings, booleans, nulls]`, `tojson | fromjson | .big`, `1.10`,
	`100000000000000000000`, `1e1000`, `[.f, 1.0, 1.50] | tojson`, `env`, `$x`, `f`, `.[`, `"`, `break $x`,
	`import "a" as a; .`, `include "x"; .`,
}

// narrower are programs that gojq accepts and this package refuses.
var narrower = []string{`env`, `@foo`, `limit(1; .os[]) |= 1 | .os[0]`}

// TestLikeGojq compares the results of programs with and without guards.
func TestLikeGojq(t *testing.T) {
	t.Parallel()
	input := decoded(t, sample)
	for _, source := range programs {
		p, err := Compile(source)
		var plain *gojq.Code
		query, plainErr := gojq.Parse(source)
		if plainErr == nil {
			plain, plainErr = gojq.Compile(query)
		}
		if err != nil || plainErr != nil {
			if (err == nil) != (plainErr == nil) && !slices.Contains(narrower, source) {
				t.Errorf("%s: %v; gojq: %v", source, err, plainErr)
			}
			continue
		}
		m := &meter{left: MaxSteps}
		got, want := listed(p.code.RunWithContext(m, input, m)), listed(plain.Run(input))
		bothFail := strings.Contains(got, "error: ") && strings.Contains(want, "error: ")
		if got != want && !bothFail {
			t.Errorf("%s:\n got %s\nwant %s", source, got, want)
		}
		if shown(input) != shown(decoded(t, sample)) {
			t.Fatalf("%s changed its input", source)
		}
	}
}

// bombs are programs that would take very long, or very much memory.
var bombs = []string{
	`range(1e12)`, `[range(1e12)]`, `last(range(1e12))`, `[limit(1e12; repeat(1))]`, `"x" * 600000000`, `600000000 * "x"`,
	`"x" * 1e300`, `. as $x | "x" * ($x | length | . * 1e9)`, `def f: f; f`, `def f: 1 + f; f`, `def f: [f]; f`,
	`def f: (., f); [f]`, `[repeat("x")]`, `[recurse([.])]`, `reduce range(1e9) as $i (0; . + $i)`,
	`reduce range(100) as $i ("x"; . + .)`, `reduce range(100) as $i ("x"; . * 2)`,
	`reduce range(100) as $i ([1]; . + .)`, `reduce range(60) as $i (1; [., .])`,
	`reduce range(60) as $i (1; [., .]) | tojson`, `reduce range(60) as $i (1; {a: ., b: .}) | tostring`,
	`reduce range(60) as $i (1; [., .]) | flatten`,
	`reduce range(60) as $i (1; [., .]) | . == .`, `reduce range(60) as $i (1; [., .]) | [.., 1] | length`,
	`reduce range(60) as $i (1; [., .]) as $d | [[$d], [$d]] | sort`,
	`[range(9)] | sort_by(reduce range(60) as $i (1; [., .]))`,
	`[range(9)] | INDEX(reduce range(60) as $i (1; [., .]))`, `reduce range(60) as $i (1; [., .]) | IN(.)`,
	`reduce range(60) as $i (1; [., .]) | "\(.)"`, `reduce range(60) as $i (1; [., .]) | error`,
	`reduce range(60) as $i (1; [., .]) | @json`, `reduce range(60) as $i (1; [., .]) | unique`,
	`reduce range(60) as $i (1; [., .]) | [paths] | length`, `reduce range(60) as $i (1; [., .]) | contains([[1]])`,
	`reduce range(60) as $i (1; {a: ., b: .}) | . * .`, `reduce range(60) as $i (1; [., .]) | walk(.)`,
	`reduce range(60) as $i (1; [., .]) | getpath([0]) | .[0] = 1 | tojson`,
	`reduce range(60) as $i (1; {a: ., b: .}) | with_entries(.value |= tojson)`,
	`reduce range(60) as $i (1; [., .]) | {"\(.)": 1}`, `reduce range(60) as $i (1; [., .]) | tostream`,
	`reduce range(60) as $i (1; [., .]) | .[[.]]`, `[reduce range(60) as $i (1; [., .])] | [1] - .`,
	`reduce range(40) as $i (2; . * .)`, `reduce range(60) as $i (9999999999999999999999; . * .)`, `null | .[1e8] = 1`,
	`null | .[100000000] = 1`, `null | setpath([1e8]; 1)`, `null | setpath(["a", 1e8]; 1)`,
	`[[1, 1e8]] | .[0][1] as $i | null | .[$i] |= 1`, `null | pick(.[100000000])`, `fromstream([[1e8], 1], [[1e8]])`,
	`[range(1000000)]`, `[range(300000)] | [combinations?]`,
	`[limit(200000; repeat(.))] | add(.[] | "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") | length`,
	`("x" * 1000000) as $s | [range(100) | $s] | add`, `("x" * 1000000) as $s | [range(100) | $s] | join("")`,
	`("x" * 100000) as $s | [range(1000) | "a"] | join($s)`,
	`("x" * 1000000) | [.[range(1000000):range(1000000)]] | length`,
	`("x" * 1000000) | gsub(""; "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")`,
	`("x" * 1000000) | [match("x"; "g")] | length`, `("x" * 100000) | [splits("")]`,
	`("x" * 1000000) as $s | $s | gsub("x"; $s)`, `[range(100000) | tostring | . as $r | "x" | test($r)] | length`,
	`"x" | test("((a{30}){30}b?){1}")`, `("x" * 1000000) | explode | implode | explode | explode?`,
	`[range(100000)] as $a | $a | indices($a[50000:])`, `[range(60000) | 0] as $a | $a | indices($a[30000:] + [1])`,
	`("x" * 200000) as $s | $s | indices($s[100000:] + "y")`, `[range(30000)] as $a | $a - ($a | map(. + 0.5)) | length`,
	`[range(3000) | [.]] as $a | $a | contains($a | map([-1]))`,
	`[[range(3000)], (range(3000) | [])] | transpose | length`, `jn(1e15; 2e15)`, `yn(1000000000; 2000000000)`,
	`[range(100000) | jn(10000; 20000)] | add`, `null | [limit(100000; path(recurse(.a)))] | length`,
	`null | path(reduce range(1e6) as $i (.; .a))`, `null | [path(foreach range(1e6) as $i (.; .a))]`,
	`def f: ., (.a | f); null | [path(limit(1e6; f))]`,
	`reduce range(100000) as $i (0; [.]) | tojson`, `reduce range(100000) as $i (0; [.]) | [paths] | length`,
	`reduce range(1000000) as $i (0; [.]) | . == .`, `reduce range(100000) as $i (0; [.]) | path(..)`,
	`reduce range(100000) as $i (0; {a: .}) | [leaf_paths?]`,
	`reduce range(1000) as $i (0; [.]) | [range(100000) as $i | tojson] | length`,
	`("1" * 1000000) | tonumber`, `("1" * 1000000) | fromjson`, `[range(1000000) | "a"] | sort`,
	`[range(200000) | [range(5)]] | group_by(.[0]) | length`, `until(false; .)`, `[while(true; .)]`,
	`label $a | repeat(.)`, `try repeat(.) catch .`, `[.[]?, repeat(1)] | length`, `input?, repeat(1)`,
	`("%1024Y" * 1000) as $f | [range(1000) | strftime($f)] | add | length`,
	`[range(500000)] as $x | [range(1000) | first($x[])] | length`,
	`[range(500000)] as $x | [range(100) as $i | $x[1:]] | map(.[]) | length`,
	`[range(500000)] | [range(1000) as $i | .[$i] = 1] | length`,
	`[range(100000)] | reduce range(10000) as $i (.; .[$i] |= 1) | length`,
	`{} | reduce range(100000) as $i (.; .["k\($i)"] = $i) | length`,
	`[range(100000)] | [range(100) as $i | map(. + 1)] | length`,
	`def a: "x" * 1000; def b: a * 1000; def c: b * 1000; c`,
	`[range(4000) | . as $i | {"k\($i)": $i}] | add | [range(1000) as $i | keys] | length`,
	`[limit(3; repeat("x" * 16000000))] | add`,
}

// TestBombs shows that bombs are stopped soon. It logs how long each takes. The limit is far above all of them, so a
// busy machine does not fail the test.
func TestBombs(t *testing.T) {
	t.Parallel()
	for _, source := range bombs {
		p, err := Compile(source)
		if err != nil {
			t.Logf("%s: refused: %v", source, err)
			continue
		}
		began := time.Now()
		result, err := p.Run(nil)
		if err == nil {
			_, err = Encode(result.Value, 1<<20)
		}
		took := time.Since(began)
		t.Logf("%s: %s: %v", source, took.Round(time.Millisecond), err)
		if took > 5*time.Minute {
			t.Errorf("%s took %s", source, took)
		}
	}
}

// TestCharactersCount shows that the memory for the characters of a text counts where
// gojq splits the text to search for another one.
//
// Attack (Definitions and expressions): 50 jq programs: endless, doubling, deep, quadratic, huge indexes, `$ENV`,
// `include`.
// Result: Budgets for steps, size, depth and split characters; no access to the outside.
// Also: `engine: TestHostileExpressions`; others by hand.
func TestCharactersCount(t *testing.T) { //nolint:paralleltest // it looks at what is allocated
	for _, name := range []string{"indices", "index", "rindex"} {
		for size, works := range map[int]bool{100_000: true, 4_000_000: false} {
			p, err := Compile(fmt.Sprintf(`("x" * %d) | %s("y")`, size, name))
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = p.Run(nil)
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) >> 20; (err == nil) != works || got > 64 {
				t.Errorf("%s in %d characters: %v, with %d MiB", name, size, err, got)
			}
		}
	}
}
