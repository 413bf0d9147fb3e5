package jsonata_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/jsonata"
)

// evaluateWith evaluates an expression on data, which is also the value of $states.
func evaluateWith(t *testing.T, text, data string) (jsonata.Value, error) {
	t.Helper()
	e, err := jsonata.Parse(text)
	if err != nil {
		return jsonata.Value{}, err
	}
	input, err := jsonata.Decode([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(0)
	return e.Evaluate(&jsonata.Environment{
		Input: input, Now: time.Date(2025, 6, 1, 12, 30, 0, 123_456_789, time.UTC),
		Variable: func(name string) (jsonata.Value, bool) { return input, name == "states" },
		Random: func() uint64 {
			seed += 0x9e3779b97f4a7c15
			return seed
		},
	})
}

// TestFunctionsOfAWS compares the functions that AWS adds with answers recorded on AWS.
func TestFunctionsOfAWS(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$parse("{\"a\":1}").a`:                `1`,
		`$parse("[9223372036854775807, 1.0]")`: `[9223372036854775807,1]`,
		`$parse("9223372036854775808")`:        `9223372036854776000`,
		`$parse($nothing)`:                     `undefined`,
		`$parse("")`:                           `D3137: Invalid JSON`,
		`$parse("{'a': ['b', \"c'\"]}")`:       `{"a":["b","c'"]}`,
		`$parse("'\"\\n'")`:                    `"\"\n"`,
		`$parse("{'a\": 1}")`:                  `D3137: Invalid JSON`,
		`$parse("1 2")`:                        `D3137: Invalid JSON`,
		`$parse("{\"a\":1,\"a\":2}")`:          `D3137: Invalid JSON`,
		`$parse(1)`:                            `T0410: Argument 1 of function "parse" does not match function signature`,
		`$parse("1", 2)`:                       `T0410: Argument 2 of function "parse" does not match function signature`,
		`$partition([1,2,3,4], 2)`:             `[[1,2],[3,4]]`,
		`$partition([1,2,3], 2.9)`:             `[[1,2],[3]]`,
		`$partition([1,2])`:                    `[[1,2]]`,
		`$partition([], 2)`:                    `undefined`,
		`$partition([1], 0)`:                   `undefined`,
		`$partition([1], -2)`:                  `D3137: Second argument must be zero or greater`,
		`$partition(1, 2)`:                     `T0412: Argument 1 of function "partition" must be an array of undefined`,
		`$partition([1], "a")`:                 `T0410: Argument 2 of function "partition" does not match function signature`,
		`$range(0, 6, 2)`:                      `[0,2,4,6]`,
		`$range(0, 7, 2)`:                      `[0,2,4,6]`,
		`$range(3, 0, -1.7)`:                   `[3,2,1,0]`,
		`$range(1, 1, 1)`:                      `1`,
		`$range(0, 6, 0)`:                      `undefined`,
		`$range(0, 6, -1)`:                     `undefined`,
		`$range(0, 6)`:                         `undefined`,
		`$range("a", 6, 1)`:                    `T0410: Argument 1 of function "range" does not match function signature`,
		`$hash("input", "SHA-1")`:              `"140f86aae51ab9e1cda9b4254fe98a74eb54c1a1"`,
		`$hash("input", "sha1")`:               `D3137: Hash algorithm 'sha1' must be one of SHA-1, SHA-384, SHA-256, SHA-512, MD5`,
		`$hash("input")`:                       `undefined`,
		`$random(42)`:                          `0.7275636800328681`,
		`$random("a")`:                         `T0410: Argument 1 of function "random" does not match function signature`,
		`$uuid()`:                              `"157c4a7f-b979-479e-aaf8-94fe72f36e3c"`,
		`$uuid(1)`:                             `T0410: Argument 1 of function "uuid" does not match function signature`,
		`$eval("1+1")`:                         `T1006: Attempted to invoke a non-function`,
		`$now()`:                               `"2025-06-01T12:30:00.123Z"`,
		`$millis()`:                            `1748781000123`,
		`[1/0, -1/0, 0/0]`:                     `["Infinity","-Infinity","NaN"]`,
		`$string(1e20) & $string(1e21)`:        `"1000000000000000000001e+21"`,
		`$formatNumber(0.14, "###pm", {"per-mille": "pm"})`: `"140pm"`,
		`$formatNumber(0.14, "001pc", {"percent": "pc"})`:   `"014pc"`,
		`$formatNumber(1, "#pcpc", {"percent": "pc"})`:      `D3082: The sub-picture must not contain more than one instance of the 'percent' character`,
		`$formatNumber(1, "x")`: `D3086: The sub-picture must not contain a passive character that is preceded by an active character and that is ` +
			`followed by another active character`,
		`$sum(["a"])`: `T0412: Argument 1 of function "sum" must be an array of "numbers"`,
		`$abs("a")`:   `T0410: Argument 1 of function "abs" does not match function signature`,
	} {
		v, err := evaluateWith(t, text, `null`)
		got := string(v.AppendJSON(nil))
		switch {
		case err != nil:
			got = err.Error()
		case v.Kind() == jsonata.Undefined:
			got = "undefined"
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`a[1,2)`:                         `3: S0202: Expected "]", got ","`,
		`"unterminated`:                  `0: S0101: String literal must be terminated by a matching quote`,
		`1 +`:                            `3: S0207: Unexpected end of expression`,
		`{"a":}`:                         `5: S0211: The symbol "}" cannot be used as a unary operator`,
		`$x :=`:                          `5: S0207: Unexpected end of expression`,
		`$match("a", /abc`:               `12: S0302: No terminating / in regular expression`,
		`$match("a", /(/)`:               `12: S0302: No terminating / in regular expression`,
		`$match("a", /a**/)`:             `12: S0303: regular expression, offset 2: nothing to repeat`,
		`(1 + 2`:                         `6: S0203: Expected ")" before end of expression`,
		`1 2`:                            `2: S0201: Syntax error: 2`,
		`a ! b`:                          `2: S0204: Unknown operator: "!"`,
		`"\x"`:                           `1: S0103: Unsupported escape sequence: \"x"`,
		`1e999`:                          `0: S0102: Number out of range: "1e999"`,
		`a := 1`:                         `0: S0212: The left side of := must be a variable name (start with $)`,
		`/* open`:                        `0: S0106: Comment has no closing tag`,
		`a.%.%.%`:                        `0: S0217: The object representing the 'parent' cannot be derived from this expression`,
		`function(x){1}`:                 `9: S0208: Parameter 1 of function definition must be a variable name (start with $)`,
		`function($x)<n<s>>{$x}`:         `14: S0401: Type parameters can only be applied to functions and arrays`,
		`a ?? b`:                         `3: S0211: The symbol "?" cannot be used as a unary operator`,
		strings.Repeat("(", 2000):        `1000: S0201: the expression nests deeper than 1000`,
		strings.Repeat("-", 2000):        `1000: S0201: the expression nests deeper than 1000`,
		"1" + strings.Repeat("+1", 2000): `1999: S0201: the expression nests deeper than 1000`,
		strings.Repeat(" ", jsonata.MaxLength) + "1": `0: S0201: the expression has 262145 bytes; 262144 is the most`,
	} {
		_, err := jsonata.Parse(text)
		wrong, ok := errors.AsType[*jsonata.ParseError](err)
		if !ok || fmt.Sprintf("%d: %v", wrong.Offset, wrong) != want {
			t.Errorf("%.60s: %v\nwant %s", text, err, want)
		}
	}
}

func TestErrorsHavePlaces(t *testing.T) {
	t.Parallel()
	for text, offset := range map[string]int{
		`1 + ("a" - 1)`:    9,
		`$abs("x")`:        4,
		`{"a": [1, -"x"]}`: 10,
		`$map([1], function($v) { $v.$abs("x") })`: 32,
		`[1..3].("a" < $)`:                         12,
	} {
		_, err := evaluateWith(t, text, `null`)
		wrong, ok := errors.AsType[*jsonata.Error](err)
		if !ok || wrong.Offset != offset {
			t.Errorf("%s: %v at %d, want %d", text, err, wrong.Offset, offset)
		}
	}
}

// TestValues checks what the evaluation keeps of values that pass through.
func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$`:                         `{"z":1,"a":[9007199254740993,-0.5,1e+21,"é\u0001\"\\"],"m":{"y":null,"x":true}}`,
		`$keys($)`:                  `["z","a","m"]`,
		`a[0]`:                      `9007199254740993`,
		`a[0] + 0`:                  `9007199254740992`,
		`a[0] = 9007199254740992`:   `true`,
		`$string(a[0])`:             `"9007199254740993"`,
		`m ~> |$|{"b": 1}, "x"|`:    `{"y":null,"b":1}`,
		`$` + `.m`:                  `{"y":null,"x":true}`,
		`[$sum, function($x){$x}]`:  `["",""]`,
		`"\ud83d\ude00" & "\ud83d"`: `"😀` + "\ufffd" + `"`,
		`$encodeUrl("\ud800")`:      `D3140: Malformed URL passed to $encodeUrl(): "` + "\ufffd" + `"`,
		`-0`:                        `0`,
		`$length("😀x") & $substring("😀x", 1)`: `"2x"`,
		`"😀" < "\uffff"`:                      `true`,
	} {
		v, err := evaluateWith(t, text,
			`{"z": 1.0, "a": [9007199254740993, -0.5, 1e21, "é\u0001\"\\"], "m": {"y": null, "x": true}}`)
		got := string(v.AppendJSON(nil))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for text, offset := range map[string]int{
		``: 0, `{`: 1, `[1,]`: 3, `{"a" 1}`: 5, `01`: 1, `1.`: 1, `nul`: 0, `"a`: 2, "\"\n\"": 2, `"\x"`: 3, `1 1`: 2,
		`-`: 1, `{"a":1,}`: 7, `1e999`: 0, `"\u12"`: 3,
		strings.Repeat("[", 600): 501,
	} {
		_, err := jsonata.Decode([]byte(text))
		wrong, ok := errors.AsType[*jsonata.DecodeError](err)
		if !ok || wrong.Offset != offset {
			t.Errorf("%.20s: %v, want a problem at %d", text, err, offset)
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`$states.input.a[b > 1].c + $x`:                                `states.input.a x |`,
		`($y := $states; $y.result & $sum(a))`:                         `states sum | a`,
		`$map($states.input, function($v, $i) { $v.a + $i + $w + b })`: `map states.input w | b`,
		`$states[0].input & $$.a & $`:                                  `states | $$ $`,
		`a@$k#$n[$n > 1].{"k": $k, "u": $u}`:                           `u | a`,
		`($f := function($n) { $n = 0 ? 1 : $f($n - 1) }; $f(3))`:      ` |`,
		`* ~> |$states.x|{"y": z}|`:                                    `states.x | *`,
		`$v^(price, $w){id: $sum(n)}`:                                  `v w sum |`,
		`$states.context.Execution.Id ~> $substringAfter(?, ":")`:      `states.context.Execution.Id substringAfter |`,
	} {
		e, err := jsonata.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var variables, inputs []string
		for _, use := range e.Variables() {
			variables = append(variables, strings.Join(append([]string{use.Name}, use.Members...), "."))
			if !strings.HasPrefix(text[use.Offset:], "$"+use.Name) {
				t.Errorf("%s: %s is said to stand at %d", text, use.Name, use.Offset)
			}
		}
		for _, use := range e.Inputs() {
			inputs = append(inputs, use.Name)
		}
		if got := strings.TrimRight(strings.Join(variables, " ")+" | "+strings.Join(inputs, " "), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func Example() {
	e, err := jsonata.Parse(`{"total": $sum($order.lines.(price * n)), "skus": $order.lines.sku}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	order, err := jsonata.Decode(
		[]byte(`{"lines": [{"sku": "a", "price": 3, "n": 2}, {"sku": "b", "price": 10, "n": 1}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := e.Evaluate(&jsonata.Environment{Variable: func(name string) (jsonata.Value, bool) {
		return order, name == "order"
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(v.AppendJSON(nil)))
	// Output: {"total":16,"skus":["a","b"]}
}

// TestResultsArePlain shows that another expression sees a result as it sees the decoded text of the result: a run that
// another process goes on with, has only the text.
func TestResultsArePlain(t *testing.T) {
	t.Parallel()
	evaluate := func(text string, x jsonata.Value) jsonata.Value {
		e, err := jsonata.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Evaluate(&jsonata.Environment{Variable: func(name string) (jsonata.Value, bool) { return x, name == "x" }})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	input, err := jsonata.Decode([]byte(`{"a": [[7]], "b": {"c": 1}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{
		"$map([1], function($v) { $v })[]", "$x.b.c[]", "$x.a", "[$x.a]", "$x.[b.c]", "[1..1]", "{'a': $x.b.c[]}", "[$x.b.c[]]", "$x.b.[c]",
		"$filter([1, 2], function($v) { $v = 1 })[]", "$x.{'d': [b.c]}", "$sort([3])[]",
	} {
		result := evaluate(first, input)
		decoded, err := jsonata.Decode(result.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, second := range []string{"$x", "[$x]", "{'y': $x}", "$x.a", "$x[0]", "$count($x)", "[$x, $x]", "$append($x, 1)", "$x.$"} {
			got, want := evaluate(second, result), evaluate(second, decoded)
			if string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
				t.Errorf("$x := %s; %s: %s, but after decoding %s", first, second, got.AppendJSON(nil), want.AppendJSON(nil))
			}
		}
	}
}
