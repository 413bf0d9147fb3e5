// Package gojson knows which Go types and values JSON keeps as they are. encoding/json encodes some that it cannot
// decode, and changes others silently.
package gojson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Undecodable names the part of a type that is encoded, and that JSON cannot decode again; "" if there is none.
func Undecodable(t reflect.Type) string { return undecodable(t, nil) }

func undecodable(t reflect.Type, within []reflect.Type) string {
	if slices.Contains(within, t) {
		return ""
	}
	within = append(slices.Clip(within), t)
	if hasOwn(t) {
		return halfEncoding(t)
	}
	switch t.Kind() {
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return t.String() + ", which is an interface with methods"
		}
	case reflect.Map:
		if key := t.Key(); key.Kind() == reflect.Interface || has[encoding.TextMarshaler](key) && halfEncoding(key) != "" {
			return "a map with keys of type " + key.String()
		}
		return undecodable(t.Elem(), within)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return undecodable(t.Elem(), within)
	case reflect.Struct:
		for f := range encodedFields(t) {
			part := undecodable(f.Type, within)
			if f.Anonymous && !f.IsExported() && f.Type.Kind() == reflect.Pointer {
				part = f.Type.String() + ", which is an embedded pointer to an unexported struct"
			}
			if part != "" {
				return part + ", in the field " + f.Name
			}
		}
	default:
	}
	return ""
}

// halfEncoding names a type that has only the encoding half of an encoding of its own.
func halfEncoding(t reflect.Type) string {
	switch {
	case has[json.Unmarshaler](t), has[encoding.TextUnmarshaler](t):
		return ""
	case has[json.Marshaler](t):
		return t.String() + ", which has MarshalJSON and no UnmarshalJSON"
	default:
		return t.String() + ", which has MarshalText and no UnmarshalText"
	}
}

// encodedFields yields the fields of a struct that JSON encodes.
func encodedFields(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for f := range t.Fields() {
			if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if !f.IsExported() && inner.Kind() != reflect.Struct {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// has reports whether values of the type, or pointers to them, have the methods.
func has[I any](t reflect.Type) bool {
	return t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

func hasOwn(t reflect.Type) bool {
	return has[json.Marshaler](t) || has[json.Unmarshaler](t) || has[encoding.TextMarshaler](t) ||
		has[encoding.TextUnmarshaler](t)
}

// traits are what is known of the values of a type.
type traits struct {
	custom bool // a part has an encoding of its own, which only a value can show to be right
	holds  bool // a part is an interface
}

var known sync.Map // of traits, by reflect.Type

func traitsOf(t reflect.Type) traits {
	if of, ok := known.Load(t); ok {
		return of.(traits) //nolint:forcetypeassert // no other type is stored
	}
	var of traits
	of.add(t, map[reflect.Type]bool{})
	known.Store(t, of)
	return of
}

// Custom reports whether only a value of the type can show that it is decoded as it was encoded.
func Custom(t reflect.Type) bool { return traitsOf(t).custom }

// proven are the packages whose encodings decode what they encode.
var proven = []string{
	"encoding/json", "log/slog", "math/big", "net", "net/netip", "time", "github.com/ebbflow/ebb/atom",
}

func (of *traits) add(t reflect.Type, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	if hasOwn(t) {
		known := func(p string) bool { return strings.HasPrefix(t.PkgPath()+"/", p+"/") }
		of.custom = of.custom || !slices.ContainsFunc(proven, known)
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		of.holds = true
	case reflect.Map:
		of.add(t.Key(), seen)
		of.add(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		of.add(t.Elem(), seen)
	case reflect.Struct:
		for f := range encodedFields(t) {
			of.add(f.Type, seen)
		}
	default:
	}
}
