package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// If a JSON Schema of the input is stored beside the definition, or if a flow of Go code has run before, the form that
// starts a run has a field for each member of the input. The schema only shapes the form: the run checks its input
// itself.

// maxProperties bounds the fields, and the values of one. With more, the input is written as JSON.
//
//limit:shown members of a schema for which the form of a new run has fields | {} | the input is written as JSON
const maxProperties = 100

// A property is a member of an input, as a schema describes it.
type property struct {
	name     string
	Title    string            `json:"title"`
	Text     string            `json:"description"`
	Type     json.RawMessage   `json:"type"`
	Enum     []json.RawMessage `json:"enum"`
	Default  json.RawMessage   `json:"default"`
	required bool
}

// Names of the fields of properties begin with one of these, which says what their values are.
const (
	asText = "i.text." // a string
	asJSON = "i.json." // a JSON text
)

// at returns the name of the property's field.
func (p *property) at() string {
	if p.is("string") && len(p.Enum) == 0 {
		return asText + p.name
	}
	return asJSON + p.name
}

// is reports whether the property has a type, and only that.
func (p *property) is(name string) bool { return string(p.Type) == strconv.Quote(name) }

// shown returns a JSON value as the property's field shows it.
func (p *property) shown(value json.RawMessage) string {
	var text string
	if strings.HasPrefix(p.at(), asText) && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// propertiesOf returns the properties of an object that a schema describes, in its order; nil if it describes none,
// or more than a form can have.
func propertiesOf(schema string) []property {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal([]byte(schema), &s) != nil {
		return nil
	}
	members := json.NewDecoder(bytes.NewReader(s.Properties))
	if open, err := members.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var all []property
	for members.More() {
		name, err := members.Token()
		if err != nil || len(all) == maxProperties {
			return nil
		}
		p := property{}
		if members.Decode(&p) != nil || len(p.Enum) > maxProperties {
			return nil
		}
		p.name, _ = name.(string) // a key is one
		p.required = slices.Contains(s.Required, p.name)
		all = append(all, p)
	}
	return all
}

// startFields returns the properties for the form of a new run, and the members with which it is filled in. Both are
// nil if the input is written as JSON: without a schema, if the person wants it, or if the input of the earlier run has
// members that the schema does not name.
func (c *console) startFields(
	ctx context.Context, v *visit, filled map[string]string,
) (all []property, members map[string]json.RawMessage) {
	flow := cmp.Or(v.form.Get("f.flow"), v.query.Get("f.flow"), filled["flow"])
	if flow == "" || v.query.Get("raw") != "" {
		return nil, nil
	}
	schema, err := c.inputSchema(ctx, v, flow)
	if err != nil {
		return nil, nil
	}
	all = propertiesOf(schema)
	if text := filled["input"]; text != "" && json.Unmarshal([]byte(text), &members) != nil {
		return nil, nil
	}
	for name := range members {
		if !slices.ContainsFunc(all, func(p property) bool { return p.name == name }) {
			return nil, nil
		}
	}
	return all, members
}

// inputSchema returns the JSON Schema of the input of a flow, of the version that the form names or else of the
// current one; "" if there is none.
func (c *console) inputSchema(ctx context.Context, v *visit, flow string) (string, error) {
	text := cmp.Or(v.form.Get("f.version"), v.query.Get("f.version"), "0")
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", nil //nolint:nilerr // there is no such version
	}
	def, err := backend.CurrentDefinition(ctx, c.store, flow)
	if version != 0 {
		def, err = backend.FindDefinition(ctx, c.store, flow, version)
	}
	switch {
	case err == nil:
		return c.schemaOf(ctx, v, def.Hash), nil
	case !errors.Is(err, storage.ErrNotFound):
		return "", err
	}
	if _, err := backend.FindDefinition(ctx, c.store, flow, 0); !errors.Is(err, storage.ErrNotFound) {
		return "", err // another version is stored
	}
	schema, err := inspect.InputSchema(ctx, c.store, flow)
	return string(schema), err
}

// asWritten returns the address of the form of a new run with the input as JSON.
func asWritten(v *visit) address {
	q := maps.Clone(v.query)
	q.Set("raw", "1")
	return address(commandPage + "?" + q.Encode())
}

// startField shows the field of a property.
func startField(v *visit, p *property, earlier json.RawMessage) node {
	at, given := p.at(), earlier
	if given == nil {
		given = p.Default
	}
	text := p.shown(given)
	if v.form != nil {
		text = v.form.Get(at)
	}
	name := el("span", words(cmp.Or(p.Title, p.name)), when(p.required, words(" *")))
	hint := el("span", class("soft"), words(p.Text))
	needed := when(p.required, attr("required", ""))
	choices := p.Enum
	if p.is("boolean") && len(choices) == 0 {
		choices = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	}
	switch {
	case len(choices) > 0:
		return el("label", name, words(" "), hint, el("select", attr("name", at), needed,
			el("option", attr("value", ""), words("–")),
			each(choices, func(choice *json.RawMessage) node {
				label := p.shown(*choice)
				_ = json.Unmarshal(*choice, &label) // a value that is not a string is shown as JSON
				chosen := when(string(*choice) == text, attr("selected", ""))
				return el("option", attr("value", string(*choice)), chosen, words(label))
			})))
	case p.is("integer") || p.is("number"):
		return el("label", name, words(" "), hint,
			el("input", attr("type", "number"), attr("step", "any"), attr("name", at), attr("value", text), needed))
	case p.is("string"):
		return el("label", name, words(" "), hint, el("input", attr("name", at), attr("value", text), needed,
			attr("autocapitalize", "off"), attr("spellcheck", "false")))
	default:
		return el("label", name, words(" "), hint, el("textarea", attr("name", at), attr("rows", "3"), needed,
			attr("spellcheck", "false"), attr("placeholder", "JSON"), literal(text)))
	}
}

// inputOf returns the input that the fields of properties give, as JSON; "" if the form has none. It returns what is
// wrong with a field; nil if nothing is.
func inputOf(form url.Values) (text string, wrong node) {
	members := map[string]json.RawMessage{}
	found := false
	for at := range form {
		name, isText := strings.CutPrefix(at, asText)
		if !isText {
			var is bool
			if name, is = strings.CutPrefix(at, asJSON); !is {
				continue
			}
		}
		found = true
		value := form.Get(at)
		switch {
		case strings.TrimSpace(value) == "":
		case isText:
			members[name], _ = json.Marshal(value) // a text is always JSON
		case !json.Valid([]byte(value)):
			return "", say("{0}: this is not JSON, such as {1} or {2}", words(name), code(`{"a": 1}`), code(`"text"`))
		default:
			members[name] = json.RawMessage(value)
		}
	}
	if !found {
		return "", nil
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return "", say("The form cannot be sent.")
	}
	return string(whole), nil
}

// isStart reports whether a command starts a run.
func isStart(o *server.Operation) bool { return o.Of == "" && o.Name == "jobs" }
