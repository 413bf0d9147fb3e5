// Package worker is the client library for workers: programs that do the work of runs in processes of their own.
// It asks an ebb serve, or a program that mounts server/workers, for tasks over HTTP.
// It imports no other package of Ebb.
//
//	w := worker.Worker{URL: "http://127.0.0.1:8083", Do: map[string]worker.Func{"charge": charge}}
//	err := w.Run(ctx)
package worker
