package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"github.com/ebbflow/ebb/jobs"
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

// board reads everything that is not a run.
func (w *apiWorld) board(store backend.Store) {
	w.Helper()
	board := jobs.New(store, jobs.Policy{})
	if _, err := board.Post(w.Context(), jobs.Job{ID: "j", Flow: "else"}, jobs.Job{ID: "k", Flow: "else"}); err != nil {
		w.Fatal(err)
	}
	if err := board.AddSchedule(w.Context(), jobs.Schedule{ID: "s", Spec: "30 2 * * *", Job: jobs.Job{Flow: "else"}}); err != nil {
		w.Fatal(err)
	}
	if err := store.SetLimit(w.Context(), storage.Limit{Flow: "else", Runs: 3}); err != nil {
		w.Fatal(err)
	}
	def, err := store.PutDefinition(w.Context(), storage.Definition{
		Hash: backend.DefinitionHash("m", "asl", []byte("{}")), Name: "m", Language: "asl", Text: []byte("{}"),
	})
	if err != nil {
		w.Fatal(err)
	}
	page := w.ask(http.StatusOK, http.MethodGet, "jobs", "limit=1&state=unclaimed", "")
	next := w.ask(http.StatusOK, http.MethodGet, "jobs", "after="+page["next"].(string), "")
	if len(list(page, "jobs")) != 1 || len(list(next, "jobs")) != 1 {
		w.Errorf("the jobs are %v and %v", page, next)
	}
	w.ask(http.StatusOK, http.MethodGet, "jobs/{job}", "", "")
	w.ask(http.StatusConflict, http.MethodPost, "jobs/{job}/release", "", "")
	if job := w.ask(http.StatusOK, http.MethodPost, "jobs/{job}/cancel", "", `{"reason":"no need"}`); job["cause"] != "no need" {
		w.Errorf("the job is %v", job)
	}
	w.ask(http.StatusOK, http.MethodGet, "schedules", "", "")
	if s := w.ask(http.StatusOK, http.MethodPost, "schedules/{schedule}/pause", "", ""); s["paused"] != true {
		w.Errorf("the schedule is %v", s)
	}
	w.ask(http.StatusOK, http.MethodPost, "schedules/{schedule}/resume", "", "")
	w.ask(http.StatusOK, http.MethodGet, "limits", "", "")
	w.ask(http.StatusOK, http.MethodGet, "definitions", "flow=m", "")
	w.ask(http.StatusNotFound, http.MethodGet, "definitions/{definition}", "", "")
	if got := w.ask(http.StatusOK, http.MethodGet, "definitions/{definition}", def.Hash+"|", ""); got["text"] != "{}" {
		w.Errorf("the definition is %v", got)
	}
}

// commands checks that a run that has ended refuses commands, and that their mistakes are named.
func (w *apiWorld) commands() {
	w.Helper()
	// A suspend was refused before. The audit has no second line of it unless another line is between them.
	for _, c := range [...]struct{ name, body string }{
		{"cancel", "{}"}, {"suspend", ""}, {"retry-revert", "{}"}, {"skip", `{"atom":"volume"}`}, {"signal", `{"name":"x"}`},
	} {
		w.ask(http.StatusConflict, http.MethodPost, "runs/{run}/"+c.name, "", c.body)
	}
	w.ask(http.StatusConflict, http.MethodPost, "runs/{run}/retry", "", "") // it has succeeded
	w.ask(http.StatusAccepted, http.MethodPost, "runs/{run}/revert", "", `{"to":"volume"}`)
	w.ask(http.StatusBadRequest, http.MethodPost, "runs/{run}/revert", "", `{"too":"volume"}`)
	w.ask(http.StatusNotFound, http.MethodPost, "runs/{run}/revert", "none|", `{}`)
	bad := w.ask(http.StatusBadRequest, http.MethodGet, "runs", "filter=stat:x", "")
	if bad["column"] != 1.0 || !strings.Contains(bad["detail"].(string), "did you mean state?") {
		w.Errorf("the problem is %v", bad)
	}
	w.ask(http.StatusBadRequest, http.MethodGet, "runs", "filtr=x", "")
	w.ask(http.StatusBadRequest, http.MethodGet, "runs", "limit=0", "")
}

// changes sets up what runs need, twice with the same key, and reads who did it.
func (w *apiWorld) changes(store backend.Store) {
	w.Helper()
	post := func(status int, route, body string, headers ...string) map[string]any {
		w.Helper()
		return w.ask(status, http.MethodPost, route, "", body, headers...)
	}
	job := `{"flow":"else","input":{"n":1},"priority":2,"after":"90m","needs":{"gpu":"a"},"labels":{"team":"b"}}`
	first := post(http.StatusOK, "jobs", job, "Idempotency-Key", "once")
	if again := post(http.StatusOK, "jobs", job, "Idempotency-Key", "once"); again["job"] != first["job"] {
		w.Errorf("a job was posted twice: %v, %v", first, again)
	}
	for _, wrong := range []string{`{}`, `{"flow":"x","version":-1}`, `{"flow":"x","after":"soon"}`, `{"flow":"x","needs":{"":"y"}}`} {
		post(http.StatusBadRequest, "jobs", wrong)
	}
	added := post(http.StatusOK, "schedules", `{"id":"s","spec":"30  2 * * *","zone":"Europe/Rome","flow":"else"}`)
	if added["when"] != "TZ=Europe/Rome 30 2 * * *" {
		w.Errorf("the schedule is %v", added)
	}
	for _, wrong := range []string{`{}`, `{"id":"s","spec":"x","flow":"else"}`, `{"spec":"@daily","flow":"else"}`, `{"id":"s","spec":"@daily"}`} {
		post(http.StatusBadRequest, "schedules", wrong)
	}
	post(http.StatusOK, "schedules/{schedule}/remove", "")
	post(http.StatusNotFound, "schedules/{schedule}/remove", "")
	post(http.StatusNotFound, "schedules/{schedule}/pause", "")
	if set := post(http.StatusOK, "limits", `{"flow":"else","runs":4,"rate":"10/1m"}`); !strings.Contains(fmt.Sprint(set), "runs:4") {
		w.Errorf("the limits are %v", set)
	}
	post(http.StatusBadRequest, "limits", `{"runs":-1}`)
	post(http.StatusBadRequest, "limits", `{"rate":"fast"}`)
	if none := post(http.StatusOK, "limits", `{"flow":"else"}`); len(list(none, "limits")) != 0 {
		w.Errorf("the limits are %v", none)
	}
	if _, err := engine.Suspend(w.Context(), store, "boot-1"); err == nil {
		w.Error("a run that has ended was suspended")
	}
	post(http.StatusConflict, "runs/{run}/resume", "")

	post(http.StatusBadRequest, "bulk", `{"filter":"id:*","command":"dance"}`)
	post(http.StatusBadRequest, "bulk", `{"filter":"stat:x","command":"cancel"}`)
	post(http.StatusBadRequest, "bulk", `{"filter":" \n","command":"cancel"}`)
	mass := post(http.StatusOK, "bulk", `{"filter":"flow:none","command":"cancel","reason":"enough"}`, "Idempotency-Key", "mass")
	if again := post(http.StatusOK, "bulk", `{"filter":"flow:none","command":"cancel","reason":"enough"}`, "Idempotency-Key", "mass"); again["job"] != mass["job"] {
		w.Errorf("%v was posted twice: %v", mass, again)
	}
	audit := w.ask(http.StatusOK, http.MethodGet, "audit", "limit=3&below="+w.newestAudit(store, "bulk"), "")
	verbs := ""
	for _, line := range list(audit, "lines") {
		l := line.(map[string]any)
		verbs += fmt.Sprint(l["command"], " by ", l["by"], " via ", l["via"], "; ")
	}
	if verbs != "resume by ann via api; remove limit by ann via api; limit by ann via api; " {
		w.Errorf("the audit says %s", verbs)
	}
	next := fmt.Sprint("below=", audit["next"])
	if rest := list(w.ask(http.StatusOK, http.MethodGet, "audit", next, ""), "lines"); len(rest) < 4 {
		w.Errorf("the rest of the audit has %v", rest)
	}
	ofRun := list(w.ask(http.StatusOK, http.MethodGet, "audit", "run=boot-1", ""), "lines")
	told := map[string]int{}
	for _, line := range ofRun {
		l := line.(map[string]any)
		told[fmt.Sprint(l["to"], " ", l["command"])]++
	}
	if want := (map[string]int{
		"applied retry": 1, "refused retry": 1, "refused resume": 1, "refused suspend": 2, "refused cancel": 1, "refused signal": 1,
		"refused skip": 1, "refused retry-revert": 1,
	}); !maps.Equal(told, want) {
		w.Errorf("the audit of the run says %v", told)
	}
}

// newestAudit returns the number of the first line of the audit about a command that begins so.
func (w *apiWorld) newestAudit(store backend.Store, begins string) string {
	w.Helper()
	lines, err := store.Audit(w.Context(), backend.AuditQuery{})
	if err != nil {
		w.Fatal(err)
	}
	n := int64(0)
	for i := range lines {
		if strings.HasPrefix(lines[i].Entry.Type, begins) {
			n = lines[i].N
		}
	}
	return fmt.Sprint(n)
}

// tokens are hidden from those who may only read, who cannot send commands either.
func (w *apiWorld) tokens(store backend.Store) {
	w.Helper()
	charge, err := engine.New(flow.Linear("shop", atom.Remote[struct{}, string]("charge", "charge")), store)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := charge.Run(w.Context(), "order-1", engine.Unload()); err != nil && !errors.Is(err, engine.ErrStopped) {
		w.Log(err) // it waits
	}
	open, err := store.RunTokens(w.Context(), "order-1")
	if err != nil || len(open) != 1 {
		w.Fatal(open, err)
	}
	token := open[0].ID
	leaks, err := engine.New(flow.Linear("leaks", atom.Func("show", func(context.Context, struct{}) (string, error) {
		return "callback\n" + token, nil
	})), store)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := leaks.Run(w.Context(), "leaks-1"); err != nil {
		w.Fatal(err)
	}
	w.operates = false
	for _, route := range []string{"runs/{run}/atoms", "runs/{run}/history"} {
		if page := fmt.Sprint(w.ask(http.StatusOK, http.MethodGet, route, "leaks-1|", "")); strings.Contains(page, token) ||
			!strings.Contains(page, "callback\nTOKEN") {
			w.Errorf("a viewer reads the token in %s: %s", route, page)
		}
	}
	if why := fmt.Sprint(w.ask(http.StatusOK, http.MethodGet, "runs/{run}/why", "order-1|", "")); strings.Contains(why, token) {
		w.Errorf("a viewer reads the token: %s", why)
	}
	for asked := range w.routes {
		if method, route, _ := strings.Cut(asked, " "); method == http.MethodPost {
			w.ask(http.StatusForbidden, method, route, "", "{}")
		}
	}
	w.ask(http.StatusForbidden, http.MethodPost, "tokens/{token}/complete", token+"|", "{}")
	w.operates = true
	done := w.ask(http.StatusOK, http.MethodPost, "tokens/{token}/complete", token+"|", `{"result":"paid"}`)
	if done["path"] != "charge" {
		w.Errorf("it completes %v", done)
	}
	w.ask(http.StatusConflict, http.MethodPost, "tokens/{token}/complete", token+"|", "{}")
	ofRun := list(w.ask(http.StatusOK, http.MethodGet, "audit", "run=order-1", ""), "lines")
	if line, _ := ofRun[0].(map[string]any); line["to"] != "refused" || line["command"] != "complete" ||
		line["path"] != "charge" {
		w.Errorf("the audit of the run says %v", ofRun)
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
