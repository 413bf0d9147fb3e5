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

// Limits of an event.
const (
	//limit:cloudevents events in a batch | {} | 400
	maxBatch = 1000
	//limit:cloudevents attributes; name; value of each | {}; {maxName B}; {maxAttribute B} | 400
	maxAttributes = 64
	maxName       = 64   // bytes of an attribute's name; the specification recommends 20
	maxAttribute  = 4096 // bytes of an attribute's value
	//limit:cloudevents nesting of an event's data | {} | 400
	maxNesting = 500
)

// An Event is a CloudEvent in its JSON form: its attributes are members with lower-case names. Its data is the
// member "data", or "data_base64" if it is neither JSON nor text.
type Event map[string]json.RawMessage

// ErrInvalid is wrapped by the errors for an invalid CloudEvent. They name the attribute and the reason.
var ErrInvalid = errors.New("cloudevents: not a valid event")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, fmt.Errorf(format, args...))
}

// Parse decodes an event in the JSON format of CloudEvents 1.0.2. If the event is not valid, the error wraps
// [ErrInvalid]. The event refers to text, which must not change afterwards.
func Parse(text []byte) (Event, error) {
	if err := checkJSON(text, maxNesting); err != nil {
		return nil, err
	}
	e, err := decode(text)
	if err != nil {
		return nil, err
	}
	return e, e.check()
}

// parseBatch decodes an array of up to maxBatch events.
func parseBatch(text []byte) ([]Event, error) {
	if err := checkJSON(text, maxNesting+1); err != nil {
		return nil, err
	}
	events, r := []Event{}, jsontext.NewReader(text)
	err := r.Elements(func() error {
		if len(events) == maxBatch {
			return invalid("a batch has at most %d events: send several batches", maxBatch)
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

// checkJSON returns an error if a text is not JSON, or nests deeper than nesting. It allocates nothing.
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

// decode returns the members of a JSON object. It leaves out null members, as the specification requires.
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
		if len(e) > maxAttributes+1 { // including the data
			return invalid("an event has at most %d attributes", maxAttributes)
		}
		e[name] = value
		return nil
	})
	if err != nil && !errors.Is(err, ErrInvalid) {
		return nil, invalid("an event is an object: %w", err)
	}
	return e, err
}

// check returns an error for an event that CloudEvents 1.0.2 does not allow, or that exceeds Ebb's limits.
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
	if len(e)-data > maxAttributes {
		return invalid("an event has at most %d attributes, found %d", maxAttributes, len(e)-data)
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

// mayBeLong reports whether the event may exceed the size limit as JSON. Most events then need not be encoded to
// find out.
func (e Event) mayBeLong() bool {
	size := len("{}")
	for name, value := range e {
		size += len(name) + len(value) + len(`"":,`)
	}
	return size > atom.MaxValue
}

// Attribute returns the value of a text attribute; "" if it is missing or not a text.
func (e Event) Attribute(name string) string {
	var text string
	if json.Unmarshal(e[name], &text) != nil {
		return ""
	}
	return text
}

// Body returns the event as the body of a message.
//
//limit:cloudevents event | 1 MiB | 413
func (e Event) Body() atom.Value {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil // cannot fail, because the members were parsed
	}
	return atom.FromJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
