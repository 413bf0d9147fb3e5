package jsonschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type Embedded struct {
	Both   int `json:"both"`
	Inner  string
	Tagged int
}

type other struct {
	Other bool
	Any   string `json:"Tagged"`
}

type nested struct {
	Embedded
	other
	Both  string            `json:"both,omitempty"`
	Dash  int               `json:"-,"` //nolint:staticcheck // a name that users may give
	Gone  int               `json:"-"`
	Bad   int               `json:"a\"b"` //nolint:staticcheck // a wrong tag
	Ptr   *map[int8]float32 `json:"ptr"`
	Quote *int16            `json:"quote,string"`
	Times []time.Time       `json:"times"`
	Any   any
	Text  json.RawMessage `json:"text,omitzero"`
	Bytes []byte
	Three [3]json.Number
	Self  []nested `json:"self,omitempty"`
}

// types draws Go types that a task may return.
func types() *rapid.Generator[reflect.Type] {
	leaf := rapid.SampledFrom([]reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](),
		reflect.TypeFor[uint16](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](),
		reflect.TypeFor[any](), reflect.TypeFor[[]byte](), reflect.TypeFor[[4]byte](), reflect.TypeFor[time.Time](),
		reflect.TypeFor[time.Duration](), reflect.TypeFor[json.Number](), reflect.TypeFor[json.RawMessage](),
		reflect.TypeFor[struct{}](), reflect.TypeFor[nested](), reflect.TypeFor[Embedded](),
	})
	var all *rapid.Generator[reflect.Type]
	all = rapid.Custom(func(t *rapid.T) reflect.Type {
		inner := func() reflect.Type {
			return rapid.Deferred(func() *rapid.Generator[reflect.Type] { return all }).Draw(t, "inner")
		}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			return reflect.SliceOf(inner())
		case 1:
			return reflect.ArrayOf(rapid.IntRange(0, 2).Draw(t, "len"), inner())
		case 2:
			return reflect.MapOf(rapid.SampledFrom([]reflect.Type{
				reflect.TypeFor[string](), reflect.TypeFor[int8](), reflect.TypeFor[uint](),
			}).Draw(t, "key"), inner())
		case 3:
			return reflect.PointerTo(inner())
		case 4, 5, 6:
			var list []reflect.StructField
			for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
				tag := rapid.SampledFrom([]string{"", "a", "A", "b,omitempty", "b", "é c", "n,string", "-", "-,", "x,omitzero"}).Draw(t, "tag")
				f := reflect.StructField{Name: "F" + strconv.Itoa(i), Type: inner()}
				if tag != "" {
					f.Tag = reflect.StructTag(`json:` + strconv.Quote(tag))
				}
				list = append(list, f)
			}
			return reflect.StructOf(list)
		default:
			return leaf.Draw(t, "leaf")
		}
	})
	return all
}

// texts draws JSON that fits the type, or nearly fits it.
func text(t *rapid.T, typ reflect.Type, depth int) string {
	anyText := func() string {
		return rapid.SampledFrom([]string{
			"null", "true", `""`, `"x"`, `"1"`, `"\"q\""`, `"true"`, "0", "-1", "1.0", "1e2", "300", "70000", "1e39", "1e400",
			"18446744073709551615", `"AQ=="`, "[]", "[1]", `[1,"x",null,2,3]`, "{}", `{"a":1}`, `{"1":1,"300":2}`,
			`"2026-01-31T12:00:00Z"`, `"2026-13-31"`,
		}).Draw(t, "text")
	}
	if depth > 5 || rapid.IntRange(0, 7).Draw(t, "other") == 0 {
		return anyText()
	}
	list := func(open, end string, n int, each func() string) string {
		out := open
		for i := range n {
			if i > 0 {
				out += ","
			}
			out += each()
		}
		return out + end
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return text(t, typ.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		return list("[", "]", rapid.IntRange(0, 3).Draw(t, "n"), func() string { return text(t, typ.Elem(), depth+1) })
	case reflect.Map:
		return list("{", "}", rapid.IntRange(0, 2).Draw(t, "n"), func() string {
			return rapid.SampledFrom([]string{`"a"`, `"1"`, `"-1"`, `"128"`}).Draw(t, "key") + ":" + text(t, typ.Elem(), depth+1)
		})
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() {
			return anyText()
		}
		var members []string
		for _, f := range fields(typ) {
			name := rapid.SampledFrom([]string{f.Name, f.Name, f.Name, f.Name, "A", "INNER", "unknown"}).Draw(t, "name")
			members = append(members, fmt.Sprintf("%q:%s", name, text(t, f.Type, depth+1)))
		}
		return list("{", "}", len(members), func() string { m := members[0]; members = members[1:]; return m })
	default:
		return anyText()
	}
}

// TestSchemaDecodes: a stored schema accepts a text exactly if the type of the program decodes it, and if it has the
// members that encoding/json always writes.
func TestSchemaDecodes(t *testing.T) {
	t.Parallel()
	counts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		typ := types().Draw(t, "type")
		of := OfResult(typ)
		stored, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		var s Schema
		if err := json.Unmarshal(stored, &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check([]byte(s.Example())); err != nil {
			t.Fatalf("%v: the example does not fit: %v", typ, err)
		}
		in := text(t, typ, 0)
		into := reflect.New(typ)
		decoded := json.Unmarshal([]byte(in), into.Interface())
		has := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(in), &has)
		for _, name := range of.Required {
			if has[name] == nil && decoded == nil {
				decoded = fmt.Errorf("lacks %s", name)
			}
		}
		checked := s.Check([]byte(in))
		if counts[checked == nil]++; (checked == nil) != (decoded == nil) {
			t.Fatalf("%v\nschema %s\n%s\ndecodes: %v\nchecked: %v", typ, stored, in, decoded, checked)
		}
		again, err := json.Marshal(into.Elem().Interface())
		decodes := func() bool { return json.Unmarshal(again, reflect.New(typ).Interface()) == nil }
		if decoded == nil && err == nil && decodes() && s.Check(again) != nil {
			t.Fatalf("%v encodes as %s, which is refused: %v", typ, again, s.Check(again))
		}
	})
	if least := (counts[true] + counts[false]) / 10; counts[true] < least || counts[false] < least {
		t.Errorf("accepted and refused: %v", counts)
	}
}
