package cloudevents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ebbflow/ebb/atom"
)

// LetterKind is the kind of the letters that bring events.
const LetterKind = "event"

// An Event is a CloudEvent in its JSON form, as letters carry it: its attributes
// are members whose names are in lower case, its data is under "data", or under
// "data_base64" when it is no JSON and no text.
type Event map[string]json.RawMessage

// ErrInvalid is wrapped by the errors for what is no CloudEvent.
var ErrInvalid = errors.New("cloudevents: no event of CloudEvents 1.0")

// required are the attributes that every event has.
var required = []string{"specversion", "id", "source", "type"}

// Parse reads an event in its JSON form. Names of attributes come out in lower
// case. The error wraps [ErrInvalid] and says what is missing or wrong.
func Parse(text []byte) (Event, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	e := Event{}
	for name, value := range members {
		lower := strings.ToLower(name)
		if e[lower] != nil {
			return nil, fmt.Errorf("%w: it has %s twice", ErrInvalid, lower)
		}
		e[lower] = value
	}
	return e, e.check()
}

// ParseBatch reads an array of events.
func ParseBatch(text []byte) ([]Event, error) {
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%w: a batch is an array: %w", ErrInvalid, err)
	}
	events := make([]Event, len(all))
	for i, one := range all {
		var err error
		if events[i], err = Parse(one); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	return events, nil
}

func (e Event) check() error {
	for name, value := range e {
		switch {
		case name == "data":
			continue
		case name == "" || name != "data_base64" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "":
			return fmt.Errorf("%w: %.40q is no name of an attribute: letters and digits are", ErrInvalid, name)
		case len(value) > 0 && (value[0] == '{' || value[0] == '['):
			return fmt.Errorf("%w: the attribute %s must be a text, a number or a boolean", ErrInvalid, name)
		}
	}
	for _, name := range required {
		if e.Attribute(name) == "" {
			return fmt.Errorf("%w: %s must be there, and a text that is not empty", ErrInvalid, name)
		}
	}
	if v := e.Attribute("specversion"); v != "1.0" {
		return fmt.Errorf("%w: its specversion is %.20q; 1.0 is known", ErrInvalid, v)
	}
	if size := len(e.Body()); size > atom.MaxValue {
		return fmt.Errorf("%w: it has %d bytes; %d is the most", ErrInvalid, size, atom.MaxValue)
	}
	return nil
}

// Attribute returns an attribute that is a text, "" when it is not there or none.
func (e Event) Attribute(name string) string {
	var text string
	if json.Unmarshal(e[name], &text) != nil {
		return ""
	}
	return text
}

// Body returns the event as letters carry it.
func (e Event) Body() atom.Value {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil // its members were parsed
	}
	return atom.FromJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// core are the attributes that are no extensions, and the members that are data.
var core = map[string]bool{
	"specversion": true, "id": true, "source": true, "type": true, "subject": true, "time": true,
	"datacontenttype": true, "dataschema": true, "data": true, "data_base64": true,
}
