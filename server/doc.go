// Package server serves Ebb over HTTP to authorized clients, within limits that no client can exceed. It consists of
// handlers: this package has the health handlers and the guard, its subpackages have workers, CloudEvents, metrics and
// the protocol of AWS. A program mounts the handlers that it needs. It serves them with a [Server], or with its own
// server behind [Server.Guard].
//
//	srv, err := server.New(server.Options{Address: ":8083", Keys: "keys.txt"})
//	url, err := srv.Start(ctx, server.Paths(map[string]http.Handler{
//		"/livez":  server.Live(),
//		"/readyz": srv.Ready(c.Ready),
//		"/events": cloudevents.Handler(store),
//		"/tasks/": workers.Handler(ctx, store),
//	}))
package server
