package sm4c

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/jq"
)

// Messages of these kinds bring events to a machine.
const (
	// MessageEvent brings a CloudEvent, in its JSON form.
	MessageEvent = "event"
	// MessageSignal brings a signal, which is as an event of that name.
	MessageSignal = "signal"
)

// signalSource is the source of an event that a signal brings, unless its
// definition names one.
const signalSource = "ebb/signal"

// EventTarget is where messages go that are events: each is a CloudEvent in its
// JSON form, whose id makes a repeated one recognisable.
const EventTarget = "events"

// coreAttributes are the members of CloudEvents that are no extensions.
var coreAttributes = []string{
	"specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "data", "data_base64",
}

// CheckEvent returns an error if the text is not a CloudEvent in its JSON form.
func CheckEvent(json []byte) error {
	_, err := eventOf(json)
	return err
}

// eventOf reads a CloudEvent.
func eventOf(json []byte) (map[string]any, error) {
	tree, err := jq.Decode(json)
	if err != nil {
		return nil, fmt.Errorf("the event is no JSON: %w", err)
	}
	e, ok := tree.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("an event is an object, found %s", json[:min(len(json), 40)])
	}
	if e["specversion"] != "1.0" {
		return nil, fmt.Errorf(`an event has "specversion": "1.0", found %v`, e["specversion"])
	}
	for _, name := range []string{"id", "source", "type"} {
		if text, ok := e[name].(string); !ok || text == "" {
			return nil, fmt.Errorf("an event has %s, which is a string that is not empty", name)
		}
	}
	if subject, ok := e["subject"]; ok {
		if _, ok := subject.(string); !ok {
			return nil, fmt.Errorf("the subject of an event is a string, found %v", subject)
		}
	}
	return e, nil
}

// received returns the event that a message brings.
func (w *interpreter) received() ([]byte, map[string]any, error) {
	cause := &w.ask.Cause
	if cause.Message != MessageSignal {
		text := valueOf(cause.Result).json
		e, err := eventOf(text)
		return text, e, err
	}
	data, f := valueOf(cause.Result).value()
	if f != nil {
		return nil, nil, fmt.Errorf("the signal: %s", f.message)
	}
	e := w.machine.signal(cause.Name)
	e["specversion"], e["id"], e["data"], e["time"] = "1.0", w.eventID(), data, w.ask.Now.UTC().Format(time.RFC3339Nano)
	text, err := jq.Encode(e, atom.MaxValue-1)
	return text, e, err
}

// signal returns what a signal has of an event by its name.
func (m *Machine) signal(name string) map[string]any {
	e := map[string]any{"source": signalSource, "type": name}
	if i := slices.IndexFunc(m.events, func(d *event) bool { return d.name == name }); i >= 0 {
		d := m.events[i]
		e["subject"] = d.name
		e["type"], e["source"] = cmp.Or(d.typ, d.name), cmp.Or(d.source, signalSource)
	}
	return e
}

// eventID returns the id of the next event that the run makes: the same if the
// question is asked again, because nothing of the answer was kept.
func (w *interpreter) eventID() string {
	return fmt.Sprintf("%s/%d", w.ask.Run.ID, w.ask.Event+int64(len(w.growth.Events)))
}

// shown returns an event as expressions see it: as it was received, and under the
// names that the original engine has given its parts.
func shown(e map[string]any, d *event) map[string]any {
	out := maps.Clone(e)
	extensions := map[string]any{}
	for name, value := range e {
		if !slices.Contains(coreAttributes, name) {
			extensions[name] = value
		}
	}
	maps.Copy(out, map[string]any{
		"EventName": d.name, "EventId": e["id"], "EventType": e["type"], "EventSource": e["source"],
		"Timestamp": e["time"], "Data": e["data"], "ContextAttributes": extensions,
	})
	return out
}

// send sends an event, by way of the outbox. It is not looped back.
func (w *interpreter) send(a *action) result {
	d := a.event
	input, f := w.seen().value()
	if f != nil {
		return failed(f)
	}
	var data any = map[string]any{}
	if a.expression != nil {
		if data, f = a.expression.evaluate(w.ask.Interrupted, input); f != nil {
			return failed(f)
		}
	}
	e := map[string]any{
		"specversion": "1.0", "id": w.eventID(), "source": d.source, "type": d.typ, "subject": d.name,
		"time": w.ask.Now.UTC().Format(time.RFC3339Nano), "datacontenttype": "application/json", "data": data,
	}
	if d.typ == "" {
		e["type"] = d.name
	}
	if d.source == "" {
		e["source"] = "sm4c/" + url.PathEscape(w.machine.title) // a URI-reference
	}
	if f := w.attribute(e, a, input); f != nil {
		return failed(f)
	}
	text, err := jq.Encode(e, atom.MaxValue-1)
	if err != nil {
		return failed(expressionError("the event %s: %v", quote(d.name), err))
	}
	id, _ := e["id"].(string)
	w.growth.Out = append(w.growth.Out, flow.Message{To: EventTarget, Kind: MessageEvent, Name: d.name, Key: id, Body: atom.FromJSON(text)})
	w.event("EventSent", d.name, map[string]any{"id": id, "type": e["type"]})
	return given(nullValue())
}

// attribute adds the attributes of an event that is sent, and lets those that
// correlate be the run's keys.
func (w *interpreter) attribute(e map[string]any, a *action, input any) *stateError {
	for i := range a.attributes {
		name := a.attributes[i].name
		value, f := a.attributes[i].value.resolve(w.ask.Interrupted, input)
		if f != nil {
			return f
		}
		text, ok := value.(string)
		if !ok {
			return newError(CodeType, "the context attribute %s must be a string", quote(name))
		}
		if slices.Contains(coreAttributes, name) {
			return newError(CodeType, "%s is no name for a context attribute: events have it already", quote(name))
		}
		e[name] = text
		if !slices.Contains(w.machine.keys, name) {
			continue
		}
		run, f := w.outer()
		if f != nil {
			return f
		}
		if _, known := run.keys[name]; !known {
			run.keys[name] = text
			w.touched = w.branch != nil
		}
	}
	return nil
}

// extension returns an attribute of an event, whose name is given in lower
// case.
func extension(e map[string]any, name string) (string, bool) {
	for member, value := range e {
		if strings.ToLower(member) == name {
			text, ok := value.(string)
			return text, ok
		}
	}
	return "", false
}
