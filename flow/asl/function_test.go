package asl_test

import (
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestIntrinsics shows what each intrinsic function gives, and how it fails.
func TestIntrinsics(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, input, want string }{
		{`States.Format('{} and {}', $.a, 1.50)`, `{"a": "x"}`, `"x and 1.50"`},
		{`States.Format('\{\} it\'s \\ {}', null)`, `{}`, `"{} it's \\ null"`},
		{`States.Format('{}', $)`, `{"b": [1, "x", {}], "a": true}`, `"{b=[1, x, {}], a=true}"`},
		{`States.Format($.t, 'v')`, `{"t": "<{}>"}`, `"<v>"`},
		{`States.Format('{}')`, `{}`, `the text has more {} than the 0 values behind it`},
		{`States.Format('', 1)`, `{}`, `the text has 0 {} for 1 values`},
		{`States.StringToJson('{"a": [1, 2.50]}')`, `{}`, `{"a":[1,2.50]}`},
		{`States.StringToJson($.s)`, `{"s": " "}`, `null`},
		{`States.StringToJson('-0')`, `{}`, `0`},
		{`States.StringToJson('{')`, `{}`, `argument 1 is not JSON`},
		{`States.JsonToString($)`, `{"b": 1, "a": "ü<"}`, `"{\"b\":1,\"a\":\"ü<\"}"`},
		{`States.Array()`, `{}`, `[]`},
		{`States.Array(1, 'a', true, null, $.x)`, `{"x": {}}`, `[1,"a",true,null,{}]`},
		{`States.ArrayPartition($.a, 2)`, `{"a": [1, 2, 3]}`, `[[1,2],[3]]`},
		{`States.ArrayPartition($.a, 0)`, `{"a": [1]}`, `argument 2 must be at least 1`},
		{`States.ArrayContains($.a, $.b)`, `{"a": [{"x": 1, "y": 2}], "b": {"y": 2, "x": 1}}`, `true`},
		{`States.ArrayContains('a', 1)`, `{}`, `argument 1 must be an array`},
		{`States.ArrayRange(1, 9, 2)`, `{}`, `[1,3,5,7,9]`},
		{`States.ArrayRange(3, 1, -1)`, `{}`, `[3,2,1]`},
		{`States.ArrayRange(1, 3, 0)`, `{}`, `argument 3 must not be 0`},
		{`States.ArrayRange(0, 1000, 1)`, `{}`, `the range has more than 1000 numbers`},
		{`States.ArrayRange(9223372036854775806, 9223372036854775807, 2)`, `{}`, `[9223372036854775806]`},
		{`States.ArrayGetItem($.a, 1)`, `{"a": [1, 2]}`, `2`},
		{`States.ArrayLength($.a[*])`, `{"a": [1, 2]}`, `2`},
		{`States.ArrayUnique($.a)`, `{"a": [1, 1, "1", {"b": 1}, {"b": 1}]}`, `[1,"1",{"b":1}]`},
		{`States.Base64Encode('ebb and flow')`, `{}`, `"ZWJiIGFuZCBmbG93"`},
		{`States.Base64Decode('ZWJiIGFuZCBmbG93')`, `{}`, `"ebb and flow"`},
		{`States.Base64Decode('?')`, `{}`, `argument 1 is not Base64`},
		{`States.Base64Encode($.s)`, `{"s": "` + strings.Repeat("x", 10_001) + `"}`, `argument 1 has more than 10000 characters`},
		{`States.Hash('ebb', 'MD5')`, `{}`, `"43289cd437c0341064d1d20424e7bf84"`},
		{`States.Hash('ebb', 'SHA-1')`, `{}`, `"8e863647a2a0ed36a11bce3cfdc7c7146e7d735c"`},
		{`States.Hash($, 'SHA-256')`, `{}`, `"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"`},
		{`States.Hash('x', 'CRC')`, `{}`, `argument 2 must be MD5, SHA-1, SHA-256, SHA-384 or SHA-512`},
		{`States.JsonMerge($.a, $.b, false)`, `{"a": {"x": 1, "y": {"z": 1}}, "b": {"y": {}}}`, `{"x":1,"y":{}}`},
		{`States.JsonMerge($.a, $.a, true)`, `{"a": {}}`, `argument 3 must be false: only shallow merging is there`},
		{`States.MathAdd(2.5, -1.5)`, `{}`, `2`},
		{`States.MathAdd(9223372036854775807, 1)`, `{}`, `the sum is out of range`},
		{`States.MathAdd(1e300, 1)`, `{}`, `argument 1 is out of range`},
		{`States.MathRandom(5, 6)`, `{}`, `5`},
		{`States.MathRandom(6, 6)`, `{}`, `argument 2 must be greater than argument 1`},
		{`States.MathRandom(-9223372036854775807, 9223372036854775807, 7)`, `{}`, `-2032282435962401320`},
		{`States.StringSplit(',a.b,,c', ',.')`, `{}`, `["a","b","c"]`},
		{`States.StringSplit(1, ',')`, `{}`, `argument 1 must be a string`},
		{`States.ArrayGetItem(States.StringSplit('a-b', '-'), States.MathAdd(0, 1))`, `{}`, `"b"`},
		{`States.ArrayContains($.a[?(@.b == 'x, y)')], 1)`, `{"a": []}`, `false`},
	} {
		m := parse(t, alone(`{"Type": "Pass", "Parameters": {"x.$": `+quoted(c.call)+`}, "OutputPath": "$.x", "End": true}`))
		got := strings.TrimPrefix(ending(simulate(t, m, c.input, nil)), "SUCCEEDED ")
		if _, problem, failed := strings.Cut(got, "' had the following error: "); failed {
			got = problem
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.call, got, c.want)
		}
	}
}

// TestIntrinsicProblems shows how calls are refused that can never be evaluated.
func TestIntrinsicProblems(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		`States.UUID`:                       "expected '(' behind States.UUID at character 12",
		`States.UUID()x`:                    "expected nothing more behind the call at character 14",
		`States.UUID(1)`:                    "States.UUID takes 0 arguments, found 1 at character 15",
		`States.Format()`:                   "States.Format takes at least 1 arguments, found 0 at character 16",
		`States.MathRandom(1)`:              "States.MathRandom takes 2 to 3 arguments, found 1 at character 21",
		`States.Array(1 2)`:                 "expected ',' or ')' at character 16",
		`States.Array('a)`:                  "expected a closing ' for the string at character 14",
		`States.Format('a\\nb')`:            `only ', {, } and \ can be escaped, with \ at character 17`,
		`States.Array(-)`:                   "expected a number at character 14",
		`States.Array(`:                     "expected an argument at character 14",
		`States.Array(truest)`:              "expected a path, or a function's name beginning with States. at character 14",
		`States.Array($.)`:                  "jsonpath: $. at offset 2: expected a name, * or [ after the dot, found the end",
		strings.Repeat("States.Array(", 11): "calls nest deeper than 10 at character 131",
	} {
		_, err := asl.Parse("d", []byte(alone(`{"Type": "Pass", "Parameters": {"x.$": "`+call+`"}, "End": true}`)))
		got := strings.Join(problems(t, err), "\n")
		if _, got, _ = strings.Cut(got, "intrinsic function call: "); got != want {
			t.Errorf("%s: %s, want %s", call, got, want)
		}
	}
}

// TestNumbersAreOneKind: the results of functions can be used wherever a number can.
func TestNumbersAreOneKind(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"StartAt": "A", "States": {
		"A": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd(1, 1)"}, "Next": "B"},
		"B": {"Type": "Wait", "SecondsPath": "$n", "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericEquals": 2, "Next": "D"}]},
		"D": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($n, 0.5)"}, "End": true}}}`)
	if got, want := ending(simulate(t, m, `{}`, nil)), `SUCCEEDED {"n":3}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestUUID shows that UUIDs are random and of version 4.
func TestUUID(t *testing.T) {
	t.Parallel()
	m := parse(t, alone(`{"Type": "Pass", "Parameters": {"a.$": "States.UUID()", "b.$": "States.UUID()"}, "OutputPath": "$['a','b']", "End": true}`))
	s := simulate(t, m, `{}`, nil)
	var got struct{ A, B string }
	if err := s.end.Value.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.A == got.B || len(got.A) != 36 || got.A[14] != '4' || !strings.ContainsRune("89ab", rune(got.A[19])) {
		t.Errorf("got %+v", got)
	}
}

// quoted returns a JSON string.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
