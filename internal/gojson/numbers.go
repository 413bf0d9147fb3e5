package gojson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Unmarshal decodes as [json.Unmarshal] does. A number that an interface is to hold becomes a float64, as usual. If a
// float64 would change an integer, it becomes a [json.Number].
func Unmarshal(text []byte, into any) error {
	t := reflect.TypeOf(into)
	if t == nil || t.Kind() != reflect.Pointer || !hasLongNumber(text) || !traitsOf(t.Elem()).holds {
		return json.Unmarshal(text, into)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return json.Unmarshal(text, into) // which says what follows the value
	}
	floats(reflect.ValueOf(into).Elem())
	return nil
}

// exactDigits is the number of digits that each float64 can hold.
const exactDigits = 15

// hasLongNumber reports whether a JSON text may contain a number of more than exactDigits digits.
func hasLongNumber(text []byte) bool {
	digits := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			digits = 0
		case c >= '0' && c <= '9':
			if digits++; digits > exactDigits {
				return true
			}
		default:
			digits = 0
		}
	}
	return false
}

// floats replaces the numbers in interfaces by float64, unless that would change an integer.
func floats(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(reflect.ValueOf(plain(v.Interface())))
		}
	case reflect.Pointer:
		if !v.IsNil() && traitsOf(v.Type().Elem()).holds {
			floats(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if !traitsOf(v.Type()).holds {
			return
		}
		for i := range v.Len() {
			floats(v.Index(i))
		}
	case reflect.Map:
		if !traitsOf(v.Type()).holds {
			return
		}
		for key, val := range v.Seq2() {
			c := reflect.New(val.Type()).Elem()
			c.Set(val)
			floats(c)
			v.SetMapIndex(key, c)
		}
	case reflect.Struct:
		if hasOwn(v.Type()) || !traitsOf(v.Type()).holds {
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() || v.Type().Field(i).Anonymous && f.Kind() == reflect.Struct {
				floats(f)
			}
		}
	default:
	}
}

// plain returns a decoded value with its numbers as floats does.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil && keeps(v.String(), f) {
			return f
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	default:
	}
	return v
}

// keeps reports whether a float64 is encoded as the text of the number. Numbers with a fraction or an exponent were
// floats.
func keeps(text string, f float64) bool {
	return strings.ContainsAny(text, ".eE") || strconv.FormatFloat(f, 'f', -1, 64) == text
}
