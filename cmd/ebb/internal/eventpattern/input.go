package eventpattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// An Input says what a target receives of an event: a constant text, a part of the event, a template, or else the
// event.
type Input struct {
	Text     string            // JSON
	Path     string            // of the part, such as $.detail
	Paths    map[string]string // of the values for the template, by their names
	Template string
}

var (
	pathRule = regexp.MustCompile(`^\$(\.[A-Za-z0-9_-]+)*$`)
	nameRule = regexp.MustCompile(`<([A-Za-z0-9_.-]+)>`)
)

// Check returns an error for an input that cannot be expressed.
func (in *Input) Check() error {
	paths := []string{in.Path}
	for _, path := range in.Paths {
		paths = append(paths, path)
	}
	for _, path := range paths {
		if path != "" && !pathRule.MatchString(path) {
			return fmt.Errorf("the path %s is not supported: want one such as $.detail.id", path)
		}
	}
	if in.Text != "" && !json.Valid([]byte(in.Text)) {
		return errors.New("the input is not JSON")
	}
	return nil
}

// Of returns the input of a target for an event, as JSON.
func (in *Input) Of(event any) (json.RawMessage, error) {
	switch {
	case in.Text != "":
		return json.RawMessage(in.Text), nil
	case in.Template != "":
		return in.filled(event)
	}
	return json.Marshal(part(event, in.Path))
}

// filled returns the template with its values: within quotes as they are, else as JSON.
func (in *Input) filled(event any) (json.RawMessage, error) {
	var b strings.Builder
	end, quoted := 0, false
	for _, at := range nameRule.FindAllStringSubmatchIndex(in.Template, -1) {
		before := in.Template[end:at[0]]
		if (strings.Count(before, `"`)-strings.Count(before, `\"`))%2 == 1 {
			quoted = !quoted
		}
		b.WriteString(before)
		end = at[1]
		value, err := json.Marshal(part(event, in.Paths[in.Template[at[2]:at[3]]]))
		if err != nil {
			return nil, err
		}
		if quoted {
			value = []byte(strings.TrimSuffix(strings.TrimPrefix(string(value), `"`), `"`))
		}
		b.Write(value)
	}
	b.WriteString(in.Template[end:])
	if text := b.String(); json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	return json.Marshal(b.String())
}

// part returns the part of an event at a path; nil if there is none.
func part(event any, path string) any {
	for _, name := range strings.Split(path, ".")[1:] {
		object, _ := event.(map[string]any)
		event = object[name]
	}
	return event
}
