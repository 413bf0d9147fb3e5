// Package openapi calls operations of REST services that OpenAPI documents describe. It is a separate module,
// because the library that reads the documents is large.
//
//	caller := &openapi.Caller{Documents: func(uri string) ([]byte, error) { … }}
//	registry := &tasks.Registry{Schemes: map[string]func(string) (atom.Body, error){openapi.Scheme: caller.Task}}
//
// A task is named openapi:URI#operationId. Its input is an object of arguments, by the names of the operation's
// parameters. The request body is the argument body if there is one, otherwise an object of all arguments that are
// not parameters. Each request contains the call's idempotency key, which stays the same when the call is repeated.
package openapi
