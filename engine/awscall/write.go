package awscall

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// A writer writes the body of a request.
type writer struct {
	*action

	token string     // for parameters that make a request idempotent
	form  url.Values // of the query protocol
}

// named has parameters that make a request idempotent, although the models do not say so.
var named = map[string]string{"sfn:startExecution": "name"}

func (w *writer) body(parameters any) ([]byte, error) {
	object, ok := parameters.(map[string]any)
	if !ok {
		return nil, errors.New("they must be an object")
	}
	value := any(map[string]any{})
	if w.input != nil {
		var err error
		if value, err = w.object(w.input, object); err != nil {
			return nil, err
		}
	} else if len(object) > 0 {
		return nil, unsupported(slices.Sorted(maps.Keys(object))[0])
	}
	if name, ok := named[w.service+":"+w.action.action]; ok {
		if all, _ := value.(map[string]any); all[name] == nil {
			all[name] = w.token
		}
	}
	if w.of.protocol == "query" {
		w.form = url.Values{"Action": {upperFirst(w.action.action)}, "Version": {w.of.version}}
		w.flatten(w.input, "", "", value)
		return []byte(w.form.Encode()), nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

func unsupported(name string) error {
	return fmt.Errorf("The field %q is not supported by Step Functions", name) //nolint:staticcheck // AWS's words
}

// value returns a value as the service takes it, by the names of the model.
func (w *writer) value(s *shape, name string, value any) (any, error) {
	if s = w.of.named(s); s == nil || value == nil {
		return value, nil
	}
	switch s.kind {
	case '{', '<':
		object, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("The value of the field %q must be an object", name) //nolint:staticcheck // beside AWS's
		}
		if s.kind == '{' {
			return w.object(s, object)
		}
		all := make(map[string]any, len(object))
		for key, each := range object {
			var err error
			if all[key], err = w.value(s.of, key, each); err != nil {
				return nil, err
			}
		}
		return all, nil
	case '[':
		list, ok := value.([]any)
		if !ok {
			return nil, fmt.Errorf("The value of the field %q must be an array", name) //nolint:staticcheck // beside AWS's
		}
		all := make([]any, len(list))
		for i, each := range list {
			var err error
			if all[i], err = w.value(s.of, name, each); err != nil {
				return nil, err
			}
		}
		return all, nil
	case 's', 'k':
		return text(value)
	case 'x':
		return w.bytes(value)
	case 't', 'i', 'u':
		return w.time(s.kind, name, value)
	default:
		return value, nil
	}
}

// object returns the members of an object that has a shape. It leaves out those that are null.
func (w *writer) object(s *shape, object map[string]any) (any, error) {
	out := make(map[string]any, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		f := s.field(name)
		if f == nil {
			return nil, unsupported(name)
		}
		value, err := w.value(f.shape, name, object[name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			out[f.name] = value
		}
	}
	for i := range s.fields {
		if f := &s.fields[i]; f.shape.kind == 'k' && out[f.name] == nil && s == w.input {
			out[f.name] = w.token
		}
	}
	return out, nil
}

// field returns the field with a name, as an integration or the model writes it; nil if there is none.
func (s *shape) field(name string) *field {
	for i := range s.fields {
		if f := &s.fields[i]; f.sdk == name || f.name == name || upperFirst(f.name) == name {
			return f
		}
	}
	return nil
}

// text returns the text of a value: other values than texts become JSON.
func text(value any) (string, error) {
	if s, ok := value.(string); ok {
		return s, nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))), err
}

// bytes returns the bytes of a value: in SDK integrations they are the text itself, otherwise the text is Base64.
func (w *writer) bytes(value any) (string, error) {
	s, err := text(value)
	if w.sdk {
		s = base64.StdEncoding.EncodeToString([]byte(s))
	}
	return s, err
}

// time returns a value for a time.
func (w *writer) time(kind byte, name string, value any) (any, error) {
	s, ok := value.(string)
	if !ok {
		return value, nil
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		//nolint:staticcheck // beside AWS's
		return nil, fmt.Errorf("The value of the field %q must be a time such as 2025-01-31T12:00:00Z", name)
	}
	if kind == 'i' || kind == 't' && w.of.protocol == "query" {
		return at.UTC().Format(time.RFC3339Nano), nil
	}
	return json.Number(strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', -1, 64)), nil //nolint:mnd // ms in a second
}

// flatten adds a value to the form. name is the value's place, and parent the place of its container.
func (w *writer) flatten(s *shape, parent, name string, value any) {
	if s = w.of.named(s); s == nil {
		return
	}
	at := joined(parent, name)
	switch v := value.(type) {
	case map[string]any:
		if s.kind == '{' {
			for i := range s.fields {
				if f := &s.fields[i]; v[f.name] != nil {
					w.flatten(f.shape, at, f.wire, v[f.name])
				}
			}
			return
		}
		if !s.flattened {
			at += ".entry"
		}
		for i, key := range slices.Sorted(maps.Keys(v)) {
			entry := at + "." + strconv.Itoa(i+1)
			w.form.Set(entry+"."+orElse(s.key, "key"), key)
			w.flatten(s.of, entry, orElse(s.item, "value"), v[key])
		}
	case []any:
		switch {
		case !s.flattened:
			at += "." + orElse(s.item, "member")
		case s.item != "":
			at = joined(parent, s.item)
		}
		for i, each := range v {
			w.flatten(s.of, at, strconv.Itoa(i+1), each)
		}
	case nil:
	case string:
		w.form.Set(at, v)
	default:
		w.form.Set(at, fmt.Sprint(v)) // a number, true or false
	}
}

func joined(parent, name string) string {
	if parent == "" || name == "" {
		return parent + name
	}
	return parent + "." + name
}

func orElse(name, usual string) string {
	if name == "" {
		return usual
	}
	return name
}
