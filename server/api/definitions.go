package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/storage"
)

// A Definition describes a stored definition.
type Definition struct {
	Hash     string     `json:"definition"` // identifies the definition
	Name     string     `json:"flow"`       // name of the flow
	Version  int64      `json:"version"`    // version among the definitions of this name
	Language string     `json:"language"`   // such as "asl"
	Created  time.Time  `json:"created"`    // when it was stored
	Text     string     `json:"text,omitempty"`
	Schema   atom.Value `json:"schema,omitempty"` // JSON Schema of the input, if one is stored beside it
}

// Definitions are stored definitions without their texts, newest version first.
type Definitions struct {
	Definitions []Definition `json:"definitions"`
	Next        string       `json:"next,omitempty"` // hash for after, for the next page; "" if there are no more
}

func definitionOf(d *storage.Definition) Definition {
	return Definition{
		Hash: d.Hash, Name: d.Name, Version: d.Version, Language: d.Language, Created: d.Created.UTC(),
		Text: string(d.Text),
	}
}

func (a *api) definitions(c *call) (any, error) {
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	after := c.query.Get("after")
	page, more, err := inspect.DefinitionPage(c.Context(), a.store, c.query.Get("flow"), after, limit)
	out := Definitions{Definitions: []Definition{}}
	for i := range page {
		out.Definitions = append(out.Definitions, definitionOf(&page[i]))
	}
	if more {
		out.Next = page[len(page)-1].Hash
	}
	return out, there(err, "definition", after)
}

func (a *api) definition(c *call) (any, error) {
	hash := c.PathValue("definition")
	d, err := a.store.Definition(c.Context(), hash)
	if err != nil {
		return nil, there(err, "definition", hash)
	}
	out := definitionOf(&d)
	from, _, err := originOf(c.Context(), a.store, hash)
	out.Schema = from.Schema
	return out, err
}

// An origin is the record about a definition that came over the network.
type origin struct {
	Issuer storage.Issuer `json:"issuer"`
	Schema atom.Value     `json:"schema,omitempty"` // of the input of its runs
}

// originKind is the kind of the records, whose keys are hashes of definitions.
const originKind = "api.definition"

func originOf(ctx context.Context, store storage.NamedRecords, hash string) (from origin, ok bool, err error) {
	record, err := store.NamedRecord(ctx, originKind, hash)
	if errors.Is(err, storage.ErrNotFound) {
		return origin{}, false, nil
	}
	if err == nil {
		err = record.Body.Decode(&from)
	}
	return from, err == nil, err
}

// FromNetwork reports whether a client of the API stored a definition. Its runs may only send requests to what the
// operator names.
func FromNetwork(ctx context.Context, store storage.NamedRecords, hash string) (bool, error) {
	_, ok, err := originOf(ctx, store, hash)
	return ok, err
}

// lines is a text of several lines.
type lines string

// A definitionBody is a definition to store.
type definitionBody struct {
	Flow   string     `json:"flow"             text:"name of the flow; a name that is known gets a new version"`
	Text   lines      `json:"text"             text:"the definition, in JSON or YAML"`
	Newest *int64     `json:"newest,omitempty" text:"store only if this is the newest version; 0 if there is none"`
	Schema atom.Value `json:"schema,omitempty" text:"JSON Schema of the input, for the form that starts a run"`
}

// storeDefinition stores a definition, and serves it. One that is stored already stays as it is.
func (a *api) storeDefinition(c *call) (any, error) {
	var body definitionBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	if a.options.Languages == nil {
		return nil, problemNoLanguages()
	}
	if err := checkFlow(body.Flow); err != nil {
		return nil, err
	}
	if err := checkSchema(body.Schema); err != nil {
		return nil, err
	}
	checked := a.options.Languages.Check(&Draft{Name: body.Flow, Text: string(body.Text)})
	if !checked.Runnable {
		return nil, problem(http.StatusBadRequest, "definition", "the definition cannot be run:\n%v", checked.Problems)
	}
	if len(checked.Refused) > 0 {
		return nil, problem(http.StatusForbidden, "not_named",
			"a definition from the network may only name what the operator of the server names:\n%v", checked.Refused)
	}
	a.storing.Lock() // between the look at the newest version and the write
	defer a.storing.Unlock()
	d := checked.Stored
	if was, err := a.store.Definition(c.Context(), d.Hash); err == nil {
		return definitionOf(&was), nil
	} else if !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if err := a.checkNewest(c.Context(), &body); err != nil {
		return nil, err
	}
	ctx, err := c.audited(a, "store", "definition "+d.Name+" "+d.Hash)
	if err != nil {
		return nil, err
	}
	record := storage.RecordWrite{
		Kind: originKind, Key: d.Hash, Was: storage.AnyRevision, Body: atom.MustEncode(origin{c.issuer(), body.Schema}),
	}
	if _, err := a.store.WriteRecords(c.Context(), record); err != nil { // before the definition can be run
		return nil, err
	}
	stored, err := a.store.PutDefinition(ctx, d)
	out := definitionOf(&stored)
	out.Schema = body.Schema
	return out, err
}

// checkFlow returns an error for the name of a new flow that readers could not tell from others.
func checkFlow(name string) error {
	if name == "" {
		return problem(http.StatusBadRequest, "invalid", "flow is missing: it names the definition")
	}
	return backend.CheckFlow("flow", name)
}

func checkSchema(schema atom.Value) error {
	var object map[string]json.RawMessage
	if schema != nil && (schema.Decode(&object) != nil || object == nil) {
		return problem(http.StatusBadRequest, "invalid", "schema: want a JSON Schema, which is an object")
	}
	return nil
}

// checkNewest returns an error if the flow has another newest version than the client knows. Another process may store
// a version at the same moment.
func (a *api) checkNewest(ctx context.Context, body *definitionBody) error {
	if body.Newest == nil {
		return nil
	}
	def, err := backend.FindDefinition(ctx, a.store, body.Flow, 0)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if newest := def.Version; newest != *body.Newest {
		return problem(http.StatusConflict, "changed",
			"the newest version of %q is %d, not %d: look at what changed, and store again", body.Flow, newest, *body.Newest)
	}
	return nil
}

// A validateBody is a definition to check.
type validateBody struct {
	Flow   string `json:"flow,omitempty"   text:"name of the flow, for the title of the graph"`
	Text   lines  `json:"text"             text:"the definition, in JSON or YAML"`
	Strict bool   `json:"strict,omitempty" text:"refuse Ebb's additions to the language"`
	Type   string `json:"type,omitempty"   text:"type of the machine, STANDARD or EXPRESS"`
}

func (b *validateBody) draft() (*Draft, error) {
	if b.Type != "" && b.Type != "STANDARD" && b.Type != "EXPRESS" {
		return nil, problem(http.StatusBadRequest, "invalid", "type is %.50q: want STANDARD or EXPRESS", b.Type)
	}
	return &Draft{b.Flow, string(b.Text), b.Strict, b.Type == "EXPRESS"}, nil
}

// A Validation says what is wrong with a definition.
type Validation struct {
	Result      string            `json:"result"`             // OK, or FAIL if there is an error
	Diagnostics []flow.Diagnostic `json:"diagnostics"`        // as of ebb validate
	Refused     []flow.Diagnostic `json:"refused"`            // what keeps the definition from being stored here
	Language    string            `json:"language,omitempty"` // if it can be run
	Calls       []string          `json:"calls"`              // states and actions that call a task
	Graph       *Graph            `json:"graph,omitempty"`    // if it can be run
}

// validate checks a definition, and stores nothing.
func (a *api) validate(c *call) (any, error) {
	var body validateBody
	if err := c.decode(&body); err != nil {
		return nil, err
	}
	if a.options.Languages == nil {
		return nil, problemNoLanguages()
	}
	draft, err := body.draft()
	if err != nil {
		return nil, err
	}
	checked := a.options.Languages.Check(draft)
	out := Validation{
		Result: "FAIL", Diagnostics: append([]flow.Diagnostic{}, checked.Problems...),
		Refused: append([]flow.Diagnostic{}, checked.Refused...), Calls: append([]string{}, checked.Calls...),
	}
	if checked.Problems.Legal() {
		out.Result = "OK"
	}
	if checked.Runnable {
		out.Language, out.Graph = checked.Stored.Language, graphOf(&checked.Picture)
	}
	return out, nil
}
