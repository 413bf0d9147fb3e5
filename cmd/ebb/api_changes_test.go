package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/storage"
)

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
	if counts := list(page, "counts"); len(counts) == 0 || counts[0].(map[string]any)["jobs"].(float64) < 2 {
		w.Errorf("the jobs are counted as %v", page["counts"])
	}
	w.ask(http.StatusBadRequest, http.MethodGet, "jobs", "state=asleep", "")
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
	post(http.StatusBadRequest, "bulk", `{"filter":"id:*","command":"signal"}`)
	would := w.ask(http.StatusOK, http.MethodGet, "bulk", "filter=id:*&command=resume", "")
	if why := list(would, "refused"); len(why) == 0 || would["runs"] != 0.0 {
		w.Errorf("runs would answer %v", would)
	}
	w.ask(http.StatusBadRequest, http.MethodGet, "bulk", "filter=id:*&command=dance", "")
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
