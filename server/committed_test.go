package server_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

// doors are requests that change something. TASK is the worker's task, TOKEN its token, WAITS the token of a wait.
var doors = []struct {
	path, body string
}{
	{"/events?run=r", `{"specversion": "1.0", "id": "1", "source": "s", "type": "paid", "data": 1}`},
	{"/events", `{"specversion": "1.0", "id": "1", "source": "s", "type": "paid", "order": "7", "data": 1}`},
	{"/tasks/TASK/heartbeat", `{"progress": 0.5}`},
	{"/tasks/TASK/complete", `{"result": 1}`},
	{"/tasks/TASK/fail", `{"code": "No"}`},
	{"/console/command?of=run&do=cancel&id=r", ""},
	{"/console/command?of=run&do=suspend&id=r", ""},
	{"/console/command?of=run&do=signal&id=r", "f.name=paid&f.data=1"},
	{"/console/command?of=run&do=revert&id=r", ""},
	{"/console/command?of=token&do=complete&id=WAITS", "f.result=1"},
	{"/console/command?of=job&do=cancel&id=j", ""},
	{"/console/command?of=schedule&do=pause&id=s", ""},
	{"/console/command?of=schedule&do=remove&id=s", ""},
	{"/console/command?of=&do=jobs", "f.flow=f&f.id=new"},
	{"/console/command?of=&do=schedules", "f.id=new&f.spec=@daily&f.flow=f"},
	{"/console/command?of=&do=limits", "f.flow=f&f.runs=3"},
	{"/console/command?of=&do=bulk", "f.filter=id:*&f.command=cancel"},
}

// TestCommittedIsDone sends each request to a server whose store fails at one of the request's commits, fails after it, or
// loses the answer to it. Whoever is answered yes finds the change in the store. If only what follows the commit fails,
// the answer is yes.
//
// Guarantee (G1): No door answers yes before the change is committed: events, workers, the console, and AWS's clients.
// Also: `server/sfn: TestCommittedIsDone`.
func TestCommittedIsDone(t *testing.T) {
	t.Parallel()
	for _, door := range doors {
		t.Run(door.path, func(t *testing.T) {
			t.Parallel()
			for name, plan := range map[string]faultstore.Plan{
				"works":         faultstore.Writing(0, faultstore.Busy),
				"fails":         faultstore.Writing(1, faultstore.Busy),
				"fails second":  faultstore.Writing(2, faultstore.Busy),
				"unsure":        faultstore.Writing(1, faultstore.Unsure),
				"unsure second": faultstore.Writing(2, faultstore.Unsure),
				"lost":          faultstore.Writing(1, faultstore.Lost),
				"lost second":   faultstore.Writing(2, faultstore.Lost),
				"fails behind":  faultstore.After(1, faultstore.Busy),
				"behind second": faultstore.After(2, faultstore.Busy),
			} {
				d := newDoor(t)
				before := d.changes()
				said, answer := d.ask(faultstore.New(d.store, plan), door.path, door.body)
				done := d.changes() != before
				if said && !done || done && !said && !strings.HasPrefix(name, "lost") || !said && name == "works" {
					t.Errorf("%s: answered yes: %v, done: %v: %s", name, said, done, answer)
				}
			}
		})
	}
}

// A door is a store with what requests need.
type door struct {
	*testing.T

	store *memstore.Store
	names *strings.Replacer
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{T: t, store: memstore.New()}
	root := flow.Unordered("f",
		atom.Awaits[int]("wait", "paid", atom.Deferral{}), atom.Awaits[int]("other", "sent", atom.Deferral{}),
		atom.Remote[struct{}, int]("work", "work"))
	e, err := engine.New(root, d.store)
	if err != nil {
		t.Fatal(err)
	}
	label := map[string]string{grow.CorrelationLabel("order", "7"): grow.Correlated}
	if _, err := e.Run(t.Context(), "r", engine.Unload(), engine.Labels(label)); !errors.Is(err, engine.ErrWaiting) {
		t.Fatal(err)
	}
	tokens, err := d.store.RunTokens(t.Context(), "r")
	if err != nil || len(tokens) == 0 {
		t.Fatal(tokens, err)
	}
	work, err := engine.LeaseWork(t.Context(), d.store, storage.WorkRequest{Queues: []string{"work"}, Lease: 1e12}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.names = strings.NewReplacer("TASK", work.Token+".1", "WAITS", tokens[0].ID)
	for path, body := range map[string]string{
		"/api/v1/jobs": `{"id": "j", "flow": "f"}`, "/api/v1/schedules": `{"id": "s", "spec": "@daily", "flow": "f"}`,
	} {
		if said, answer := d.ask(d.store, path, body); !said {
			t.Fatal(answer)
		}
	}
	return d
}

// ask sends a request to a server on a store, and reports whether the answer is yes.
func (d *door) ask(store backend.Store, path, body string) (bool, string) {
	d.Helper()
	commands := api.New(store, api.Options{})
	mux := http.NewServeMux()
	mux.Handle("/tasks/", workers.Handler(d.Context(), store))
	mux.Handle("/events", cloudevents.Handler(store))
	mux.Handle("/console/", console.New(store, console.Options{Commands: commands}))
	mux.Handle(api.Prefix, commands)
	ctx := server.WithCaller(d.Context(), server.Caller{Name: "ann", Operate: true})
	form := strings.HasPrefix(path, "/console")
	if form {
		body += "&once=k"
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+d.names.Replace(path), strings.NewReader(body))
	switch {
	case form:
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case strings.HasPrefix(path, "/events"):
		r.Header.Set("Content-Type", "application/cloudevents+json")
	default:
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w.Code < 300 && !form || form && w.Code == http.StatusSeeOther, w.Body.String()
}

// changes returns what requests may have changed.
func (d *door) changes() string {
	d.Helper()
	ctx := d.Context()
	_, messages, err := d.store.Messages(ctx, "r", 0)
	tokens, err2 := d.store.RunTokens(ctx, "r")
	jobs, err3 := d.store.JobList(ctx, storage.JobQuery{})
	schedules, err4 := d.store.Schedules(ctx, backend.ScheduleQuery{})
	limits, err5 := d.store.Limits(ctx)
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		d.Fatal(err)
	}
	slices.SortFunc(tokens, func(a, b storage.Token) int { return strings.Compare(a.ID, b.ID) })
	text, err := json.Marshal([]any{messages, tokens, jobs, schedules, limits})
	if err != nil {
		d.Fatal(err)
	}
	return string(text)
}
