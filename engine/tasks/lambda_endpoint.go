package tasks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/ebbflow/ebb/atom"
)

// Codes of calls of functions at an endpoint, as on AWS.
const (
	codeFunctionUnknown = "Lambda.Unknown"            // the function failed without an errorType
	codeFunctionReach   = "Lambda.SdkClientException" // the endpoint could not be reached
)

// A remoteFunction is a function at the endpoint of the registry, which it calls by the Invoke operation of AWS
// Lambda's API.
type remoteFunction struct {
	registry  *Registry
	name      string // name or ARN, which may have a version
	qualifier string // version or alias; "" is that of the name
	header    http.Header
	client    *http.Client // that calls it; nil is that of the registry
}

// inProcess is the address of functions whose transport needs none.
var inProcess = &url.URL{Scheme: "http", Host: "lambda"}

// functionName matches the names of functions as AWS writes them. Other names could choose another path of the
// endpoint.
var functionName = regexp.MustCompile(`^(?:arn:[a-z0-9-]+:lambda:[a-z0-9-]*:)?(?:\d{12}:)?(?:function:)?` +
	`[a-zA-Z0-9_-]{1,140}(?::[a-zA-Z0-9_$-]{1,128})?$`)

// remote returns the function at the endpoint; nil if the registry has no endpoint.
func (r *Registry) remote(name string) atom.Body {
	if r.Lambda == nil {
		return nil
	}
	return &remoteFunction{registry: r, name: name}
}

// Execute calls the function.
func (f *remoteFunction) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	a, err := f.call(ctx, argument(in), atom.IdempotencyKey(ctx))
	return a.payload, err
}

// Revert calls the function under the revert's own idempotency key.
func (f *remoteFunction) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	a, err := f.call(ctx, argument(in), atom.RevertKey(ctx))
	return a.payload, err
}

// Reverts reports that Revert has an effect.
func (*remoteFunction) Reverts() bool { return true }

// An invokedFunction is the answer of the endpoint.
type invokedFunction struct {
	payload atom.Value
	status  int
	version string
}

// call invokes the function. The error of a function that failed has the errorType of its answer as code, and the whole
// answer as message.
func (f *remoteFunction) call(ctx context.Context, payload atom.Value, key string) (a invokedFunction, err error) {
	if !functionName.MatchString(f.name) {
		return a, atom.Errorf("Lambda.ValidationException", "%q is not the name or the ARN of a function", f.name)
	}
	client, to := f.client, inProcess
	if client == nil {
		client, to = f.registry.http(), f.registry.Lambda
	}
	to = to.JoinPath("2015-03-31", "functions", url.PathEscape(f.name), "invocations")
	if f.qualifier != "" {
		to.RawQuery = url.Values{"Qualifier": {f.qualifier}}.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(payload.JSON()))
	if err != nil {
		return a, fmt.Errorf("tasks: %w", err)
	}
	maps.Copy(req.Header, f.header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	if trace := atom.CurrentCall(ctx).Trace; trace != "" {
		req.Header.Set("Traceparent", trace)
	}
	answer, err := client.Do(req)
	if err != nil {
		if err = broken(ctx, err); ctx.Err() == nil {
			err = atom.Errorf(codeFunctionReach, "%s", atom.NewFailure("", 0, err).Message)
		}
		return a, err
	}
	defer func() { _ = answer.Body.Close() }() // everything needed was read
	body, err := io.ReadAll(io.LimitReader(answer.Body, atom.MaxValue+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return a, context.Cause(ctx)
	case err != nil:
		return a, atom.Errorf(codeFunctionReach, "%w", err)
	case len(body) > atom.MaxValue:
		return a, atom.Errorf(atom.CodeTooLarge, "the answer of function %s is larger than %d bytes", f.name, atom.MaxValue)
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return a, refusedFunction(answer, body)
	case answer.Header.Get("X-Amz-Function-Error") != "":
		return a, failedFunction(body)
	}
	a.status, a.version = answer.StatusCode, cmp.Or(answer.Header.Get("X-Amz-Executed-Version"), "$LATEST")
	a.payload = atom.FromJSON(body)
	if body = bytes.TrimSpace(body); !json.Valid(body) { // the answer to an asynchronous call is empty
		a.payload, err = atom.Encode(string(body))
	}
	return a, err
}

// failedFunction returns the failure of a function that ran.
func failedFunction(body []byte) error {
	var thrown struct {
		ErrorType string `json:"errorType"`
	}
	if err := json.Unmarshal(body, &thrown); err != nil || thrown.ErrorType == "" {
		thrown.ErrorType = codeFunctionUnknown
	}
	return atom.Errorf(thrown.ErrorType, "%s", begin(body, atom.MaxValue))
}

// refusedFunction returns the failure of a call that the endpoint refused.
func refusedFunction(answer *http.Response, body []byte) error {
	var told struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(body, &told); err != nil || told.Message == "" {
		told.Message = begin(bytes.TrimSpace(body), maxCause)
	}
	kind, _, _ := strings.Cut(cmp.Or(answer.Header.Get("X-Amzn-Errortype"), told.Type), ":")
	kind = kind[strings.LastIndexByte(kind, '#')+1:]
	if kind == "" {
		kind = "AWSLambdaException"
	}
	return atom.Errorf("Lambda."+kind, "%s (Service: Lambda, Status Code: %d, Request ID: %s)", told.Message,
		answer.StatusCode, cmp.Or(answer.Header.Get("X-Amzn-Requestid"), "null"))
}
