package grpc

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/clip"
)

// CodePrefix begins the codes of failures that are a status of gRPC: Grpc.NOT_FOUND.
const CodePrefix = "Grpc."

// maxDetails is the maximum number of details of a status that become part of a failure.
//
//limit:sm4c details of a status of gRPC | {} | left out
const maxDetails = 20

// failure returns the failure of a call. Its details are {"status": 5, "details": […]}: the number of the status, and
// the details in JSON, each with its type as "@type". If ctx ended, the failure is its cause.
func (c *call) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	code := connect.CodeOf(err)
	if _, lost := errors.AsType[*net.OpError](err); lost {
		code = connect.CodeUnavailable // the library takes a connection that is reset for the end of ctx
	}
	f := &atom.Failure{Code: CodePrefix + statusName(code), Message: c.target.Host + " answers " + statusName(code)}
	details := map[string]any{"status": int(code)}
	said, is := asError(err)
	if is {
		if text := said.Message(); text != "" {
			f.Message += ": " + clip.Text(text, atom.MaxFailureText)
		}
		if all := c.details(said); len(all) > 0 {
			details["details"] = all
		}
	}
	for range 2 {
		if v, err := atom.Encode(details); err == nil && len(v) <= atom.MaxFailureDetails {
			f.Details = v
			break
		}
		delete(details, "details") // they are too large
	}
	return f
}

// details returns the details of a status in JSON. A detail whose type the schema does not have is its type alone.
func (c *call) details(said *connect.Error) (all []json.RawMessage) {
	for _, detail := range said.Details() {
		if len(all) == maxDetails {
			break
		}
		all = append(all, c.detail(detail))
	}
	return all
}

func (c *call) detail(detail *connect.ErrorDetail) json.RawMessage {
	members := map[string]json.RawMessage{}
	known, err := c.types.FindMessageByURL(detail.Type())
	if err == nil {
		message := known.New().Interface()
		err = proto.UnmarshalOptions{RecursionLimit: maxDepth, Resolver: c.types}.Unmarshal(detail.Bytes(), message)
		if err == nil && atLeast(message.ProtoReflect(), atom.MaxFailureDetails) <= atom.MaxFailureDetails {
			if text, err := (protojson.MarshalOptions{Resolver: c.types}).Marshal(message); err == nil {
				if json.Unmarshal(text, &members) != nil { // a value such as a timestamp is not an object
					members = map[string]json.RawMessage{"value": text}
				}
			}
		}
	}
	name, _ := json.Marshal(detail.Type()) // every text has a JSON form
	members["@type"] = name
	text, _ := json.Marshal(members) // all members are JSON
	return text
}

// statusName returns the name of a status as gRPC writes it: NOT_FOUND.
func statusName(code connect.Code) string { return strings.ToUpper(code.String()) }

// asError returns the error of the client's library.
func asError(err error) (*connect.Error, bool) { return errors.AsType[*connect.Error](err) }
