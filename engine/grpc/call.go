package grpc

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/ebbflow/ebb/atom"
)

// CodeArgument is the code of a call whose input is not valid JSON of the method's message, or whose server is not
// allowed. No call was made.
const CodeArgument = "Grpc.Argument"

// idleTime is how long a connection is kept for the next call.
const idleTime = 90 * time.Second

// A call is the body of a task: a method on a server.
type call struct {
	caller *Caller
	method protoreflect.MethodDescriptor
	types  *dynamicpb.Types // of the schema
	target *url.URL
	client *connect.Client[dynamicpb.Message, dynamicpb.Message]
}

func newCall(c *Caller, method protoreflect.MethodDescriptor, files *protoregistry.Files, server *url.URL) *call {
	target := *server
	target.Path = strings.TrimSuffix(server.Path, "/") + "/" + string(method.Parent().FullName()) + "/" +
		string(method.Name())
	target.RawPath, target.RawQuery, target.Fragment, target.User = "", "", "", nil
	return &call{
		caller: c, method: method, types: dynamicpb.NewTypes(files), target: &target,
		client: connect.NewClient[dynamicpb.Message, dynamicpb.Message](c.client(), target.String(),
			connect.WithGRPC(), connect.WithSchema(method), connect.WithCodec(codec{}),
			connect.WithReadMaxBytes(atom.MaxValue), connect.WithResponseInitializer(empty)),
	}
}

// empty returns an empty message for the client to read an answer into.
func empty(spec connect.Spec, message any) error {
	method, is := spec.Schema.(protoreflect.MethodDescriptor)
	into, ok := message.(*dynamicpb.Message)
	if is && ok {
		*into = *dynamicpb.NewMessage(method.Output())
	}
	return nil
}

// Execute calls the method.
func (c *call) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return c.call(ctx, in.Input(), atom.IdempotencyKey(ctx))
}

// Revert calls the method to undo another, under the revert's own idempotency key.
func (c *call) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return c.call(ctx, in.Input(), atom.RevertKey(ctx))
}

// Reverts reports that Revert has an effect.
func (c *call) Reverts() bool { return true }

// call makes the call. The deadline of ctx goes with it, and the end of ctx cancels it.
func (c *call) call(ctx context.Context, in atom.Value, key string) (atom.Value, error) {
	if c.caller.Allow != nil {
		if err := c.caller.Allow(c.target); err != nil {
			return nil, atom.Errorf(CodeArgument, "%s must not be called: %w", c.target.Host, err)
		}
	}
	message, err := c.input(in)
	if err != nil {
		return nil, err
	}
	req := connect.NewRequest(message)
	about := atom.CurrentCall(ctx)
	req.Header().Set("Idempotency-Key", key)
	req.Header().Set("Ebb-Run", url.PathEscape(about.Run))
	req.Header().Set("Ebb-Path", url.PathEscape(about.Path))
	req.Header().Set("Ebb-Attempt", strconv.Itoa(about.Attempt))
	if about.Trace != "" {
		req.Header().Set("Traceparent", about.Trace)
	}
	answer, err := c.client.CallUnary(ctx, req)
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	return c.output(answer.Msg)
}
