package gojson_test

import (
	"encoding"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/ebbflow/ebb/internal/gojson"
)

type (
	textOnly   struct{ A int }
	jsonOnly   struct{ A int }
	both       struct{ A int }
	textKey    struct{ A int }
	inner      struct{ A int }
	loop       struct{ Next *loop }
	withInner  struct{ *inner }
	level      string
	badFields  struct{ When map[string][]*textOnly }
	goodFields struct {
		Any   any
		Time  *time.Time
		Raw   json.RawMessage
		Loop  []loop
		Not   io.Reader `json:"-"`
		hides error
	}
)

func (textOnly) MarshalText() ([]byte, error) { return []byte("x"), nil }
func (textKey) MarshalText() ([]byte, error)  { return []byte("x"), nil }
func (level) MarshalText() ([]byte, error)    { return []byte("x"), nil }
func (jsonOnly) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (both) MarshalJSON() ([]byte, error)     { return []byte(`"x"`), nil }
func (*both) UnmarshalJSON([]byte) error      { return nil }

var _ encoding.TextMarshaler = textKey{}

func TestUndecodable(t *testing.T) {
	t.Parallel()
	_ = goodFields{hides: nil}
	for want, typ := range map[string]reflect.Type{
		"": reflect.TypeFor[goodFields](),
		"gojson_test.textOnly, which has MarshalText and no UnmarshalText, in the field When":          reflect.TypeFor[badFields](),
		"gojson_test.jsonOnly, which has MarshalJSON and no UnmarshalJSON":                             reflect.TypeFor[[2]jsonOnly](),
		"gojson_test.level, which has MarshalText and no UnmarshalText":                                reflect.TypeFor[level](),
		"a map with keys of type gojson_test.textKey":                                                  reflect.TypeFor[map[textKey]int](),
		"error, which is an interface with methods, in the field Err":                                  reflect.TypeFor[struct{ Err error }](),
		"*gojson_test.inner, which is an embedded pointer to an unexported struct, in the field inner": reflect.TypeFor[withInner](),
	} {
		if got := gojson.Undecodable(typ); got != want {
			t.Errorf("of %v JSON cannot decode %q; want %q", typ, got, want)
		}
	}
	if !gojson.Custom(reflect.TypeFor[[]both]()) || gojson.Custom(reflect.TypeFor[goodFields]()) {
		t.Error("only a type of the program's own needs a look at its values")
	}
}

// TestNumbers decodes numbers into interfaces. Each is the number that was encoded, and a float64 where it always was.
func TestNumbers(t *testing.T) {
	t.Parallel()
	const long = int64(1<<53 + 1)
	for _, number := range []any{
		long, -long, int64(math.MaxInt64), int64(math.MinInt64), uint64(math.MaxUint64), int64(1 << 60), 1e20, 1.7e308, 0.1, 7,
		123456789012345678901.0, float32(0.1), math.Pi,
	} {
		text, err := json.Marshal(map[string]any{"n": []any{map[string]any{"x": number}}, "s": "99999999999999999999"})
		if err != nil {
			t.Fatal(err)
		}
		var into struct {
			N any                `json:"n"`
			S any                `json:"s"`
			M map[string]any     `json:"m"`
			P *struct{ Any any } `json:"p"`
		}
		if err := gojson.Unmarshal(text, &into); err != nil {
			t.Fatal(err)
		}
		decoded := into.N.([]any)[0].(map[string]any)["x"] // a panic fails the test, too
		want, _ := json.Marshal(number)
		if got, err := json.Marshal(decoded); err != nil || string(got) != string(want) {
			t.Errorf("%s became %s (%T), %v", want, got, decoded, err)
		}
		if _, isFloat := number.(float64); isFloat && reflect.TypeOf(decoded) != reflect.TypeFor[float64]() {
			t.Errorf("the float %s became a %T", want, decoded)
		}
	}
	var v any
	for _, text := range []string{``, `{`, `12345678901234567890 1`, `[12345678901234567890]]`} {
		if got, want := gojson.Unmarshal([]byte(text), &v), json.Unmarshal([]byte(text), new(any)); (got == nil) != (want == nil) {
			t.Errorf("%q: got %v; want %v", text, got, want)
		}
	}
}

func TestCheckText(t *testing.T) {
	t.Parallel()
	const bad = "a\xffb"
	for _, c := range []struct {
		v    any
		want string
	}{
		{struct{ A []string }{[]string{"x", bad}}, "the string in the field A in element 1 is not valid UTF-8; use []byte for other bytes"},
		{map[string]int{bad: 1}, "the string that is a key is not valid UTF-8; use []byte for other bytes"},
		{[]any{&bad2}, "the string in element 0 is not valid UTF-8; use []byte for other bytes"},
		{json.RawMessage("\"" + bad + "\""), "a json.RawMessage in it is not valid UTF-8"},
		{"\uFFFD", ""},
		{`\ufffd`, ""},
		{json.RawMessage(`"\ufffd"`), ""},
		{[]byte(bad), ""},
	} {
		text, err := json.Marshal(c.v)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := gojson.CheckText(c.v, text); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: got %q; want %q", text, got, c.want)
		}
	}
}

var bad2 = "\xfe"
