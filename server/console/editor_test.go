package console_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/draw"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// languages know one language: a text that contains "error" has a problem in each line with it.
type languages struct{}

func (languages) Check(d *api.Draft) *api.CheckResult {
	out := &api.CheckResult{Calls: []string{hostile}}
	for i, line := range strings.Split(d.Text, "\n") {
		if at := strings.Index(line, "error"); at >= 0 {
			out.Problems = append(out.Problems, flow.Diagnostic{
				Code: "CODE", Rule: "rule", Severity: flow.SeverityError, Line: i + 1, Column: at + 1, Message: hostile, Fix: "remove it",
			})
		}
	}
	if out.Runnable = out.Problems.Legal(); out.Runnable {
		out.Stored = storage.Definition{
			Hash: backend.DefinitionHash(d.Name, "l", []byte(d.Text)), Name: d.Name, Language: "l", Text: []byte(d.Text),
		}
		out.Picture = draw.View{Title: d.Name, Nodes: []draw.Node{{ID: "a", Label: hostile, Kind: draw.Choice}}}
	}
	if strings.Contains(d.Text, "foreign") {
		out.Refused = flow.Diagnostics{{Rule: "named", Line: 1, Column: 1, Message: "not named"}}
	}
	return out
}

func (languages) Picture(*storage.Definition) (draw.View, error) {
	return draw.View{}, storage.ErrNotFound
}

func (languages) Unheard(context.Context, *storage.Run, string) string { return "" }

func (languages) PictureOf(context.Context, *storage.Run) (draw.View, error) {
	return draw.View{}, storage.ErrNotFound
}

func (languages) Try(ctx context.Context, t *api.TrialRequest) (backend.Store, string, error) {
	if strings.Contains(t.Text, "error") {
		return nil, "", errors.New("it cannot run")
	}
	store := memstore.New()
	eng, err := engine.New(flow.Linear("tried", atom.Func("only", func(context.Context, struct{}) (string, error) {
		return t.Input.String(), nil
	})), store)
	if err == nil {
		_, err = eng.Run(ctx, "trial")
	}
	return store, "trial", err
}

// editorForms are forms of the editor: right ones and wrong ones.
var editorForms = []url.Values{
	{"do": {"check"}, "f.flow": {"f"}, "f.text": {"a\r\nan error"}},
	{"do": {"check"}, "f.text": {"fine"}, "f.strict": {"1"}, "f.type": {"EXPRESS"}},
	{"do": {"try"}, "f.text": {"fine"}, "f.input": {"{"}},
	{"do": {"try"}, "f.text": {"error"}},
	{"do": {"try"}, "f.text": {"fine"}, "f.input": {`{"a": 1}`}},
	{"do": {"store"}, "f.flow": {"f"}, "f.text": {"error"}},
	{"do": {"store"}, "f.flow": {"f"}, "f.text": {"foreign"}},
	{"do": {"store"}, "f.text": {"fine"}},
	{"do": {"store"}, "f.flow": {"f"}, "f.text": {"fine"}, "f.schema": {"1"}},
	{"do": {hostile}, "f.text": {hostile}, "f.flow": {hostile}, "f.newest": {"0"}},
}

var (
	trialLink  = regexp.MustCompile(`href="(trial/[^"]*)"`)
	drawnGraph = regexp.MustCompile(`data-drawn="([^"]*)"`)
	placeLink  = regexp.MustCompile(`data-line="(\d+)" data-column="(\d+)"`)
)

// TestEditor: the editor says what is wrong and where, beside the entered text. Only its author sees a trial. A stored
// definition is a new version, unless another user has stored one.
func TestEditor(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	post := func(form url.Values) (string, int, string) {
		t.Helper()
		w := d.ask(http.MethodPost, "edit", form)
		body := w.Body.String()
		if strings.Contains(body, "<script>") || strings.Contains(body, "<img") {
			t.Errorf("%v: a text is not escaped:\n%s", form, body)
		}
		return html.UnescapeString(body), w.Code, w.Header().Get("Location")
	}
	for i, want := range []string{
		"CODE", "No problem", "input: this is not JSON", "it cannot run", "Tried: ", "It cannot be stored while it has errors",
		"It cannot be stored here, because of what it names", "flow is missing", "want a JSON Schema", hostile,
	} {
		form := editorForms[i]
		body, status, to := post(form)
		text := strings.ReplaceAll(form.Get("f.text"), "\r\n", "\n")
		if to != "" || !strings.Contains(body, want) || !strings.Contains(strings.ReplaceAll(body, "\r\n", "\n"), ">\n"+text+"</textarea>") {
			t.Errorf("%v: %d %s, want %q in\n%s", form, status, to, want, body)
		}
	}
	body, _, _ := post(editorForms[0])
	if at := placeLink.FindAllStringSubmatch(body, -1); len(at) != 1 || at[0][1] != "2" || at[0][2] != "4" {
		t.Errorf("the problem is at %v", at)
	}
	part := url.Values{"do": {"check"}, "part": {"1"}, "f.text": {"fine"}}
	if body, _, _ := post(part); strings.Contains(body, "<textarea") || strings.Contains(body, `id="tried"`) || !strings.Contains(body, "<svg") {
		t.Errorf("a part is %s", body)
	}

	if body := d.ask(http.MethodGet, "edit", nil).Body.String(); !strings.Contains(body, `href="edit?example=sm4c"`) {
		t.Errorf("an empty editor offers no example: %s", body)
	}
	if body := d.ask(http.MethodGet, "edit?example=mocks", nil).Body.String(); strings.Contains(body, "goods") {
		t.Errorf("mocks are no example: %s", body)
	}
	d.stores()
	d.trials()
}

// stores keeps versions of a definition.
func (d *desk) stores() {
	d.Helper()
	first := d.ask(http.MethodPost, "edit", url.Values{"do": {"store"}, "f.flow": {"f"}, "f.text": {"one\r\ntwo"}, "f.newest": {"0"}, "f.schema": {`{"type":"object"}`}})
	page := first.Header().Get("Location")
	q, err := url.ParseQuery(strings.TrimPrefix(page, "definition?"))
	if err != nil || first.Code != http.StatusSeeOther {
		d.Fatal(first.Code, page, err, first.Body)
	}
	stored, err := d.store.Definition(d.Context(), q.Get("hash"))
	if err != nil || string(stored.Text) != "one\ntwo" || stored.Version != 1 {
		d.Errorf("it stored %q, %v", stored.Text, err)
	}
	edit := d.ask(http.MethodGet, "edit?hash="+stored.Hash, nil).Body.String()
	for _, want := range []string{">\none\ntwo</textarea>", `name="f.newest" value="1"`, "{&#34;type&#34;:&#34;object&#34;}</textarea>"} {
		if !strings.Contains(edit, want) {
			d.Errorf("the editor has no %q:\n%s", want, edit)
		}
	}
	late := d.ask(http.MethodPost, "edit", url.Values{"do": {"store"}, "f.flow": {"f"}, "f.text": {"three"}, "f.newest": {"0"}})
	if late.Code != http.StatusConflict || !strings.Contains(late.Body.String(), "look at what changed") {
		d.Errorf("over a newer version it answers %d %s", late.Code, late.Body)
	}
	if all, err := d.store.Definitions(d.Context(), backend.DefinitionQuery{Name: "f"}); err != nil || len(all) != 1 {
		d.Errorf("there are %d versions, %v", len(all), err)
	}
}

// trials looks at the run of a trial, on all tabs, as the one who made it and as others.
func (d *desk) trials() {
	d.Helper()
	tried := d.ask(http.MethodPost, "edit", editorForms[4]).Body.String()
	to := trialLink.FindStringSubmatch(tried)
	if to == nil {
		d.Fatalf("there is no link to the trial in %s", tried)
	}
	page := html.UnescapeString(to[1])
	for _, view := range []string{"tree", "graph", "timeline", "undo", "history"} {
		w := d.ask(http.MethodGet, strings.Replace(page, "view=graph", "view="+view, 1), nil)
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, "only") || !strings.Contains(body, "is not stored") ||
			!strings.Contains(body, `href="../../runs"`) || strings.Contains(body, "command?") {
			d.Errorf("%s: %d %s", view, w.Code, body)
		}
	}
	if w := d.ask(http.MethodPost, page, nil); w.Code != http.StatusMethodNotAllowed {
		d.Errorf("a trial takes commands: %d", w.Code)
	}
	for i := range 30 { // a caller has five at most, so these are of several
		_, _ = d.commands.Trials().Keep(fmt.Sprint("other ", i/5), d.store, time.Now()) // the last ones are refused
	}
	d.caller.Name = "zoe"
	if w := d.ask(http.MethodPost, "edit", editorForms[4]); w.Code != http.StatusServiceUnavailable ||
		!strings.Contains(w.Body.String(), "trials of other callers") || strings.Contains(w.Body.String(), "See its run") {
		d.Errorf("beside too many trials: %d %s", w.Code, w.Body)
	}
	d.caller.Name = "ann"
	if w := d.ask(http.MethodGet, page, nil); w.Code != http.StatusOK {
		d.Errorf("trials of others displaced that of ann: %d", w.Code)
	}
	d.caller.Name = "eve"
	if w := d.ask(http.MethodGet, page, nil); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), `href="../../runs"`) {
		d.Errorf("eve sees a trial of ann: %d", w.Code)
	}
	d.caller = server.Caller{Name: "ann"}
	for _, w := range []int{
		d.ask(http.MethodGet, "edit", nil).Code - http.StatusForbidden,
		d.ask(http.MethodPost, "edit", editorForms[0]).Code - http.StatusMethodNotAllowed,
	} {
		if w != 0 {
			d.Errorf("a caller who may only read can edit: %d", w)
		}
	}
	if body := d.ask(http.MethodGet, "definitions", nil).Body.String(); strings.Contains(body, `href="edit`) {
		d.Error("a caller who may only read has a link to the editor")
	}
}

// TestEditorSendsGraphOnce: a browser that shows the graph of the text does not get it again.
func TestEditorSendsGraphOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	answer := func(drawn string) string {
		form := url.Values{"do": {"check"}, "part": {"1"}, "f.text": {"fine"}, "drawn": {drawn}}
		return d.ask(http.MethodPost, "edit", form).Body.String()
	}
	first := answer("")
	version := drawnGraph.FindStringSubmatch(first)
	if version == nil || !strings.Contains(first, "<svg") || answer(hostile) != first {
		t.Fatalf("the first answer is\n%s", first)
	}
	if got := answer(version[1]); strings.Contains(got, "<svg") || !strings.Contains(got, `data-graph="same"`) {
		t.Errorf("the second answer is\n%s", got)
	}
}
