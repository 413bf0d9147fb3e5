// Package nightwork shows a program that looks after runs with the REST API.
//
// You learn to mount the API in a program, to find the runs that failed, to read why, and to let them run again. The
// program could be in any language: it only sends requests.
//
// The scenario: servers did not boot last evening, because the zone was full. At night the zone has capacity again.
package nightwork_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/api"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

type createVolume struct{}

func (createVolume) Execute(context.Context, struct{}) (string, error) { return "vol-1", nil }

func (createVolume) Revert(context.Context, struct{}, atom.Outcome[string]) error { return nil }

// bootServer fails while the zone is full.
type bootServer struct{ full *atomic.Bool }

func (t bootServer) Execute(context.Context, struct{}) (string, error) {
	if t.full.Load() {
		return "", errors.New("the zone is full")
	}
	return "srv-1", nil
}

// Example finds the failed run, asks why, says what a revert would undo now, and retries the run.
func Example() {
	ctx := context.Background()
	store, full := memstore.New(), new(atomic.Bool)
	boot := flow.Linear("boot",
		atom.Task[struct{}, string]("create-volume", createVolume{}),
		atom.Task[struct{}, string]("boot", bootServer{full}))
	eng, err := engine.New(boot, store)
	if err != nil {
		fmt.Println(err)
		return
	}

	// In the evening, a run fails. Ebb undoes it.
	full.Store(true)
	_, err = eng.Run(ctx, "boot-1")
	fmt.Println("evening:", err != nil)

	// The program mounts the API, and its own login says who calls.
	serve := api.New(store, api.Options{Flow: func(context.Context, *storage.Run) (flow.Node, error) { return boot, nil }})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		night := server.Caller{Name: "night", Operate: true}
		serve.ServeHTTP(w, r.WithContext(server.WithCaller(r.Context(), night)))
	}))
	defer web.Close()

	// At night, a client finds what failed and reads why.
	var found api.Runs
	ask(http.MethodGet, web.URL+"/api/v1/runs?filter="+url.QueryEscape("state:REVERTED ended:<12h"), "", &found)
	for _, run := range found.Runs {
		at := web.URL + "/api/v1/runs/" + url.PathEscape(run.Run)
		var why api.Why
		ask(http.MethodGet, at+"/why", "", &why)
		fmt.Println("why:", run.Run, "is", why.State, "because", why.Failure.Message)

		// Once the zone has capacity, it lets the run start again. The key makes a repeated request count once.
		full.Store(false)
		var sent api.Sent
		ask(http.MethodPost, at+"/retry", "night-1", &sent)
		ask(http.MethodPost, at+"/retry", "night-1", &sent)
		fmt.Println("sent:", sent.Command)

		// A process that serves the store applies the command. Here it is this program.
		if _, err := eng.Run(ctx, run.Run); err != nil {
			fmt.Println(err)
		}
		var preview api.Preview
		ask(http.MethodGet, at+"/preview", "", &preview)
		fmt.Println("a revert would undo:", preview.Undo)
	}
	// Output:
	// evening: true
	// why: boot-1 is REVERTED because the zone is full
	// sent: retry
	// a revert would undo: [{boot STAYS_DONE} {create-volume REVERTED}]
}

// ask sends a request and decodes the answer.
func ask(method, url, key string, into any) {
	r, err := http.NewRequest(method, url, strings.NewReader(""))
	if err != nil {
		fmt.Println(err)
		return
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode >= http.StatusBadRequest {
		fmt.Println(answer.Status, err)
	}
}
