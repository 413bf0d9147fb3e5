package console

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// button links to the form of a command. The pairs fill in its fields.
func (v *visit) button(of, name, id string, pairs ...string) node {
	if !v.operates {
		return none
	}
	to := link(commandPage, append([]string{"of", of, "do", name, "id", id}, pairs...)...)
	return fragment{el("a", class("button"), href(to), say(verbs[of+" "+name].label)), words(" ")}
}

// dialog shows the form of a command, and before it what the command will do.
func (c *console) dialog(ctx context.Context, v *visit) (node, error) {
	o := c.operation(v)
	if o == nil {
		return nil, storage.ErrNotFound
	}
	if !v.operates {
		v.status = http.StatusForbidden
		return fragment{
			el("h1", say("Commands")),
			el("p", say("Here you may only read. Commands need ebb serve, and a key for operate if it has keys.")),
		}, nil
	}
	id, does := v.query.Get("id"), verbs[o.Of+" "+o.Name]
	v.title = say(does.label)
	if id != "" {
		v.title = say("{0}: {1}", say(does.label), words(id))
	}
	if chosen := v.query["pick"]; len(chosen) > 0 {
		v.query.Set("f.filter", chosenRuns(chosen))
		v.query.Del("pick")
	}
	filled, err := c.filledFrom(ctx, v)
	if err != nil {
		return nil, err
	}
	var properties []property
	var members map[string]json.RawMessage
	if isStart(o) {
		properties, members = c.startFields(ctx, v, filled)
	}
	flows, err := c.knownFlows(ctx, o)
	if err != nil {
		return nil, err
	}
	return fragment{
		el("h1", v.title), flows,
		el("p", say(does.effect)),
		c.preview(ctx, v, o, id),
		when(v.problem != nil, el("p", attr("role", "alert"), v.problem)),
		el("form", class("command"), attr("method", "post"), attr("action", commandPage+"?"+v.query.Encode()),
			el("input", attr("type", "hidden"), attr("name", "once"), attr("value", v.once())),
			each(o.Fields, func(f *server.Field) node {
				at := "f." + f.Name
				if f.Name == "input" && len(properties) > 0 {
					written := el("a", href(asWritten(v)), say("write it as JSON"))
					return el("fieldset", el("legend", say("Input"), words(" "), written),
						each(properties, func(p *property) node { return startField(v, p, members[p.name]) }))
				}
				text := cmp.Or(v.query.Get(at), filled[f.Name])
				if v.form != nil {
					text = v.form.Get(at)
				}
				return field(f, at, text)
			}),
			el("p", el("button", class("go"), say(does.label)), words(" "),
				when(o.Of == "run", el("a", href(link("run", "id", id)), say("Back to the run"))))),
	}, nil
}

// field shows a member of a command's body.
func field(f *server.Field, at, text string) node {
	hint := el("span", class("soft"), words(f.Text))
	name := words(strings.ReplaceAll(f.Name, "_", " "))
	switch f.Kind {
	case server.FieldBool:
		return el("label", class("check"), checkbox(at, text != ""), words(" "), name, words(" "), hint)
	case server.FieldNumber:
		return el("label", name, words(" "), hint,
			el("input", attr("type", "number"), attr("name", at), attr("value", text)))
	case server.FieldValue, server.FieldObject, server.FieldStrings:
		return el("label", name, words(" "), hint, el("textarea", attr("name", at), attr("rows", "5"),
			attr("spellcheck", "false"), attr("placeholder", "JSON"), literal(text)))
	default:
		if len(f.Choices) > 0 {
			return chosenOf(f, at, text, name)
		}
		return el("label", name, words(" "), hint, el("input", attr("name", at), attr("value", text),
			when(f.Name == "flow", attr("list", "flows")), attr("autocapitalize", "off"), attr("spellcheck", "false")))
	}
}

// chosenOf shows a member that has one of a few values. None is chosen before a person does.
func chosenOf(f *server.Field, at, text string, name node) node {
	return el("label", name, words(" "), el("select", attr("name", at), attr("required", ""),
		el("option", attr("value", ""), words("–")),
		each(f.Choices, func(choice *string) node {
			return el("option", attr("value", *choice), when(*choice == text, attr("selected", "")), words(*choice))
		})))
}

// knownFlows lists the names of the stored definitions, for fields in which the name of a flow is written.
func (c *console) knownFlows(ctx context.Context, o *server.Operation) (node, error) {
	if !slices.ContainsFunc(o.Fields, func(f server.Field) bool { return f.Name == "flow" }) {
		return none, nil
	}
	names, err := backend.DefinitionNames(ctx, c.store, mostFlows)
	return el("datalist", attr("id", "flows"), each(names, func(name *string) node {
		return el("option", attr("value", *name))
	})), err
}

// mostFlows is how many names of flows a form suggests.
const mostFlows = 500

// filledFrom returns what the form of a new run is filled in with: what an earlier run began with. Values with secrets
// are left out.
func (c *console) filledFrom(ctx context.Context, v *visit) (map[string]string, error) {
	from := v.query.Get("like")
	if from == "" {
		return nil, nil //nolint:nilnil // nothing is filled in
	}
	run, err := c.store.Run(ctx, from)
	if err != nil {
		return nil, err
	}
	filled := map[string]string{"flow": run.Flow}
	if shown := inspect.RunOf(&run); shown.Input.String() == run.Input.Data.String() {
		filled["input"] = shown.Input.String()
	}
	return filled, nil
}

// A preview is what a command would undo, as the API answers it.
type preview struct {
	Undo     []previewStep `json:"undo"`
	NoReturn []string      `json:"no_return"`
	More     bool          `json:"more"`
}

type previewStep struct {
	Path   string `json:"path"`
	Status string `json:"status"`
}

// preview shows what a command to a run would undo.
func (c *console) preview(ctx context.Context, v *visit, o *server.Operation, id string) node {
	if o.Name == "bulk" {
		return c.covered(ctx, v)
	}
	if o.Of == "run" && (o.Name == "skip" || o.Name == "retry-revert") {
		return c.continues(ctx, v, id)
	}
	if o.Of != "run" || o.Name != "cancel" && o.Name != "revert" && o.Name != "retry" {
		return none
	}
	q := url.Values{"command": {o.Name}}
	for _, name := range []string{"to", "from"} {
		if at := v.query.Get("f." + name); at != "" && (name == "to") == (o.Name == "revert") {
			q.Set(name, at)
		}
	}
	path := pathOf(o, id)
	path = path[:strings.LastIndexByte(path, '/')+1] + "preview"
	var found preview
	if p := c.ask(ctx, v, http.MethodGet, path+"?"+q.Encode(), "", nil, &found); p != nil {
		if p.Code == "no_flow" {
			return fragment{
				soft(say("The program that has this flow decides what is undone: what has a Revert, the last first.")),
				c.revertible(ctx, v, id),
			}
		}
		return el("p", attr("role", "alert"), words(p.Detail))
	}
	return fragment{
		el("h2", say("What would be undone, in this order")),
		when(len(found.Undo) == 0, calm("Nothing would be undone.")),
		when(len(found.Undo) > 0, el("ol", class("undone"), each(found.Undo, func(s *previewStep) node {
			return el("li", words(s.Path+" "), chip(s.Status))
		}))),
		when(found.More, soft(say("There are more."))),
		when(len(found.NoReturn) > 0, el("h2", say("⊥ Points of no return at which the undo stops")),
			el("ul", each(found.NoReturn, func(path *string) node { return el("li", words(*path)) })),
			soft(say("Neither these nor what they depended on is undone."))),
		soft(say("Child runs that the run waits for are undone with it. Others go on.")),
	}
}

// chosenRuns returns the filter of the runs with these ids.
func chosenRuns(ids []string) string {
	values := make([]string, 0, len(ids))
	for _, id := range ids {
		if f, err := runfilter.Term("id", id); err == nil {
			values = append(values, strings.TrimPrefix(f.String(), "id:"))
		}
	}
	return "id:" + strings.Join(values, ",")
}

// covered says how many runs a bulk command covers.
func (c *console) covered(ctx context.Context, v *visit) node {
	text := cmp.Or(v.form.Get("f.filter"), v.query.Get("f.filter"))
	filter, err := runfilter.Parse(text)
	if err != nil || text == "" {
		return none
	}
	counts, err := runfilter.Count(ctx, c.store, c.search(filter, v.now), 0, 0)
	if err != nil {
		return none
	}
	said := sayCount(counts.Total(), "The filter selects {0} run now.", "The filter selects {0} runs now.")
	if counts.More {
		said = sayCount(counts.Total(), "The filter selects at least {0} run now.",
			"The filter selects at least {0} runs now.")
	}
	return el("p", said, words(" "), el("a", href(link("runs", "filter", text, "children", "1")), say("See them")))
}
