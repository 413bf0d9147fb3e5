// Package openapi calls operations of REST services as OpenAPI documents describe
// them. It is a module of its own, for what reads the documents is large.
//
//	caller := &openapi.Caller{Documents: func(uri string) ([]byte, error) { … }}
//	registry := &tasks.Registry{Schemes: map[string]func(string) (atom.Body, error){openapi.Scheme: caller.Task}}
//
// A task is called openapi:URI#operationId. Its input is an object of arguments by
// the names of the operation's parameters; what is no parameter is the body: the
// argument body if there is one, else all the rest as an object. Each request
// carries the call's idempotency key, the same when it is made again.
package openapi
