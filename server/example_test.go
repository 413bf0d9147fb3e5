package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/conductor"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/server/workers"
	"github.com/ebbflow/ebb/storage/memstore"
	"github.com/ebbflow/ebb/worker"
)

// A program mounts what Ebb serves beside what it serves itself.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New()
	shop := flow.Linear("shop", atom.Remote[struct{}, string]("charge", "charge", atom.As("receipt")))
	c, err := conductor.New(jobs.New(store, jobs.Policy{}), conductor.NewCatalog().Add(1, shop))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv, err := server.New(server.Options{Address: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	url, err := srv.Start(ctx, server.Paths(map[string]http.Handler{
		"/livez":  server.Live(),
		"/readyz": srv.Ready(c.Ready),
		"/events": cloudevents.Handler(store),
		"/tasks/": workers.Handler(ctx, store),
		"/hello":  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "my own") }),
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	charge := func(_ context.Context, t *worker.Task) (any, error) { return "receipt of " + t.Run, nil }
	w := worker.Worker{URL: url, Do: map[string]worker.Func{"charge": charge}}
	go func() { ended <- w.Run(ctx) }()

	if eng, err := engine.New(shop, store); err == nil {
		if result, err := eng.Run(ctx, "order-7"); err == nil {
			fmt.Println(result.Value("receipt"))
		}
	}
	for _, path := range []string{"/hello", "/metrics"} {
		answer, err := http.Get(url + path)
		if err != nil {
			fmt.Println(err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		fmt.Print(answer.StatusCode, " ", string(text))
	}
	stop()
	fmt.Println(<-ended, <-ended, srv.Stop(context.Background()))
	// Output:
	// "receipt of order-7" true
	// 200 my own
	// 404 {"error":"not_found","message":"\"/metrics\" is not served; these are: /events, /hello, /livez, /readyz, /tasks/"}
	// <nil> <nil> <nil>
}
