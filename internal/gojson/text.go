package gojson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

var replaced = []byte(`\ufffd`)

// CheckText returns an error if JSON does not keep a text of the value v as it is: the encoder replaces bytes that are
// not UTF-8, and passes them on in a [json.RawMessage].
func CheckText(v any, encoded []byte) error {
	if !utf8.Valid(encoded) {
		return errors.New("a json.RawMessage in it is not valid UTF-8")
	}
	if !bytes.Contains(encoded, replaced) {
		return nil
	}
	if path, is := invalid(reflect.ValueOf(v), ""); is {
		return fmt.Errorf("the string %sis not valid UTF-8; use []byte for other bytes", path)
	}
	return nil
}

// invalid returns where in a value a string is not valid UTF-8.
func invalid(v reflect.Value, at string) (string, bool) {
	if !v.IsValid() {
		return "", false
	}
	if v.CanInterface() {
		switch own := v.Interface().(type) {
		case json.Marshaler:
			return "", false
		case encoding.TextMarshaler:
			if v.Kind() == reflect.Pointer && v.IsNil() {
				return "", false
			}
			text, err := own.MarshalText()
			return at, err == nil && !utf8.Valid(text)
		}
	}
	switch v.Kind() {
	case reflect.String:
		return at, !utf8.ValidString(v.String())
	case reflect.Interface, reflect.Pointer:
		return invalid(v.Elem(), at)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if path, is := invalid(v.Index(i), fmt.Sprintf("%sin element %d ", at, i)); is {
				return path, true
			}
		}
	case reflect.Map:
		for key, val := range v.Seq2() {
			if path, is := invalid(key, at+"that is a key "); is {
				return path, true
			}
			if path, is := invalid(val, fmt.Sprintf("%sunder the key %q ", at, fmt.Sprint(key))); is {
				return path, true
			}
		}
	case reflect.Struct:
		for f := range encodedFields(v.Type()) {
			if path, is := invalid(v.FieldByIndex(f.Index), at+"in the field "+f.Name+" "); is {
				return path, true
			}
		}
	default:
	}
	return "", false
}
