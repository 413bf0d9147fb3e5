package jsonata_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/jsonata"
)

// For any expression and data, Parse succeeds or returns an error with a position inside the expression. An evaluation
// ends with a value that can be written as JSON, or an error of the language. Repeating it gives the same result.
func FuzzEvaluate(f *testing.F) {
	for _, text := range []string{
		`$states.input.a.b[c > 1].d`, `($f := function($x)<n:n>{$x < 1 ? 0 : $f($x - 1)}; $f(5))`, `[1..5].($ * 2) ~> $sum()`,
		`a.b@$v#$i.{"v": $v, "i": $i, "p": %.f}`, `list^(>$)[0]`, `a ~> |b|{"z": $count($)}, "c"|`,
		`$map(words, $uppercase(?))`,
		`$replace("hello", /l(.)/, "$1!")`, `$fromMillis(0, "[Y0001]-[M01]-[D01]T[H01]:[m01][Z]")`,
		`$formatNumber(-1234.5, "#,##0.00;(0)")`,
		`{"a": 1, "b": [true, null, "x"]}.*`, `**[0]`, `a.b{d: $sum(c)}`, `$random(42) & $uuid() & $now()`,
		`$parse("[1, {}]")[1]`,
		`$partition($range(1, 9, 2), 2)`, `$hash("a", "MD5")`, `$sort(list, function($l, $r) { $l > $r })`, "`a b`.\"c\"[]",
		`1 +`, `"\ud800"`, `/(/`, `$toMillis("5", "[D]")`,
		`$formatInteger(123456, "#,##0;o") & $formatInteger(99, "w") & $parseInteger("xiv", "i")`,
		`$split("a, b", /, */) in words and nope or -num`,
	} {
		f.Add(text, `{"a": {"b": [{"c": 1, "d": "x"}, {"c": 2}], "f": 1.5}, "list": [3, 1, 2], "words": ["b", "a"], "num": -2, "n": null}`)
	}
	f.Fuzz(func(t *testing.T, text, data string) {
		e, err := jsonata.Parse(text)
		if err != nil {
			wrong, ok := errors.AsType[*jsonata.ParseError](err)
			if !ok || wrong.Code == "" || wrong.Message == "" || wrong.Offset < 0 || wrong.Offset > len(text) {
				t.Fatalf("refused without place or reason: %#v", err)
			}
			return
		}
		input, err := jsonata.Decode([]byte(data))
		if err != nil {
			return
		}
		first, second := evaluated(t, e, input), evaluated(t, e, input)
		if first != second {
			t.Fatalf("%s\n%s\nthen\n%s", text, first, second)
		}
	})
}

func evaluated(t *testing.T, e *jsonata.Expression, input jsonata.Value) string {
	t.Helper()
	seed, steps := uint64(1), 50_000
	v, err := e.Evaluate(&jsonata.Environment{
		Input: input, Now: time.Unix(1_700_000_000, 0),
		Variable: func(name string) (jsonata.Value, bool) { return input, name == "states" },
		Random: func() uint64 {
			seed = seed*6364136223846793005 + 1442695040888963407
			return seed
		},
		Steps: &steps,
	})
	if err != nil {
		wrong, ok := errors.AsType[*jsonata.Error](err)
		if !ok || wrong.Offset < 0 || wrong.Offset > len(e.Text()) {
			t.Fatalf("%s: %#v", e.Text(), err)
		}
		return err.Error()
	}
	out := v.AppendJSON(nil)
	if !json.Valid(out) {
		t.Fatalf("%s: no JSON: %s", e.Text(), out)
	}
	if v.Size() > jsonata.MaxSize+100 {
		t.Fatalf("%s: a value of size %d", e.Text(), v.Size())
	}
	return string(out)
}
