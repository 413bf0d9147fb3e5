package interpreter

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/sm4c/internal/stateerror"
	"github.com/ebbflow/ebb/flow/sm4c/internal/syntax"
	"github.com/ebbflow/ebb/internal/jq"
	"github.com/ebbflow/ebb/internal/jsontext"
)

// signalSource is the source of an event from a signal, unless the event's definition has a source.
const signalSource = "ebb/signal"

// eventTarget is the target of outgoing events. Each message is a CloudEvent in its JSON form; by its id, the
// receiver detects a repetition.
const eventTarget = "events"

// coreAttributes are the members of CloudEvents that are not extensions.
var coreAttributes = []string{
	"specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "data", "data_base64",
}

// eventOf decodes a CloudEvent.
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

// received returns the event in a message.
func (w *interpreter) received() ([]byte, map[string]any, error) {
	cause := &w.ask.Cause
	if cause.Message != grow.MessageSignal {
		text := valueOf(cause.Result).json
		e, err := eventOf(text)
		return text, e, err
	}
	data, f := valueOf(cause.Result).value()
	if f != nil {
		return nil, nil, fmt.Errorf("the signal: %s", f.Message)
	}
	e := signal(w.machine, cause.Name)
	e["specversion"], e["id"], e["data"], e["time"] = "1.0", w.eventID(), data, w.ask.Now.UTC().Format(time.RFC3339Nano)
	text, err := jq.Encode(e, atom.MaxValue-1)
	return text, e, err
}

// signal returns the attributes that a signal has because of the event definition with its name.
func signal(m *syntax.Machine, name string) map[string]any {
	e := map[string]any{"source": signalSource, "type": name}
	if i := slices.IndexFunc(m.Events, func(d *syntax.Event) bool { return d.Name == name }); i >= 0 {
		d := m.Events[i]
		e["subject"] = d.Name
		e["type"], e["source"] = cmp.Or(d.Typ, d.Name), cmp.Or(d.Source, signalSource)
	}
	return e
}

// eventID returns the id of the next event that the run creates. If the question is asked again, because its answer
// was not stored, the id is the same.
func (w *interpreter) eventID() string {
	return fmt.Sprintf("%s/%d", w.ask.Run.ID, w.ask.Event+int64(len(w.growth.Events)))
}

// shown returns an event as expressions see it: as it was received, and with the names that the original engine
// gives its parts.
func shown(e map[string]any, d *syntax.Event) map[string]any {
	out := maps.Clone(e)
	extensions := map[string]any{}
	for name, value := range e {
		if !slices.Contains(coreAttributes, name) {
			extensions[name] = value
		}
	}
	maps.Copy(out, map[string]any{
		"EventName": d.Name, "EventId": e["id"], "EventType": e["type"], "EventSource": e["source"],
		"Timestamp": e["time"], "Data": e["data"], "ContextAttributes": extensions,
	})
	return out
}

// send sends an event through the outbox. The machine itself does not receive it.
func (w *interpreter) send(a *syntax.Action) result {
	d := a.Event
	input, f := w.seen().value()
	if f != nil {
		return failed(f)
	}
	var data any = map[string]any{}
	if a.Expression != nil {
		if data, f = a.Expression.Evaluate(w.ask.Interrupted, input); f != nil {
			return failed(f)
		}
	}
	e := map[string]any{
		"specversion": "1.0", "id": w.eventID(), "source": d.Source, "type": d.Typ, "subject": d.Name,
		"time": w.ask.Now.UTC().Format(time.RFC3339Nano), "datacontenttype": "application/json", "data": data,
	}
	if d.Typ == "" {
		e["type"] = d.Name
	}
	if d.Source == "" {
		e["source"] = "sm4c/" + url.PathEscape(w.machine.Title) // a URI-reference
	}
	if f := w.attribute(e, a, input); f != nil {
		return failed(f)
	}
	text, err := jq.Encode(e, atom.MaxValue-1)
	if err != nil {
		return failed(stateerror.Expression("the event %s: %v", jsontext.Quote(d.Name), err))
	}
	id, _ := e["id"].(string)
	w.growth.Out = append(w.growth.Out, grow.Message{
		To: eventTarget, Kind: grow.MessageEvent, Name: d.Name, Key: id,
		Body: atom.FromJSON(text),
	})
	w.event("EventSent", d.Name, map[string]any{"id": id, "type": e["type"]})
	return given(nullValue())
}

// attribute adds the attributes of an outgoing event, and makes attributes that correlate keys of the run.
func (w *interpreter) attribute(e map[string]any, a *syntax.Action, input any) *stateerror.Error {
	for i := range a.Attributes {
		name := a.Attributes[i].Name
		value, f := a.Attributes[i].Value.Resolve(w.ask.Interrupted, input)
		if f != nil {
			return f
		}
		text, ok := value.(string)
		if !ok {
			return stateerror.New(stateerror.CodeType, "the context attribute %s must be a string", jsontext.Quote(name))
		}
		if slices.Contains(coreAttributes, name) {
			return stateerror.New(stateerror.CodeType, "%s is no name for a context attribute: events have it already",
				jsontext.Quote(name))
		}
		e[name] = text
		if !slices.Contains(w.machine.Keys, name) {
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

// extension returns an attribute of an event by its lower-case name.
func extension(e map[string]any, name string) (string, bool) {
	for member, value := range e {
		if strings.ToLower(member) == name {
			text, ok := value.(string)
			return text, ok
		}
	}
	return "", false
}
