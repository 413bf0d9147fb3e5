package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// editPage is the name of the page on which a person writes a definition.
const editPage = "edit"

// The buttons of the editor, which are the values of its field do.
const (
	doCheck = "check"
	doTry   = "try"
	doStore = "store"
)

// requests are the names of the requests of the API that the buttons become.
var requests = map[string]string{doCheck: "validate", doTry: "try", doStore: "definitions"}

// An edition is a definition in the editor, with what the API says of it.
type edition struct {
	form    func(name string) string // value of a field
	text    string
	checked *validation // nil if it was not checked
	tried   *tried      // nil if it was not tried
}

// draftRequest returns the request of the API that a button becomes; nil if the API knows no languages.
func (c *console) draftRequest(button string) *server.Operation {
	at := slices.IndexFunc(c.drafts, func(o server.Operation) bool { return o.Name == requests[button] })
	if at < 0 {
		return nil
	}
	return &c.drafts[at]
}

// edits reports whether the pages link to the editor.
func (c *console) edits(v *visit) bool { return v.operates && len(c.drafts) > 0 }

// edit shows the editor. A form that was sent is checked, and is shown as it was sent.
func (c *console) edit(ctx context.Context, v *visit) (node, error) {
	if !v.operates {
		v.status = http.StatusForbidden
		return fragment{
			el("h1", say("Editor")),
			el("p", say("Here you may only read. Commands need ebb serve, and a key for operate if it has keys.")),
		}, nil
	}
	if len(c.drafts) == 0 {
		return nil, storage.ErrNotFound
	}
	e := &edition{form: func(name string) string { return v.form.Get("f." + name) }}
	v.title = say("New definition")
	if hash := v.query.Get("hash"); hash != "" {
		d, err := c.store.Definition(ctx, hash)
		if err != nil {
			return nil, err
		}
		v.title = say("Edit {0} version {1}", words(d.Name), number(d.Version))
		if v.form == nil {
			if e.form, err = c.stored(ctx, v, &d); err != nil {
				return nil, err
			}
		}
	}
	if v.form == nil {
		if fields := example(v.query.Get("example")); fields != nil {
			e.form = func(name string) string { return fields[name] }
		}
	}
	e.text = withoutReturns(e.form("text"))
	if e.text != "" {
		e.checked = c.check(ctx, v, e)
	}
	if v.form.Get("do") == doTry && v.problem == nil {
		e.tried = c.try(ctx, v)
	}
	if v.form.Get("part") != "" {
		v.part = true
		return fragment{refused(v), e.results(v.form.Get("drawn")), when(v.form.Get("do") != doCheck, e.tried.node())}, nil
	}
	return fragment{
		el("h1", v.title), refused(v), when(e.text == "" && v.query.Get("hash") == "", offersExamples()),
		el("div", class("edit"), e.fields(v), el("div", e.tried.node(), e.results(""))),
		el("script", attr("type", "module"), attr("src", c.editor)),
	}, nil
}

// stored returns the fields of the editor for a stored definition. Its next version follows the newest one.
func (c *console) stored(ctx context.Context, v *visit, d *storage.Definition) (func(string) string, error) {
	newest, err := backend.FindDefinition(ctx, c.store, d.Name, 0)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{"flow": d.Name, "text": string(d.Text), "newest": strconv.FormatInt(newest.Version, 10)}
	fields["schema"] = c.schemaOf(ctx, v, d.Hash)
	return func(name string) string { return fields[name] }, nil
}

// withoutReturns returns a text with the line breaks of a stored one: a browser sends others.
func withoutReturns(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// refused says why the form was refused.
func refused(v *visit) node {
	return el("div", attr("id", "told"), when(v.problem != nil, el("p", attr("role", "alert"), v.problem)))
}

// fields are the form of the editor. No answer replaces them while scripts run.
func (e *edition) fields(v *visit) node {
	name := func(name string, rest ...node) node { return fragment{attr("name", "f."+name), fragment(rest)} }
	lines := func(of, rows string, more ...node) node {
		return el("textarea", name(of), attr("rows", rows), attr("wrap", "off"), attr("spellcheck", "false"),
			attr("autocapitalize", "off"), fragment(more), verbatim("\n"+e.form(of)))
	}
	line := func(of string) node {
		return el("input", name(of), attr("value", e.form(of)), attr("spellcheck", "false"), attr("autocapitalize", "off"))
	}
	button := func(do string, label string, classes ...string) node {
		return fragment{el("button", attr("name", "do"), attr("value", do), class(classes...), say(label)), words(" ")}
	}
	open := when(e.form("input") != "" || e.form("mocks") != "" || e.form("case") != "", attr("open", ""))
	return el("form", class("command"), attr("method", "post"), attr("action", editPage+"?"+v.query.Encode()),
		attr("data-editor", ""), sayAttr("data-says-old", "The graph is that of the last text without errors."),
		sayAttr("data-says-away", "The server did not answer. Try again, or log in again in another tab."),
		el("input", attr("type", "hidden"), name("newest"), attr("value", e.form("newest"))),
		el("label", say("Name of the flow"), line("flow")),
		el("label", attr("for", "text"), say("Definition in ASL or SM4C, as JSON or YAML")),
		el("div", class("lines"), el("pre", attr("aria-hidden", "true"), attr("hidden", ""), attr("data-marks", "")),
			lines("text", "26", attr("id", "text"), attr("aria-describedby", "count"))),
		el("p", class("buttons"), button(doCheck, "Check", "go"), button(doTry, "Try it"), button(doStore, "Store")),
		el("p", class("soft"), say("Try it runs the definition in memory, in virtual time, with mocks in place of all "+
			"tasks. Store makes a new version. It may only name tasks that the operator of this server names.")),
		el("details", open, el("summary", say("Input and mocks")),
			el("label", say("Input of the run, as JSON"), lines("input", "4", attr("placeholder", "{}"))),
			el("label", say("Mocks: one for each state, or a mock file of Step Functions Local"),
				lines("mocks", "7",
					attr("placeholder", `{"Pay": {"Return": {"receipt": 7}}, "Ship": {"Throw": {"Error": "Busy"}}}`))),
			el("label", say("Test case of the mock file"), line("case"))),
		el("details", when(e.form("schema") != "", attr("open", "")), el("summary", say("Form that starts a run")),
			el("label", say("JSON Schema of the input, from which the form is built"), lines("schema", "5"))),
		el("details", el("summary", say("How it is checked")),
			el("label", class("check"), el("input", attr("type", "checkbox"), name("strict"), attr("value", "1"),
				when(e.form("strict") != "", attr("checked", ""))), words(" "), say("refuse Ebb's additions to the language")),
			el("label", class("check"), el("input", attr("type", "checkbox"), name("type"), attr("value", "EXPRESS"),
				when(e.form("type") != "", attr("checked", ""))), words(" "), say("the machine is of type EXPRESS"))))
}

// send makes a request of the API of the form, or of the stored definition that is shown.
func (c *console) send(ctx context.Context, v *visit, button string, form func(string) string, into any) *problem {
	o := c.draftRequest(button)
	body, wrong := bodyOf(o, form)
	if wrong != nil {
		v.problem, v.status = wrong, http.StatusBadRequest
		return &problem{}
	}
	p := c.ask(ctx, v, http.MethodPost, o.Path, "", body, into)
	if p == nil || v.problem != nil {
		return p
	}
	v.problem, v.status = words(p.Detail), p.Status
	switch p.Code { // the page lists the problems
	case "definition":
		v.problem = say("It cannot be stored while it has errors.")
	case "not_named":
		v.problem = say("It cannot be stored here, because of what it names.")
	}
	return p
}

// check returns the problems of the text, or nil without an answer.
func (c *console) check(ctx context.Context, v *visit, e *edition) *validation {
	var found validation
	if c.send(ctx, v, doCheck, e.form, &found) != nil {
		return nil
	}
	found.text = strings.Split(e.text, "\n")
	return &found
}

// try runs the definition in memory; nil if it cannot be tried.
func (c *console) try(ctx context.Context, v *visit) *tried {
	var done tried
	if c.send(ctx, v, doTry, v.filled, &done) != nil {
		return nil
	}
	return &done
}

// keep stores the definition of a form. It returns the page to go to; "" if there is a problem.
func (c *console) keep(ctx context.Context, v *visit) address {
	if len(c.drafts) == 0 || v.form.Get("do") != doStore {
		return ""
	}
	var done struct {
		Hash string `json:"definition"`
	}
	if c.send(ctx, v, doStore, v.filled, &done) != nil {
		return ""
	}
	return link("definition", "hash", done.Hash, "did", c.sign(ctx, v, didStore))
}

// schemaOf returns the JSON Schema of the input that is stored beside a definition; "" if there is none.
func (c *console) schemaOf(ctx context.Context, v *visit, hash string) string {
	o := c.draftRequest(doStore)
	if o == nil {
		return ""
	}
	var d struct {
		Schema json.RawMessage `json:"schema"`
	}
	if c.ask(ctx, v, http.MethodGet, o.Path+"/"+url.PathEscape(hash), "", nil, &d) != nil {
		return ""
	}
	return string(d.Schema)
}
