package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ebbflow/ebb/atom"
)

// lambdaInvoke is the service that calls functions by their names.
const lambdaInvoke = "arn:aws:states:::lambda:invoke"

// CodeNoFunction is AWS's code for a call of a function that does not exist. Here it means that the function is not
// mapped.
const CodeNoFunction = "Lambda.ResourceNotFoundException"

// function returns the task of a Lambda function. It looks for the name or ARN as given, then for the ARN without a
// version, then for the bare name. A bare name also finds a function that is mapped by its ARN.
func (r *Registry) function(called string) (atom.Body, bool) {
	names := []string{called}
	if parts := strings.Split(called, ":"); strings.HasPrefix(called, "arn:") && len(parts) >= 7 {
		names = append(names, strings.Join(parts[:7], ":"), parts[6])
	} else if name, _, qualified := strings.Cut(called, ":"); qualified {
		names = append(names, name)
	}
	bare := names[len(names)-1]
	for _, known := range r.names() {
		if strings.HasPrefix(known, "arn:") && strings.HasSuffix(known, ":function:"+bare) {
			names = append(names, known)
		}
	}
	for _, name := range names {
		if body := r.known(name); body != nil {
			return body, true
		}
	}
	return nil, false
}

// invocation is the body of lambda:invoke. It calls the function that its input names, and wraps the result as the
// service does.
type invocation struct{ registry *Registry }

// Execute calls the function.
func (i invocation) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	body, payload, err := i.find(in)
	if err != nil {
		return nil, err
	}
	if f, ok := body.(*remoteFunction); ok {
		a, err := f.call(ctx, payload, atom.IdempotencyKey(ctx))
		if err != nil {
			return nil, err
		}
		return invoked(a.payload, a.version, a.status)
	}
	result, err := body.Execute(ctx, atom.Single(payload))
	if err != nil {
		return nil, err
	}
	return invoked(result, "$LATEST", http.StatusOK)
}

// Revert calls the function to undo.
func (i invocation) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	body, payload, err := i.find(in)
	if err != nil {
		return nil, err
	}
	return body.Revert(ctx, atom.Single(payload), did)
}

// Reverts reports that Revert may have an effect.
func (invocation) Reverts() bool { return true }

// An invocationInput is the input of lambda:invoke.
type invocationInput struct {
	FunctionName   string          `json:"FunctionName"`   //nolint:tagliatelle // the service's name
	Payload        json.RawMessage `json:"Payload"`        //nolint:tagliatelle // the service's name
	Qualifier      string          `json:"Qualifier"`      //nolint:tagliatelle // the service's name
	InvocationType string          `json:"InvocationType"` //nolint:tagliatelle // the service's name
	LogType        string          `json:"LogType"`        //nolint:tagliatelle // the service's name
	ClientContext  string          `json:"ClientContext"`  //nolint:tagliatelle // the service's name
}

func (i invocation) find(in atom.Values) (body atom.Body, payload atom.Value, err error) {
	var call invocationInput
	if err := json.Unmarshal(argument(in).JSON(), &call); err != nil || call.FunctionName == "" {
		return nil, nil, atom.Errorf("Lambda.ValidationException", "lambda:invoke needs the FunctionName of a function")
	}
	payload = atom.FromJSON(call.Payload)
	if call.Payload == nil {
		payload = atom.FromJSON([]byte("{}"))
	}
	body, known := i.registry.function(call.FunctionName)
	added, isAdded := body.(*remoteFunction)
	if known && !isAdded {
		return body, payload, nil
	}
	if !known && i.registry.Lambda == nil {
		return nil, nil, atom.Errorf(CodeNoFunction, "Function not found: %s (map it to exec:PROGRAM or https://…%s)",
			call.FunctionName, i.registry.registered())
	}
	f := &remoteFunction{
		registry: i.registry, name: call.FunctionName, qualifier: call.Qualifier, header: http.Header{},
	}
	if isAdded {
		f.client = added.client
	}
	for name, value := range map[string]string{
		"X-Amz-Invocation-Type": call.InvocationType, "X-Amz-Log-Type": call.LogType,
		"X-Amz-Client-Context": call.ClientContext,
	} {
		if value != "" {
			f.header.Set(name, value)
		}
	}
	return f, payload, nil
}

// invoked returns the service's result for a function's result.
func invoked(result atom.Value, version string, status int) (atom.Value, error) {
	if len(result) == 0 {
		result = atom.Null
	}
	return atom.Encode(map[string]any{
		"ExecutedVersion": version, "Payload": result, "StatusCode": status,
		"SdkHttpMetadata": map[string]any{"HttpStatusCode": status},
	})
}

// mapsFunctions reports whether any function can be called.
func (r *Registry) mapsFunctions() error {
	if len(r.names()) == 0 && r.Lambda == nil {
		return fmt.Errorf(
			"tasks: there is no function that %s could call (map a function's name or ARN to exec:PROGRAM or https://…)",
			lambdaInvoke)
	}
	return nil
}
