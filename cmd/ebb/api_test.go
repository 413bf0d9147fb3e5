package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/draft"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// volumes creates a volume, which it can delete.
type volumes struct{}

func (volumes) Execute(context.Context, struct{}) (string, error) { return "vol-1", nil }

func (volumes) Revert(context.Context, struct{}, atom.Outcome[string]) error { return nil }

// booter fails until the test says otherwise.
type booter struct{ works, booted chan struct{} }

func (b booter) Execute(context.Context, struct{}) (string, error) {
	select {
	case <-b.works:
		close(b.booted)
		return "srv-1", nil
	default:
		return "", errors.New("no capacity")
	}
}

// apiWorld is a store with runs, behind the API. Each answer is checked against the document of OpenAPI.
type apiWorld struct {
	*testing.T

	handler  http.Handler
	schemas  *jsonschema.Compiler
	operates bool
	routes   map[string]bool // that were asked
}

func newAPIWorld(t *testing.T, store backend.Store, root flow.Node) *apiWorld {
	t.Helper()
	w := &apiWorld{T: t, schemas: jsonschema.NewCompiler(), operates: true, routes: map[string]bool{}}
	w.schemas.AssertFormat()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(api.Document()))
	if err == nil {
		err = w.schemas.AddResource("openapi.json", document)
	}
	if err != nil {
		t.Fatal(err)
	}
	serve := api.New(store, api.Options{
		Flow:      func(context.Context, *storage.Run) (flow.Node, error) { return root, nil },
		Languages: draft.New(&definition.Catalog{Store: store}, definition.Reading{}, func(r string) bool { return r == "exec:./pay" }),
		Trials:    &server.Trials{},
	})
	w.handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		serve.ServeHTTP(rw, r.WithContext(server.WithCaller(r.Context(), server.Caller{Name: "ann", Operate: w.operates})))
	})
	return w
}

// ask sends a request to a route of the document, and returns the answer, which has this status.
func (w *apiWorld) ask(status int, method, route, query, body string, headers ...string) map[string]any {
	w.Helper()
	w.routes[method+" "+route] = true
	target := strings.NewReplacer("{run}", "boot-1", "{job}", "j", "{schedule}", "s", "{definition}", "d").Replace(route)
	if id, rest, found := strings.Cut(query, "|"); found { // another id
		of := strings.NewReplacer("{run}", url.PathEscape(id), "{token}", id, "{definition}", id)
		target, query = of.Replace(route), rest
	}
	if query != "" {
		target += "?" + query
	}
	r := httptest.NewRequestWithContext(w.Context(), method, "/api/v1/"+target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	text, _ := io.ReadAll(rec.Body)
	if rec.Code != status {
		w.Fatalf("%s %s: %d, want %d\n%s", method, target, rec.Code, status, text)
	}
	if status == http.StatusNotModified {
		return nil
	}
	answer, of, media := fmt.Sprint(status), route, "application~1json"
	if status >= http.StatusBadRequest {
		answer, media = "default", "application~1problem+json"
	}
	if got := rec.Header().Get("Content-Type"); got != strings.ReplaceAll(media, "~1", "/") {
		w.Errorf("%s %s is %s", method, target, got)
	}
	schema, err := w.schemas.Compile("openapi.json#/paths/" + url.PathEscape("~1api~1v1~1"+strings.ReplaceAll(of, "/", "~1")) +
		"/" + strings.ToLower(method) + "/responses/" + answer + "/content/" + url.PathEscape(media) + "/schema")
	if err != nil {
		w.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		w.Errorf("%s %s: %v\n%s", method, target, err, text)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		w.Fatal(err)
	}
	out["etag"] = rec.Header().Get("ETag")
	return out
}

// list returns a member that is a list.
func list(answer map[string]any, name string) []any {
	all, _ := answer[name].([]any)
	return all
}

// TestAPI does a night's work: it finds the failed run, asks why, sees what was undone, and retries it. It calls every
// route at least once, and checks every answer against the document.
func TestAPI(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	boot := booter{make(chan struct{}), make(chan struct{})}
	root := flow.Linear("boot",
		atom.Task[struct{}, string]("volume", volumes{}), atom.Task[struct{}, string]("boot", boot))
	eng, err := engine.New(root, store)
	if err != nil {
		t.Fatal(err)
	}
	w := newAPIWorld(t, store, root)
	if _, err := eng.Run(t.Context(), "boot-1", engine.Labels(map[string]string{"team": "a"})); err == nil {
		t.Fatal("the run did not fail")
	}
	w.readsOf("boot-1")
	w.board(store)

	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- eng.Serve(ctx) }()
	close(boot.works)
	for range 2 { // the second counts as the first
		sent := w.ask(http.StatusAccepted, http.MethodPost, "runs/{run}/retry", "", "", "Idempotency-Key", "k1")
		if sent["command"] != "retry" {
			t.Errorf("it sent %v", sent)
		}
	}
	<-boot.booted
	if run, err := engine.Await(t.Context(), store, "boot-1"); err != nil || run.Outcome != storage.Succeeded {
		t.Errorf("the run is %v, %v", run.Outcome, err)
	}
	again := w.ask(http.StatusAccepted, http.MethodPost, "runs/{run}/retry", "", "", "Idempotency-Key", "k1")
	if again["command"] != "retry" {
		t.Errorf("after the end it answers %v", again)
	}
	w.ask(http.StatusConflict, http.MethodPost, "runs/{run}/suspend", "", "", "Idempotency-Key", "k2")
	w.ask(http.StatusOK, http.MethodGet, "runs/{run}/preview", "command=cancel", "")
	w.ask(http.StatusOK, http.MethodGet, "runs/{run}/preview", "command=retry&from=boot", "")
	w.ask(http.StatusBadRequest, http.MethodGet, "runs/{run}/preview", "command=dance", "")
	preview := w.ask(http.StatusOK, http.MethodGet, "runs/{run}/preview", "", "")
	if got := fmt.Sprint(list(preview, "undo")); got != "[map[path:boot status:STAYS_DONE] map[path:volume status:REVERTED]]" {
		t.Errorf("the preview is %s", got)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	w.commands()
	w.changes(store)
	w.definitions(store)
	w.events(store)
	w.tokens(store)
	w.everyRoute()
}

// readsOf reads everything about a run that was undone.
func (w *apiWorld) readsOf(id string) {
	w.Helper()
	get := func(route, query string) map[string]any {
		w.Helper()
		return w.ask(http.StatusOK, http.MethodGet, route, query, "")
	}
	found := get("runs", "filter="+url.QueryEscape("state:reverted -flow:trip label:team=a ended:<1h"))
	if runs := list(found, "runs"); len(runs) != 1 || runs[0].(map[string]any)["run"] != id {
		w.Fatalf("it finds %v", found)
	}
	counts := get("counts", "width=1h&filter=state:reverted")
	if got := fmt.Sprint(counts["states"], len(list(counts, "bars"))); got != "map[REVERTED:1] 1" {
		w.Errorf("it counts %v", counts)
	}
	w.ask(http.StatusBadRequest, http.MethodGet, "counts", "width=x", "")
	groups := list(get("counts", "by=flow,state&filter=state:reverted"), "groups")
	if len(groups) != 1 || groups[0].(map[string]any)["newest"] != id {
		w.Errorf("it groups %v", groups)
	}
	w.ask(http.StatusBadRequest, http.MethodGet, "counts", "by=flo", "")
	if one := list(get("processes", ""), "processes"); len(one) == 0 || one[0].(map[string]any)["state"] != "alive" {
		w.Errorf("the processes are %v", one)
	}
	if waiting := get("waiting", ""); waiting["open"] != 0.0 {
		w.Errorf("it says that %v wait", waiting)
	}
	if none := get("runs", "filter=state:SUCCESS&cursor=forged&limit=1"); len(list(none, "runs")) != 0 {
		w.Errorf("it finds %v", none)
	}
	one := get("runs/{run}", "")
	w.ask(http.StatusNotModified, http.MethodGet, "runs/{run}", "", "", "If-None-Match", one["etag"].(string))
	if why := get("runs/{run}/why", ""); why["undone"] != 1.0 || len(list(why, "sentences")) == 0 {
		w.Errorf("why says %v", why)
	}
	paths := ""
	for after, more := "", true; more; {
		page := get("runs/{run}/atoms", "limit=1&after="+after)
		for _, one := range list(page, "atoms") {
			paths += one.(map[string]any)["path"].(string) + " "
		}
		after, more = page["next"].(string)
	}
	if !strings.Contains(paths, "volume") || strings.Count(paths, "volume") != 1 {
		w.Errorf("the atoms are %s", paths)
	}
	steps := ""
	for after, more := "", true; more; {
		page := get("runs/{run}/steps", "limit=1&after="+after)
		for _, one := range list(page, "steps") {
			steps += one.(map[string]any)["path"].(string) + " "
		}
		after, more = page["next"].(string)
	}
	if got := fields(steps); !slices.Equal(got, fields(paths)) {
		w.Errorf("the steps are %s, the atoms %s", steps, paths)
	}
	for _, query := range []string{"below=none&after=forged&from=7", "from=99999999999999999"} {
		if page := get("runs/{run}/steps", query); len(list(page, "steps")) != 0 {
			w.Errorf("%s: %v", query, page)
		}
	}
	if strip := get("runs/{run}/strip", ""); strip["counts"] != nil {
		w.Errorf("it counts %v", strip)
	}
	w.lines()
	get("runs/{run}/undo", "")
}

// fields returns the words of a text, sorted.
func fields(text string) []string { return slices.Sorted(slices.Values(strings.Fields(text))) }

// lines reads the history at once and in pages.
func (w *apiWorld) lines() {
	w.Helper()
	get := func(route, query string) map[string]any {
		w.Helper()
		return w.ask(http.StatusOK, http.MethodGet, route, query, "")
	}
	all, steps := len(list(get("runs/{run}/history", ""), "entries")), 0
	for after := 0.0; ; {
		page := get("runs/{run}/history", fmt.Sprint("limit=2&after=", after))
		steps += len(list(page, "entries"))
		next, more := page["next"].(float64)
		if after = next; !more {
			break
		}
	}
	if all < 5 || steps != all {
		w.Errorf("the history has %d lines, and %d in pages", all, steps)
	}
}

// everyRoute says which routes of the document were not asked.
func (w *apiWorld) everyRoute() {
	w.Helper()
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(api.Document(), &document); err != nil {
		w.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method := range methods {
			if route := strings.ToUpper(method) + " " + strings.TrimPrefix(path, "/api/v1/"); !w.routes[route] {
				w.Errorf("%s was not asked", route)
			}
		}
	}
}
