package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ebbflow/ebb/atom"
)

// lambdaInvoke is the service by which functions are called by their names.
const lambdaInvoke = "arn:aws:states:::lambda:invoke"

// CodeNoFunction is the code of the failure of a call of a function that is not
// mapped, as AWS calls it.
const CodeNoFunction = "Lambda.ResourceNotFoundException"

// function returns what the function of a name or an ARN is mapped to, or was
// added as: by what it is called, by its ARN without a version, or by its bare
// name. A bare name finds a function that is known by its ARN, too.
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

// invocation is the body of lambda:invoke: the function that its input names does
// the work, and what it gives is wrapped as the service wraps it.
type invocation struct{ registry *Registry }

// Execute calls the function.
func (i invocation) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	body, payload, err := i.find(in)
	if err != nil {
		return nil, err
	}
	result, err := body.Execute(ctx, atom.Single(payload))
	if err != nil {
		return nil, err
	}
	return invoked(result)
}

// Revert lets the function undo.
func (i invocation) Revert(ctx context.Context, in atom.Values, did atom.Outcome[atom.Value]) (atom.Value, error) {
	body, payload, err := i.find(in)
	if err != nil {
		return nil, err
	}
	return body.Revert(ctx, atom.Single(payload), did)
}

// Reverts reports that Revert may do something.
func (invocation) Reverts() bool { return true }

func (i invocation) find(in atom.Values) (body atom.Body, payload atom.Value, err error) {
	var call struct {
		FunctionName string          `json:"FunctionName"` //nolint:tagliatelle // the service's name
		Payload      json.RawMessage `json:"Payload"`      //nolint:tagliatelle // the service's name
	}
	if err := json.Unmarshal(argument(in).JSON(), &call); err != nil || call.FunctionName == "" {
		return nil, nil, atom.Errorf("Lambda.ValidationException", "lambda:invoke needs the FunctionName of a function")
	}
	body, ok := i.registry.function(call.FunctionName)
	if !ok {
		return nil, nil, atom.Errorf(CodeNoFunction, "Function not found: %s (map it to exec:PROGRAM or https://…%s)", call.FunctionName, i.registry.registered())
	}
	payload = atom.FromJSON(call.Payload)
	if call.Payload == nil {
		payload = atom.FromJSON([]byte("{}"))
	}
	return body, payload, nil
}

// invoked returns what the service makes of a function's result.
func invoked(result atom.Value) (atom.Value, error) {
	if len(result) == 0 {
		result = atom.Null
	}
	return atom.Encode(map[string]any{
		"ExecutedVersion": "$LATEST", "Payload": result, "StatusCode": http.StatusOK,
		"SdkHttpMetadata": map[string]any{"HttpStatusCode": http.StatusOK},
	})
}

// mapsFunctions reports whether any function can be called.
func (r *Registry) mapsFunctions() error {
	if len(r.names()) == 0 {
		return fmt.Errorf("tasks: there is no function that %s could call (map a function's name or ARN to exec:PROGRAM or https://…)", lambdaInvoke)
	}
	return nil
}
