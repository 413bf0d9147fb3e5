package jsonschema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A Field is a member of the JSON object of a struct.
type Field struct {
	Name     string       // name of the member
	Type     reflect.Type // type of its value
	Optional bool         // the field is a pointer, or has omitempty or omitzero
	quoted   bool         // the value is in a string, by the option "string"
	tagged   bool         // the name is from a tag
	depth    int          // in how many embedded structs it stands
}

// Fields returns the members of the JSON of a struct in the order of the fields, and whether t is a struct that is
// encoded as an object of its fields. As in encoding/json, the outermost of several fields with one name counts, then
// the one with a tag. If there is no single such field, none counts.
func Fields(t reflect.Type) ([]Field, bool) {
	if t.Kind() != reflect.Struct || HasOwnEncoding(t) {
		return nil, false
	}
	return fields(t), true
}

func fields(t reflect.Type) []Field {
	all := allFields(t, 0, nil)
	return slices.DeleteFunc(slices.Clone(all), func(f Field) bool {
		return slices.ContainsFunc(all, func(other Field) bool { return other.hides(&f) }) ||
			countFunc(all, func(other Field) bool { return other.Name == f.Name && !f.hides(&other) }) > 1
	})
}

// hides reports whether encoding/json takes f and not other.
func (f *Field) hides(other *Field) bool {
	return f.Name == other.Name && (f.depth < other.depth || f.depth == other.depth && f.tagged && !other.tagged)
}

func countFunc(all []Field, is func(Field) bool) (n int) {
	for _, f := range all {
		if is(f) {
			n++
		}
	}
	return n
}

// allFields returns the encoded fields of t and of the structs embedded in it. within are the types around t, so that a
// type that embeds itself ends.
func allFields(t reflect.Type, depth int, within []reflect.Type) []Field {
	var all []Field
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, opts, _ := strings.Cut(tag, ",")
		tagged := name != "" && !strings.ContainsFunc(name, notInName)
		if !tagged {
			name = f.Name
		}
		options := strings.Split(opts, ",")
		if f.Anonymous && !tagged {
			inner := pointee(f.Type)
			if inner.Kind() == reflect.Struct && !HasOwnEncoding(inner) {
				if inner != t && !slices.Contains(within, inner) {
					all = append(all, allFields(inner, depth+1, append(slices.Clip(within), t))...)
				}
				continue
			}
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		all = append(all, Field{
			Name: name, Type: f.Type, tagged: tagged, depth: depth,
			Optional: f.Type.Kind() == reflect.Pointer || slices.Contains(options, "omitempty") ||
				slices.Contains(options, "omitzero"),
			quoted: slices.Contains(options, "string") && isQuotable(f.Type),
		})
	}
	return all
}

// notInName reports whether encoding/json takes no name with that character from a tag.
func notInName(r rune) bool {
	return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.In(r, unicode.L, unicode.Nd)
}

// isQuotable reports whether the option "string" applies to a field of that type.
func isQuotable(t reflect.Type) bool {
	k := pointee(t).Kind()
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Float64
}

// pointee returns what a pointer points to, and another type as it is.
func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// HasOwnEncoding reports whether a type writes or reads its JSON itself.
func HasOwnEncoding(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]())
}
