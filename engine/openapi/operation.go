package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/webclient"
)

// An operation is the body of a task that calls an operation.
type operation struct {
	caller     *Caller
	server     *url.URL
	path       string
	method     string
	parameters []*openapi3.Parameter
	body       string // media type of the request's body; "" if it has none
	required   bool   // the body is required
}

func newOperation(
	c *Caller, doc *openapi3.T, uri, path, method string, item *openapi3.PathItem, op *openapi3.Operation,
) (*operation, error) {
	server, err := serverOf(doc, uri, item, op)
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %s: %w", redact.URL(uri), op.OperationID, err)
	}
	o := &operation{caller: c, server: server, path: path, method: method, parameters: parametersOf(item, op)}
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return o, nil
	}
	o.required = op.RequestBody.Value.Required
	for media := range op.RequestBody.Value.Content {
		if isJSON(media) {
			o.body = media
			return o, nil
		}
	}
	return nil, fmt.Errorf("openapi: %s: %s takes no JSON", redact.URL(uri), op.OperationID)
}

func isJSON(media string) bool {
	media, _, err := mime.ParseMediaType(media)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json") || media == "*/*")
}

// Execute calls the operation.
func (o *operation) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return o.call(ctx, in.Input(), atom.IdempotencyKey(ctx))
}

// Revert calls the operation to undo another, under the revert's own idempotency key.
func (o *operation) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return o.call(ctx, in.Input(), atom.RevertKey(ctx))
}

// Reverts reports that Revert does something.
func (o *operation) Reverts() bool { return true }

// call makes the request. An answer with status 400 or above is a failure whose details contain the status and
// body. A body that is not JSON is null.
func (o *operation) call(ctx context.Context, in atom.Value, key string) (atom.Value, error) {
	req, err := o.request(ctx, in)
	if err != nil {
		return nil, err
	}
	if o.caller.Allow != nil {
		if err := o.caller.Allow(req.URL); err != nil {
			return nil, atom.Errorf(CodeArgument, "%s must not be asked: %w", req.URL.Host, err)
		}
	}
	call := atom.CurrentCall(ctx)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Ebb-Run", url.PathEscape(call.Run))
	req.Header.Set("Ebb-Path", url.PathEscape(call.Path))
	req.Header.Set("Ebb-Attempt", strconv.Itoa(call.Attempt))
	client := o.caller.Client
	if client == nil {
		client = webclient.Default()
	}
	answer, err := client.Do(req)
	if err != nil {
		return nil, broken(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // the body was read as far as needed
	body, err := io.ReadAll(io.LimitReader(answer.Body, atom.MaxValue+1))
	switch {
	case err != nil:
		return nil, broken(ctx, err)
	case answer.StatusCode >= http.StatusBadRequest:
		return nil, refusal(answer, body)
	case len(body) > atom.MaxValue:
		return nil, atom.Errorf(atom.CodeTooLarge, "the answer of %s is larger than %d bytes", req.URL.Host, atom.MaxValue)
	case len(body) == 0 || !isJSON(answer.Header.Get("Content-Type")):
		return atom.Null, nil
	case !json.Valid(body):
		return nil, atom.Errorf(atom.CodeBadResult, "the answer of %s is said to be JSON, and is not", req.URL.Host)
	}
	return atom.FromJSON(body), nil
}

// CodeConnection is the code of the failure of a request without an answer.
const CodeConnection = "OpenAPI.Connection"

func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return atom.Errorf(CodeConnection, "%w", err)
}

// refusal returns the failure for an answer with status 400 or above.
func refusal(answer *http.Response, body []byte) error {
	f := &atom.Failure{
		Code:    "Http.StatusCode." + strconv.Itoa(answer.StatusCode),
		Message: fmt.Sprintf("%s answers %s", answer.Request.URL.Host, answer.Status),
	}
	details := map[string]any{"status": answer.StatusCode}
	switch {
	case len(body) > atom.MaxFailureDetails/2:
		details["body"] = string(body[:atom.MaxFailureDetails/4])
	case isJSON(answer.Header.Get("Content-Type")) && json.Valid(body):
		details["body"] = json.RawMessage(body)
	default:
		details["body"] = string(body)
	}
	if v, err := atom.Encode(details); err == nil && len(v) <= atom.MaxFailureDetails {
		f.Details = v
	}
	return f
}
