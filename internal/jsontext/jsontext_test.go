package jsontext_test

import (
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/jsontext"
)

func decode(text string) (any, error) {
	return jsontext.Decode([]byte(text), 50, func(literal string) any { return json.Number(literal) })
}

func TestParse(t *testing.T) {
	t.Parallel()
	text := "{\"a\": [1, true, null],\n  \"b/c\": {\"d\": \"x\\u00fc\\n\\ud83c\\udd97z\"}}"
	root, err := jsontext.Parse([]byte(text), 10)
	if err != nil {
		t.Fatal(err)
	}
	item := root.Get("a").Items[1]
	if item.Pointer() != "/a/1" || item.Kind != jsontext.Bool || !item.IsTrue() || text[item.At:item.End] != "true" {
		t.Errorf("%+v at %s", item, item.Pointer())
	}
	deep := root.Get("b/c").Get("d")
	if deep.Pointer() != "/b~1c/d" || deep.Str != "xü\n🆗z" {
		t.Errorf("%q at %s", deep.Str, deep.Pointer())
	}
	if line, column := jsontext.Position([]byte(text), deep.At); line != 2 || column != 16 {
		t.Errorf("%d:%d", line, column)
	}
	for i, want := range map[int]string{0: "x", 1: `\u00fc`, 3: `\n`, 4: `\ud83c`, 8: "z", 9: `"`} {
		if at := deep.Within([]byte(text), i); text[at:at+len(want)] != want {
			t.Errorf("byte %d stands at %q, want %q", i, text[at:], want)
		}
	}
	if root.Get("nothing").Get("at all") != nil {
		t.Error("what is not there has members")
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:            `offset 0: expected a JSON value (an object, array, string, number, true, false or null), found the end of the text`,
		`{"a":1,}`:    `offset 7: expected a member's name in double quotes behind the comma, found "}"`,
		`{"a" 1}`:     `offset 5: expected ':' behind the name "a", found "1"`,
		`[1 2]`:       `offset 3: expected ',' or ']' behind the array's element, found "2"`,
		`01`:          `offset 0: expected a number without leading zeros, found "01"`,
		`"a`:          `offset 0: expected a closing '"' for the string that begins here, found the end of the text`,
		`"\x"`:        `offset 1: expected an escape sequence (\" \\ \/ \b \f \n \r \t or \u with four hex digits), found \x`,
		"\"\xff\"":    `offset 1: expected a string in UTF-8, found other bytes`,
		`nulll`:       `offset 0: expected a JSON value (an object, array, string, number, true, false or null), found "nulll"`,
		`1 x`:         `offset 2: expected nothing more behind the value, found "x"`,
		`[[[[1]]]]`:   `offset 3: objects and arrays nest deeper than they may`,
		"{\"a\":\n-}": `offset 7: expected a digit, found "}"`,
	} {
		_, err := jsontext.Parse([]byte(text), 2)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err := jsontext.Parse([]byte(`[[[[1]]]]`), 2)
	if broken, ok := errors.AsType[*jsontext.Error](err); !ok || !broken.Deep {
		t.Errorf("%v is not said to be too deep", err)
	}
}

// FuzzDecode compares Decode with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,"\u0000\ud800",null,{}],"a":true}`, `[`, `"\`, "\xff", ` 0 `, `1e`,
		`[[]]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := decode(text)
		if _, nodeErr := jsontext.Parse([]byte(text), 50); (nodeErr == nil) != (err == nil) {
			t.Fatalf("Decode: %v, Parse: %v", err, nodeErr)
		}
		want, theirs := standard(text)
		if broken, ok := errors.AsType[*jsontext.Error](err); ok && theirs == nil && !broken.Deep &&
			json.Valid([]byte(text)) && validUTF8(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && theirs != nil {
			t.Fatalf("%q is read, though %v", text, theirs)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", text, got, want)
		}
	})
}

// standard decodes with encoding/json.
func standard(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more behind the value")
	}
	return v, nil
}

func validUTF8(text string) bool {
	for _, r := range text {
		if r == '\uFFFD' {
			return false
		}
	}
	return true
}

func TestReaderAndWriter(t *testing.T) {
	t.Parallel()
	w := jsontext.NewWriter('j')
	w.Text("a", "x\n\"")
	w.Text("left out", "")
	w.Int("n", -3)
	w.True("t", true)
	w.Raw("raw", []byte(`{"b": [1, "]"]}`))
	w.List("l", 2, func(b []byte, i int) []byte { return jsontext.AppendString(b, string(rune('x'+i))) })
	const want = `j{"a":"x\n\"","n":-3,"t":true,"raw":{"b": [1, "]"]},"l":["x","y"]}`
	text := w.Bytes()
	if string(text) != want {
		t.Fatalf("%s, want %s", text, want)
	}
	r := jsontext.NewReader(text[1:])
	var seen []string
	err := r.Members(func(name string) error {
		seen = append(seen, name+"="+string(r.Skip()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{`a="x\n\""`, `n=-3`, `t=true`, `raw={"b": [1, "]"]}`, `l=["x","y"]`}; !reflect.DeepEqual(seen,
		got) {
		t.Errorf("%q, want %q", seen, got)
	}
}

// TestOrderedMap builds objects of few and of many members, and reads them.
func TestOrderedMap(t *testing.T) {
	t.Parallel()
	for _, members := range []int{0, 1, 8, 9, 100} {
		o := jsontext.NewOrderedMap(0)
		for i := range members {
			o.Set(strconv.Itoa(members-i), i)
		}
		for i := range members { // again, at the same places
			o.Set(strconv.Itoa(members-i), -i)
		}
		text, err := json.Marshal(o.With("new", nil))
		if err != nil {
			t.Fatal(err)
		}
		tree, err := jsontext.DecodeOrdered(text, 2, func(literal string) any { return json.Number(literal) })
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(tree)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s is read as %s, %v", text, again, err)
		}
		i := 0
		for name, value := range o.All() {
			if got, ok := o.Get(name); name != strconv.Itoa(members-i) || value != -i || got != -i || !ok {
				t.Errorf("member %d of %d is %s: %v; Get %v, %v", i, members, name, value, got, ok)
			}
			i++
		}
		if _, ok := o.Get("new"); ok || i != members || o.Len() != members || len(o.Names()) != members {
			t.Errorf("%d members became %d, or a copy changed them", members, o.Len())
		}
	}
	var none *jsontext.OrderedMap
	if _, ok := none.Get("a"); ok || none.Len() != 0 || len(none.Names()) != 0 {
		t.Error("nil has members")
	}
}
