package aws

import (
	"context"
	"fmt"
)

// A Service is an AWS service: what its requests and errors are called, and its operations.
type Service struct {
	Name   string // as in the scope of signatures, such as "states"
	Target string // what X-Amz-Target has before the name of the operation, without the dot
	// Package is that of the service's model, if clients may also use the oldest form of the protocol: X-Amz-Target begins
	// with the package, and Content-Type is application/json.
	Package     string
	ErrorPrefix string // what __type has before the code of an [Error] of the service, with the "#"
	// EmptyAnswers says that an operation without output has an empty body, as Amazon SWF. Else the body is {}.
	EmptyAnswers bool
	Operations   map[string]Operation
}

// An Operation decodes, validates and does the requests of one kind. [Op] makes it.
type Operation struct {
	do func(ctx context.Context, caller *Caller, body []byte) (any, error)
}

// A Caller is the client that sent a request.
type Caller struct {
	AccessKey string // ID of the key that signed the request; "" if the server requires no keys
	Account   string // that the client has chosen; "" means the server's, see [Options.AnyAccount]
	Region    string // that the client has chosen; "" means the server's
	Request   string // ID that the answer gives the request
	// Answered is called after the answer. Sent is false if the answer is an error or could not be written, or if the
	// client has disconnected. An operation sets it to give back what only this client may have; nil does nothing.
	Answered func(sent bool)
}

// Op returns the operation whose parameters have a shape. In is a struct with one field for each member of the shape,
// which the field's json tag names. A field whose member may be missing can be a pointer, which is then nil. The answer
// is Out as JSON; nil is an answer without output. If do returns an [*Error], the client receives it. Any other error
// is logged, and the client receives InternalFailure with status 503, after which SDKs retry.
//
// The context of do ends when the client disconnects. Op panics if In does not fit the shape.
func Op[In, Out any](shape *Shape, do func(ctx context.Context, caller *Caller, in *In) (*Out, error)) Operation {
	b := bind[In](shape)
	return Operation{func(ctx context.Context, caller *Caller, body []byte) (any, error) {
		in := new(In)
		if err := b.decode(body, in); err != nil {
			return nil, err
		}
		out, err := do(ctx, caller, in)
		if err != nil || out == nil {
			return nil, err
		}
		return out, nil
	}}
}

// An Error is an answer that refuses a request.
type Error struct {
	Code    string // such as "InvalidArn"; with a "#" in it, it is the whole __type
	Message string
	Status  int            // of HTTP; 0 means 400
	Fields  map[string]any // further members of the body, such as "resourceName"
}

// Errorf returns an error with a code and a message.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns code and message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }
