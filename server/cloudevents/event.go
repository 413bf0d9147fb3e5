package cloudevents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// MessageKind is the kind of the messages that bring events.
const MessageKind = "event"

// The limits of what events may be.
const (
	MaxBatch      = 1000 // events in a batch
	MaxAttributes = 64   // attributes of an event
	MaxName       = 64   // bytes of an attribute's name; the specification recommends 20
	MaxAttribute  = 4096 // bytes of an attribute's value
	MaxNesting    = 500  // how deep the arrays and objects of an event may nest
)

// An Event is a CloudEvent in its JSON form, as messages carry it: its attributes
// are members whose names are in lower case, its data is under "data", or under
// "data_base64" when it is no JSON and no text.
type Event map[string]json.RawMessage

// ErrInvalid is wrapped by the errors for an invalid CloudEvent. They name the invalid
// attribute and the reason.
var ErrInvalid = errors.New("cloudevents: not a valid event")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// Parse reads an event in the JSON format of CloudEvents 1.0.2. The error wraps
// [ErrInvalid]. The event refers to text, which must not change afterwards.
func Parse(text []byte) (Event, error) {
	if err := checkJSON(text, MaxNesting); err != nil {
		return nil, err
	}
	e, err := decode(text)
	if err != nil {
		return nil, err
	}
	return e, e.check()
}

// ParseBatch reads an array of up to [MaxBatch] events, as [Parse] reads each.
func ParseBatch(text []byte) ([]Event, error) {
	if err := checkJSON(text, MaxNesting+1); err != nil {
		return nil, err
	}
	events, r := []Event{}, jsontext.NewReader(text)
	err := r.Elements(func() error {
		if len(events) == MaxBatch {
			return invalid("a batch has at most %d events: send several batches", MaxBatch)
		}
		e, err := decode(r.Skip())
		if err == nil {
			err = e.check()
		}
		if err != nil {
			return fmt.Errorf("event %d of the batch: %w", len(events), err)
		}
		events = append(events, e)
		return nil
	})
	if err != nil && !errors.Is(err, ErrInvalid) {
		return nil, invalid("a batch is an array: %w", err)
	}
	return events, err
}

// checkJSON returns an error for a text that is not JSON, or nests deeper than that.
// It looks at each byte a few times, and builds nothing.
func checkJSON(text []byte, nesting int) error {
	if !utf8.Valid(text) {
		return invalid("the text is not UTF-8")
	}
	if !json.Valid(text) {
		var none json.RawMessage
		return invalid("the text is not JSON: %w", json.Unmarshal(text, &none))
	}
	if jsontext.Depth(text) > nesting {
		return invalid("arrays and objects nest at most %d deep", nesting)
	}
	return nil
}

// decode returns the members of an object of JSON. An attribute that is null is not
// there, as the specification has it.
func decode(text []byte) (Event, error) {
	e, r := Event{}, jsontext.NewReader(text)
	err := r.Members(func(name string) error {
		value := r.Skip()
		if _, twice := e[name]; twice {
			return invalid("the attribute %.40q is there twice", name)
		}
		if name != "data" && string(value) == "null" {
			return nil
		}
		if len(e) > MaxAttributes+1 { // with the data
			return invalid("an event has at most %d attributes", MaxAttributes)
		}
		e[name] = value
		return nil
	})
	if err != nil && !errors.Is(err, ErrInvalid) {
		return nil, invalid("an event is an object: %w", err)
	}
	return e, err
}

// check returns an error for what CloudEvents 1.0.2 does not allow, or Ebb does not
// take.
func (e Event) check() error {
	data := 0
	for _, name := range slices.Sorted(maps.Keys(e)) {
		switch name {
		case "data":
			data++
		case "data_base64":
			data++
			if !isBase64(e[name]) {
				return invalid("data_base64 must be a string of base64")
			}
		default:
			if err := checkAttribute(name, e[name]); err != nil {
				return err
			}
		}
	}
	if data == 2 {
		return invalid("an event has data or data_base64, not both")
	}
	if len(e)-data > MaxAttributes {
		return invalid("an event has at most %d attributes, found %d", MaxAttributes, len(e)-data)
	}
	for _, name := range required {
		if e[name] == nil {
			return invalid("the attribute %s is missing", name)
		}
	}
	if e.mayBeLong() {
		if size := len(e.Body()); size > atom.MaxValue {
			return invalid("the event has %d bytes as JSON; %d is the most", size, atom.MaxValue)
		}
	}
	return nil
}

// mayBeLong reports whether the event may be too long as JSON. It spares most events
// that no run waits for from being encoded.
func (e Event) mayBeLong() bool {
	size := len("{}")
	for name, value := range e {
		size += len(name) + len(value) + len(`"":,`)
	}
	return size > atom.MaxValue
}

// Attribute returns an attribute that is a text, "" when it is not there or none.
func (e Event) Attribute(name string) string {
	var text string
	if json.Unmarshal(e[name], &text) != nil {
		return ""
	}
	return text
}

// Body returns the event as messages carry it.
func (e Event) Body() atom.Value {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil // its members were parsed
	}
	return atom.FromJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
