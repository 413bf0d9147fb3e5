package asl_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ebbflow/ebb/flow/asl"
)

// TestSyntaxMessage has what Jackson says of texts that are not JSON. The first one was recorded.
func TestSyntaxMessage(t *testing.T) {
	t.Parallel()
	value := "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	for text, want := range map[string]string{
		"not a definition": "Unrecognized token 'not': was expecting " + value +
			"\n at [Source: (String)\"not a definition\"; line: 1, column: 4]",
		"":            "No content to map due to end-of-input\n at [Source: (String)\"\"; line: 1, column: 0]",
		"{\n\"a\":x}": "Unrecognized token 'x': was expecting " + value + "\n at [Source: (String)\"{\n\"a\":x}\"; line: 2, column: 6]",
		`{'a': 1}`: "Unexpected character (''' (code 39)): was expecting double-quote to start field name" +
			"\n at [Source: (String)\"{'a': 1}\"; line: 1, column: 3]",
		`{"a":1,}`: "Unexpected character ('}' (code 125)): was expecting double-quote to start field name" +
			"\n at [Source: (String)\"{\"a\":1,}\"; line: 1, column: 9]",
		`{"a" 1}`: "Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value" +
			"\n at [Source: (String)\"{\"a\" 1}\"; line: 1, column: 7]",
		`{"a": "b" "c"}`: "Unexpected character ('\"' (code 34)): was expecting comma to separate Object entries" +
			"\n at [Source: (String)\"{\"a\": \"b\" \"c\"}\"; line: 1, column: 12]",
		`[1 2]`: "Unexpected character ('2' (code 50)): was expecting comma to separate Array entries" +
			"\n at [Source: (String)\"[1 2]\"; line: 1, column: 5]",
		`[,]`: "Unexpected character (',' (code 44)): expected a valid value " + value +
			"\n at [Source: (String)\"[,]\"; line: 1, column: 3]",
		`{`: "Unexpected end-of-input: expected close marker for Object (start marker at [Source: (String)\"{\"; line: 1, " +
			"column: 1])\n at [Source: (String)\"{\"; line: 1, column: 2]",
		`[1`: "Unexpected end-of-input: expected close marker for Array (start marker at [Source: (String)\"[1\"; line: 1, " +
			"column: 1])\n at [Source: (String)\"[1\"; line: 1, column: 3]",
		`"a`: "Unexpected end-of-input: was expecting closing quote for a string value" +
			"\n at [Source: (String)\"\"a\"; line: 1, column: 3]",
		`{"a`:               "Unexpected end-of-input in field name\n at [Source: (String)\"{\"a\"; line: 1, column: 4]",
		`{"a": [1, "\"]"]}`: "",
		"1":                 "",
	} {
		if got := asl.SyntaxMessage(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestSyntaxMessageJackson has what Jackson 2.14.1 says.
func TestSyntaxMessageJackson(t *testing.T) {
	t.Parallel()
	const value = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	for text, want := range map[string]struct {
		message      string
		line, column int
	}{
		`{"a":01}`:         {"Invalid numeric value: Leading zeroes not allowed", 1, 7},
		`{"a":-01}`:        {"Invalid numeric value: Leading zeroes not allowed", 1, 8},
		`{"a":NaN}`:        {"Non-standard token 'NaN': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow", 1, 9},
		`{"a":"\x"}`:       {"Unrecognized character escape 'x' (code 120)", 1, 9},
		`{"a":"\u12G4"}`:   {"Unexpected character ('G' (code 71)): expected a hex-digit for character escape sequence", 1, 12},
		"{\"a\":\"\n\"}":   {"Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped using backslash to be included in string value", 1, 8},
		"{\"a\nb\":1}":     {"Illegal unquoted character ((CTRL-CHAR, code 10)): has to be escaped using backslash to be included in name", 1, 5},
		`{"a":1 x}`:        {"Unexpected character ('x' (code 120)): was expecting comma to separate Object entries", 1, 9},
		`{"a":1x}`:         {"Unexpected character ('x' (code 120)): was expecting comma to separate Object entries", 1, 8},
		`{a:1}`:            {"Unexpected character ('a' (code 97)): was expecting double-quote to start field name", 1, 3},
		`{"a" x}`:          {"Unexpected character ('x' (code 120)): was expecting a colon to separate field name and value", 1, 7},
		`{"a":1.}`:         {"Unexpected character ('}' (code 125)) in numeric value: Decimal point not followed by a digit", 1, 8},
		`{"a":-}`:          {"Unexpected character ('}' (code 125)) in numeric value: expected digit (0-9) to follow minus sign, for valid numeric value", 1, 8},
		`{"a":1e}`:         {"Unexpected character ('}' (code 125)) in numeric value: Exponent indicator not followed by a digit", 1, 8},
		`{"a":1e+}`:        {"Unexpected character ('}' (code 125)) in numeric value: Exponent indicator not followed by a digit", 1, 8},
		`{"a":1]`:          {"Unexpected close marker ']': expected '}' (for Object starting at [Source: (String)\"{\"a\":1]\"; line: 1, column: 1])", 1, 8},
		`{]`:               {"Unexpected close marker ']': expected '}' (for Object starting at [Source: (String)\"{]\"; line: 1, column: 1])", 1, 3},
		`{"a":1,]`:         {"Unexpected character (']' (code 93)): was expecting double-quote to start field name", 1, 9},
		`{"a":]`:           {"Unexpected character (']' (code 93)): expected a valid value " + value, 1, 7},
		`[1}`:              {"Unexpected close marker '}': expected ']' (for Array starting at [Source: (String)\"[1}\"; line: 1, column: 1])", 1, 4},
		`[1,]`:             {"Unexpected character (']' (code 93)): expected a valid value " + value, 1, 5},
		`}`:                {"Unexpected close marker '}': expected ']' (for root starting at [Source: (String)\"}\"; line: 1, column: 0])", 1, 2},
		`{"a":`:            {"Unexpected end-of-input within/between Object entries", 1, 6},
		`{"a"`:             {"Unexpected end-of-input within/between Object entries", 1, 5},
		`{"a":1,`:          {"Unexpected end-of-input within/between Object entries", 1, 8},
		`[1,`:              {"Unexpected end-of-input within/between Array entries", 1, 4},
		`{"a":tr`:          {"Unrecognized token 'tr': was expecting " + value, 1, 8},
		`{"a":truex}`:      {"Unrecognized token 'truex': was expecting " + value, 1, 11},
		`{"a":true false}`: {"Unexpected character ('f' (code 102)): was expecting comma to separate Object entries", 1, 12},
		"\ufeff{}":         {"Unexpected character ('\ufeff' (code 65279 / 0xfeff)): expected a valid value " + value, 1, 2},
		`{"a":€}`:          {"Unrecognized token '€': was expecting " + value, 1, 7},
		"{\"a\":\u0001}":   {"Illegal character ((CTRL-CHAR, code 1)): only regular white space (\\r, \\n, \\t) is allowed between tokens", 1, 7},
		`[nul]`:            {"Unrecognized token 'nul': was expecting " + value, 1, 5},
		`{"a":"\`:          {"Unexpected end-of-input in character escape sequence", 1, 8},
		`{"a":"\u12`:       {"Unexpected end-of-input in character escape sequence", 1, 11},
		`1x`:               {"Unexpected character ('x' (code 120)): Expected space separating root-level values", 1, 3},
		`//x`:              {"Unexpected character ('/' (code 47)): maybe a (non-standard) comment? (not recognized as one since Feature 'ALLOW_COMMENTS' not enabled for parser)", 1, 2},
		"{\n \"a\":1,\n}":  {"Unexpected character ('}' (code 125)): was expecting double-quote to start field name", 3, 2},
		`$.a`:              {"Unrecognized token '$': was expecting " + value, 1, 2},
	} {
		full := fmt.Sprintf("%s\n at [Source: (String)\"%s\"; line: %d, column: %d]", want.message, text, want.line, want.column)
		if got := asl.SyntaxMessage(text); got != full {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, full)
		}
	}
}

// FuzzSyntaxMessage has a message for each text that is not JSON.
func FuzzSyntaxMessage(f *testing.F) {
	for _, text := range []string{"", "{", "nul", "[1,\"\\", "\xff", "{\"a\":\"\x01\"}", "-", "1e", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if (asl.SyntaxMessage(text) == "") != json.Valid([]byte(text)) {
			t.Errorf("%q: %q", text, asl.SyntaxMessage(text))
		}
	})
}
