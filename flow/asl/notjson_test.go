package asl_test

import (
	"encoding/json"
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
