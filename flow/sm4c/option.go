package sm4c

import "github.com/ebbflow/ebb/flow/sm4c/internal/check"

// An Option determines how [Parse] and [Validate] read a definition.
type Option func(*check.Options)

// A Loader returns the JSON document with the given URI. The caller that provides the Loader decides which
// documents may be loaded.
type Loader func(uri string) ([]byte, error)

// Load allows definitions to keep their events, functions and retry policies in separate documents. The loaded
// documents are part of [Machine.Text]. Parsing that text does not load them again.
func Load(l Loader) Option { return func(o *check.Options) { o.Loader = l } }

// LoadAPIs also loads the documents of functions: OpenAPI documents, and schemas of gRPC as the JSON of a
// google.protobuf.FileDescriptorSet. Parse checks that they have the operations and methods, and stores them with the
// definition, see [Machine.Document].
func LoadAPIs(l Loader) Option { return func(o *check.Options) { o.APIs = l } }

// Strict refuses Ebb's additions to the language: revert, functions of type task, resources, and waitDefault.
func Strict() Option { return func(o *check.Options) { o.Strict = true } }

// WaitDefault makes the machine wait for calls without waitForCompletion, as the original engine does. By the text
// of the language it does not wait for them. A definition can set this itself with "waitDefault".
func WaitDefault() Option { return func(o *check.Options) { o.Waits = true } }

func chosen(opts []Option) check.Options {
	var o check.Options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}
