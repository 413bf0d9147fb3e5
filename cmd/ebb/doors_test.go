package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

type consent struct {
	By string `json:"by"`
}

// TestDoors sends what does not fit to each door of HTTP. Each refuses it with its reason, and nothing is stored.
//
// Attack (CloudEvents and workers): A signal, an event, a result or an input of another type, with a misspelled member, with
// bytes that are not UTF-8, to a machine without signals, or to a run with 10,000 unread messages.
// Result: Refused with the reason; nothing is stored.
func TestDoors(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	root := flow.Unordered("f",
		atom.Awaits[consent]("wait", "approved", atom.Deferral{}),
		atom.Func("ask", func(context.Context, struct{}) (int, error) { return 0, atom.ErrDeferred },
			atom.Deferrable(atom.Deferral{}), atom.As("votes")),
		atom.Remote[struct{}, consent]("work", "count", atom.As("counted")),
	)
	e, err := engine.New(root, store)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"boot-1", "full"} {
		if _, err := e.Run(t.Context(), id, engine.Unload()); err == nil {
			t.Fatal("it does not wait")
		}
	}
	hash, err := store.PutDefinition(t.Context(), storage.Definition{
		Name: "m", Hash: "h", Language: "asl", Text: []byte(`{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":9,"End":true}}}`),
	})
	if err == nil {
		err = store.Create(t.Context(), storage.Run{ID: "machine", Flow: "m", Definition: hash.Hash})
	}
	if err != nil {
		t.Fatal(err)
	}
	token := ""
	tokens, err := store.RunTokens(t.Context(), "boot-1")
	for i := range tokens {
		if tokens[i].Path == "ask" {
			token = tokens[i].ID
		}
	}
	if err != nil || token == "" {
		t.Fatal(tokens, err)
	}
	task, err := engine.TakeWork(t.Context(), store, "count", "w")
	if err != nil {
		t.Fatal(err)
	}
	rest := newAPIWorld(t, store, root)
	tasks, events := workers.Handler(t.Context(), store), cloudevents.Handler(store)
	ask := func(h http.Handler, path, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(path, "/events") {
			r.Header.Set("Content-Type", "application/cloudevents+json")
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	}
	event := `{"specversion":"1.0","id":"1","source":"s","type":"t"}`
	work := "/tasks/" + task.Token + ".1/"
	many := make([]storage.Message, backend.MaxInbox)
	for i := range many {
		many[i] = storage.Message{Run: "full", Kind: grow.MessageSignal, Name: "other"}
	}
	if err := store.Send(t.Context(), many...); err != nil {
		t.Fatal(err)
	}
	for id, hint := range map[string]string{
		"boot-1": `ebb signal boot-1 approved --data '{"by": "…"}'`, "full": "9900 more messages are in its inbox.",
	} {
		run, err := store.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		why, err := inspect.Diagnose(t.Context(), store, run)
		if err != nil || !strings.Contains(strings.Join(why.Sentences(time.Now()), "\n"), hint) {
			t.Errorf("why %s: %q, %v", id, why.Sentences(time.Now()), err)
		}
	}
	before := state(t, store)
	for _, c := range []struct {
		handler    http.Handler
		path, body string
		status     int
		says       string
	}{
		{rest.handler, "/api/v1/runs/boot-1/signal", `{"name":"approved"}`, 400, `the member \"by\" is missing; such as {\"by\": \"…\"}`},
		{rest.handler, "/api/v1/runs/boot-1/signal", `{"name":"approved","data":{"by":7}}`, 400, `\"by\" is of the JSON type number`},
		{rest.handler, "/api/v1/runs/boot-1/signal", `{"name":"approved","dada":1}`, 400, `dada`},
		{rest.handler, "/api/v1/runs/boot-1/signal", "{\"name\":\"approved\",\"data\":{\"by\":\"\xff\"}}", 400, `not UTF-8`},
		{rest.handler, "/api/v1/runs/machine/signal", `{"name":"approved"}`, 409, `has no signals`},
		{rest.handler, "/api/v1/runs/full/signal", `{"name":"approved","data":{"by":"ann"}}`, 429, `10000 messages`},
		{rest.handler, "/api/v1/tokens/" + token + "/complete", `{"result":"x"}`, 400, `no result of ask`},
		{rest.handler, "/api/v1/tokens/" + token + "/complete", `{"resul":1}`, 400, `resul`},
		{rest.handler, "/api/v1/jobs", "{\"flow\":\"f\",\"input\":{\"a\":\"\xff\"}}", 400, `not UTF-8`},
		{tasks, work + "complete", `{"result":{"who":"ann"}}`, 400, `the member \"by\" is missing`},
		{tasks, work + "complete", `{"reslut":{"by":"ann"}}`, 400, `reslut`},
		{tasks, work + "complete", "{\"result\":\"\xff\"}", 400, `not UTF-8`},
		{tasks, work + "fail", `{"cod":"x"}`, 400, `cod`},
		{tasks, work + "heartbeat", `{"prog":1}`, 400, `prog`},
		{tasks, "/tasks/poll", `{"kinds":["count"],"wait":1}`, 400, `wait`},
		{events, "/events?run=boot-1", strings.Replace(event, `"t"`, "\"\xff\"", 1), 400, `not UTF-8`},
		{events, "/events?run=full", event, 429, `10000 messages`},
	} {
		if status, said := ask(c.handler, c.path, c.body); status != c.status || !strings.Contains(said, c.says) {
			t.Errorf("%s %s: %d %s; want %d with %s", c.path, c.body, status, said, c.status, c.says)
		}
	}
	if after := state(t, store); after != before {
		t.Errorf("something was stored:\n%s\n%s", before, after)
	}
	if _, err := engine.Suspend(t.Context(), store, "full"); err != nil { // commands have places of their own
		t.Error(err)
	}
	for _, c := range []struct {
		handler    http.Handler
		path, body string
	}{
		{rest.handler, "/api/v1/runs/boot-1/signal", `{"name":"approved","data":{"by":"ann"}}`},
		{rest.handler, "/api/v1/tokens/" + token + "/complete", `{"result":3}`},
		{tasks, work + "complete", `{"result":{"by":"ann"}}`},
		{events, "/events?run=boot-1", event},
	} {
		if status, said := ask(c.handler, c.path, c.body); status >= 300 {
			t.Errorf("%s %s: %d %s", c.path, c.body, status, said)
		}
	}
	if _, err := e.Run(t.Context(), "boot-1"); err != nil {
		t.Error(err)
	}
	if status, said := ask(rest.handler, "/api/v1/runs/boot-1/signal", `{"name":"approved","data":{"by":"ann"}}`); status != 409 ||
		!strings.Contains(said, "SUCCESS") {
		t.Errorf("a signal to a run that has ended: %d %s", status, said)
	}
	if status, said := ask(events, "/events?run=boot-1", strings.Replace(event, `"1"`, `"2"`, 1)); status != 410 {
		t.Errorf("an event for a run that has ended: %d %s", status, said)
	}
}

// state is what the runs of the test have stored, without lines of refused commands.
func state(t *testing.T, store backend.Store) string {
	t.Helper()
	var all bytes.Buffer
	for _, id := range []string{"boot-1", "full", "machine"} {
		unread, _, err := store.Unread(t.Context(), id, 1)
		tokens, errTokens := store.RunTokens(t.Context(), id)
		if err != nil || errTokens != nil {
			t.Fatal(err, errTokens)
		}
		_ = json.NewEncoder(&all).Encode([]any{id, unread, tokens})
	}
	jobs, err := store.JobList(t.Context(), storage.JobQuery{})
	if err != nil {
		t.Fatal(err)
	}
	_ = json.NewEncoder(&all).Encode(jobs)
	return all.String()
}
