package decision

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// A Decision is one decision of a batch, with the values of the members that the service knows. Other members are
// ignored.
type Decision struct {
	*Entry

	values map[string]any
}

// A Named is a value with a name, and with a version if it is a type.
type Named struct {
	Name    *string `json:"name"`
	Version *string `json:"version"`
}

// NewActivity returns the decision to schedule an activity, with the defaults of its type. Nothing is validated: its
// input may be longer than that of a client.
func NewActivity(id, name, version, input string) Decision {
	return Decision{ByType(ScheduleActivityTask), map[string]any{
		"activityId": id, "activityType": Named{&name, &version}, "input": input,
	}}
}

// Text returns the value of a member that is a string; "" if it is absent.
func (d *Decision) Text(member string) string {
	text, _ := d.values[member].(string)
	return text
}

// Given returns the value of a member that is a string; nil if it is absent.
func (d *Decision) Given(member string) *string {
	if text, ok := d.values[member].(string); ok {
		return &text
	}
	return nil
}

// Name returns the name of a member that is a type or a task list; "" if it is absent.
func (d *Decision) Name(member string) string {
	named, _ := d.values[member].(Named)
	return deref(named.Name)
}

// Version returns the version of a member that is a type.
func (d *Decision) Version(member string) string {
	named, _ := d.values[member].(Named)
	return deref(named.Version)
}

// Tags returns the value of a member that is a list of tags.
func (d *Decision) Tags(member string) []string {
	tags, _ := d.values[member].([]string)
	return tags
}

// A ShapeError says that a member has a value of the wrong JSON type.
type ShapeError struct{ Member, Want string }

// Error names the member and the type that it must have.
func (e *ShapeError) Error() string { return fmt.Sprintf("%s must be %s", e.Member, e.Want) }

// Parse reads the member "decisions" of a request, as it came. Absent and null are an empty batch. The error is a
// [*ShapeError], or [ConstraintErrors] with all constraints that the batch violates, or [ErrClose]. If it is not nil,
// no decision may take effect.
func Parse(wire []byte) ([]Decision, error) {
	var raw []map[string]json.RawMessage
	if wire = bytes.TrimSpace(wire); len(wire) > 0 {
		if err := json.Unmarshal(wire, &raw); err != nil {
			return nil, &ShapeError{"decisions", "a list of structures"}
		}
	}
	var found ConstraintErrors
	batch := make([]Decision, 0, len(raw))
	for i, members := range raw {
		p := parser{at: fmt.Sprintf("decisions.%d.member", i+1), found: found}
		d, err := p.decision(members)
		if err != nil {
			return nil, err
		}
		found = p.found
		batch = append(batch, d)
	}
	if len(found) > 0 {
		return nil, found
	}
	for _, d := range batch[:max(len(batch)-1, 0)] {
		if d.Closes {
			return nil, ErrClose
		}
	}
	return batch, nil
}

// A parser reads one decision.
type parser struct {
	at    string // where it is
	found ConstraintErrors
}

func (p *parser) decision(members map[string]json.RawMessage) (d Decision, err error) {
	var name *string
	if json.Unmarshal(orNull(members["decisionType"]), &name) != nil {
		return d, &ShapeError{p.at + ".decisionType", "a string"}
	}
	if name == nil {
		p.found = append(p.found, Violation{nil, p.at + ".decisionType", notNull})
		return d, nil
	}
	if d.Entry = ByType(*name); d.Entry == nil {
		p.found = append(p.found, Violation{name, p.at + ".decisionType", oneOf(types())})
		return d, nil
	}
	var attributes map[string]json.RawMessage
	where := p.at + "." + d.Attributes()
	if json.Unmarshal(orNull(members[d.Attributes()]), &attributes) != nil {
		return d, &ShapeError{where, "a structure"}
	}
	if attributes == nil && slices.ContainsFunc(d.Members, func(m Member) bool { return m.Required }) {
		p.found = append(p.found, Violation{nil, where, notNull})
		return d, nil
	}
	d.values = make(map[string]any, len(attributes))
	for _, m := range d.Members {
		value, err := p.value(where+"."+m.Name, m, orNull(attributes[m.Name]))
		if err != nil {
			return d, err
		}
		if value != nil {
			d.values[m.Name] = value
		}
	}
	return d, nil
}

// value returns the value of a member, or nil if it is absent.
func (p *parser) value(where string, m Member, raw json.RawMessage) (any, error) {
	if bytes.Equal(raw, null) {
		if m.Required {
			p.found = append(p.found, Violation{nil, where, notNull})
		}
		return nil, nil //nolint:nilnil // an absent member has no value
	}
	switch m.Kind {
	case Type, List:
		var named Named
		if json.Unmarshal(raw, &named) != nil {
			return nil, &ShapeError{where, "a structure with strings"}
		}
		p.required(where+".name", Name, named.Name)
		if m.Kind == Type {
			p.required(where+".version", typeVersion, named.Version)
		}
		if m.Kind == List && named.Name != nil {
			p.check(where+".name", ListName, *named.Name)
		}
		return named, nil
	case Tags:
		var tags []*string
		if json.Unmarshal(raw, &tags) != nil {
			return nil, &ShapeError{where, "a list of strings"}
		}
		return p.tags(where, tags), nil
	default:
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil, &ShapeError{where, "a string"}
		}
		if text == "" && !m.Required && rules[m.Kind].blank {
			return nil, nil //nolint:nilnil // an absent member has no value
		}
		p.check(where, m.Kind, text)
		return text, nil
	}
}

func (p *parser) tags(where string, tags []*string) []string {
	all := make([]string, 0, len(tags))
	if len(tags) > maxTags {
		listed := fmt.Sprintf("[%d tags]", len(tags))
		p.found = append(p.found, Violation{&listed, where, atMost(maxTags)})
		return nil
	}
	for i, tag := range tags {
		text := deref(tag) // the service takes null, as simpleflow sends it
		p.check(fmt.Sprintf("%s.%d.member", where, i+1), tagKind, text)
		all = append(all, text)
	}
	return all
}

func (p *parser) required(where string, kind Kind, text *string) {
	if text == nil {
		p.found = append(p.found, Violation{nil, where, notNull})
		return
	}
	p.check(where, kind, *text)
}

// check adds the constraint that a text violates.
func (p *parser) check(where string, kind Kind, text string) {
	if constraint := Check(kind, text); constraint != "" {
		v := Violation{&text, where, constraint}
		if n := len(p.found); n == 0 || p.found[n-1].Member != where {
			p.found = append(p.found, v)
		}
	}
}

var null = []byte("null")

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return null
	}
	return raw
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func types() []string {
	all := make([]string, len(Table))
	for i := range Table {
		all[i] = Table[i].Type
	}
	return all
}
