package jsontext

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// Stream writes a value as [json.Encoder] does that escapes nothing for HTML, but without the line break, and without
// holding all of the text: it writes each element of a list that is a member of the value in a call of its own.
func Stream(w io.Writer, value any) error {
	s := &stream{w: w}
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer && !v.IsNil() && !marshals(v.Type()) {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || !hasList(v.Type()) {
		s.value(value)
		return s.err
	}
	before := "{"
	for field, member := range v.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if isLeftOut(member, options) {
			continue
		}
		s.put([]byte(before))
		s.put(append(AppendString(nil, name), ':'))
		if s.member(member); s.err != nil {
			return s.err
		}
		before = ","
	}
	if before == "{" {
		s.put([]byte(before))
	}
	s.put([]byte("}"))
	return s.err
}

// StreamSmall returns the text that [Stream] writes if it has at most some bytes. Otherwise, ok is false.
func StreamSmall(value any, most int) (text []byte, ok bool, err error) {
	b := &boundedText{most: most}
	if err = Stream(b, value); b.over {
		return nil, false, nil
	}
	return b.Bytes(), true, err
}

// hasList reports whether a struct has a list as a member, and nothing for which package json has rules that Stream
// does not know.
func hasList(t reflect.Type) bool {
	found := false
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous || !field.IsExported() || name == "" || name == "-" || strings.Contains(options, "string") {
			return false
		}
		found = found || isList(field.Type)
	}
	return found && !marshals(t)
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !marshals(t)
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func marshals(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// isLeftOut reports whether a member is left out by the options of its tag.
func isLeftOut(v reflect.Value, options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitzero":
			if zero, is := reflect.TypeAssert[interface{ IsZero() bool }](v); is && zero.IsZero() || !is && v.IsZero() {
				return true
			}
		case "omitempty":
			switch v.Kind() { // package json keeps the others
			case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
				return v.Len() == 0
			case reflect.Struct:
			default:
				return v.IsZero()
			}
		}
	}
	return false
}

type stream struct {
	w    io.Writer
	text bytes.Buffer // of one value
	err  error
}

func (s *stream) put(text []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(text)
	}
}

// member writes the value of a member.
func (s *stream) member(v reflect.Value) {
	if !isList(v.Type()) || v.IsNil() {
		s.value(v.Interface())
		return
	}
	s.put([]byte("["))
	for i := range v.Len() {
		if i > 0 {
			s.put([]byte(","))
		}
		s.value(v.Index(i).Interface())
	}
	s.put([]byte("]"))
}

// value writes a value that is not divided. Raw text was written by Ebb, and needs no check.
func (s *stream) value(value any) {
	if raw, is := value.(json.RawMessage); is && raw != nil {
		s.put(raw)
		return
	}
	s.text.Reset()
	e := json.NewEncoder(&s.text)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil && s.err == nil {
		s.err = err
	}
	s.put(bytes.TrimSuffix(s.text.Bytes(), []byte("\n")))
}

// boundedText keeps a text of up to most bytes.
type boundedText struct {
	bytes.Buffer

	most int
	over bool
}

// Write implements [io.Writer].
func (b *boundedText) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		b.over = true
		return 0, io.ErrShortBuffer
	}
	return b.Buffer.Write(p)
}
