// Package server serves Ebb over HTTP, to those who may ask and within limits that no client can exceed. All that it
// serves are handlers: here are health and what guards them, in its subpackages workers, CloudEvents and metrics.
// A program mounts those that it wants, and serves them with a [Server] or, behind [Server.Guard], with its own.
//
//	srv, err := server.New(server.Options{Address: ":8083", Keys: "keys.txt"})
//	url, err := srv.Start(ctx, server.Paths(map[string]http.Handler{
//		"/livez":  server.Live(),
//		"/readyz": srv.Ready(c.Ready),
//		"/events": cloudevents.Handler(store),
//		"/tasks/": workers.Handler(ctx, store),
//	}))
package server
