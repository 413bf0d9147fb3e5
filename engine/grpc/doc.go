// Package grpc calls unary methods of gRPC services as Protocol Buffers describe them. It is a module of its own,
// because the compiler of schemas and the client are large.
//
//	caller := &grpc.Caller{
//		Documents: func(uri string) ([]byte, error) { … }, // schemas, as [Schema] returns them
//		Server:    func(service string) (*url.URL, error) { return url.Parse("https://orders.example.org") },
//	}
//	registry := &tasks.Registry{Schemes: map[string]func(string) (atom.Body, error){grpc.Scheme: caller.Task}}
//
// A task is called grpc:URI#package.Service#Method. Its input and its result are the messages in the JSON mapping of
// Protocol Buffers (https://protobuf.dev/programming-guides/json). The result has all fields without presence, also
// those that have their default value.
//
// Each call carries the metadata idempotency-key, which is the same when the call is made again, and traceparent if
// the run has one. The package never asks a server for its schema: a run must not depend on a live server.
package grpc
