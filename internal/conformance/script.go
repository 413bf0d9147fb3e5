package conformance

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Script gives calls the answers that were recorded.
type Script struct {
	calls    []*Call
	used     []bool
	handlers map[string]string
}

// Script returns the execution's script.
func (e *Execution) Script() *Script {
	return &Script{calls: e.Tasks, used: make([]bool, len(e.Tasks)), handlers: e.Handlers}
}

// Next returns the answer to a call, and whether there is one. It takes the first unused answer with the same input: of
// the state, or of the resource if the state is not known. Without one, it takes the first unused answer of that state
// or resource. Workers of activities do not know the state: theirs is "". For a call that was not recorded, the answer
// is computed as by the function's program.
func (s *Script) Next(state, resource string, input json.RawMessage) (Answer, bool) {
	found := -1
	for i, call := range s.calls {
		unknown := state == "" || call.State == nil
		if s.used[i] || unknown && !sameResource(call, resource) || !unknown && *call.State != state {
			continue
		}
		if found < 0 {
			found = i
		}
		if difference("", decoded(call.Input), decoded(input)) == "" {
			found = i
			break
		}
	}
	if found < 0 {
		return s.program(resource, input)
	}
	s.used[found] = true
	a := s.calls[found].Result
	a.spaced = s.calls[found].Kind == "lambda"
	a.Submitted = s.calls[found].Submitted
	return a, true
}

func sameResource(call *Call, resource string) bool {
	return call.Resource == resource || "arn:aws:states:::"+call.ResourceType+":"+call.Resource == resource
}

// invoke is the service that calls functions by their names.
const invoke = "arn:aws:states:::lambda:invoke"

// program answers like the program of a function, called by its ARN or through the service, which wraps the answer.
func (s *Script) program(resource string, input json.RawMessage) (Answer, bool) {
	if resource != invoke {
		return handled(s.handlers[resource], input)
	}
	var call struct {
		FunctionName string          `json:"FunctionName"` //nolint:tagliatelle // the service's name
		Payload      json.RawMessage `json:"Payload"`      //nolint:tagliatelle // the service's name
	}
	if err := json.Unmarshal(input, &call); err != nil {
		return Answer{}, false
	}
	for arn, file := range s.handlers {
		if call.FunctionName != arn && !strings.HasSuffix(arn, ":"+call.FunctionName) {
			continue
		}
		a, ok := handled(file, call.Payload)
		if a.spaced = false; a.Output != nil {
			a.Output = invoked(a.Output)
		}
		return a, ok
	}
	return Answer{}, false
}

// invoked returns the result of Invoke for a function's result.
func invoked(payload json.RawMessage) json.RawMessage {
	headers := map[string]any{
		"Connection": "keep-alive", "Content-Length": strconv.Itoa(len(jsonText(decoded(payload), true))),
		"Content-Type": "application/json",
		"Date":         "today", "X-Amz-Executed-Version": "$LATEST", "x-amzn-Remapped-Content-Length": "0",
		"x-amzn-RequestId": "x-amzn-RequestId",
		"X-Amzn-Trace-Id":  "t",
	}
	all := map[string]any{}
	for name, value := range headers {
		all[name] = []any{value}
	}
	all["x-amzn-RequestId"] = headers["x-amzn-RequestId"]
	return json.RawMessage(jsonText(map[string]any{
		"ExecutedVersion": "$LATEST", "Payload": decoded(payload), "SdkHttpMetadata": map[string]any{
			"AllHttpHeaders": all, "HttpHeaders": headers, "HttpStatusCode": 200,
		}, "SdkResponseMetadata": map[string]any{"RequestId": "r"}, "StatusCode": 200,
	}, false))
}

// handled answers like the recorded Lambda functions, by the names of their files.
func handled(file string, input json.RawMessage) (Answer, bool) {
	exception := func(name string) Answer {
		return Answer{Failed: true, Error: &name, spaced: true, Cause: map[string]any{"$json": map[string]any{
			"errorMessage": "Some exception was raised.", "errorType": name, "requestId": "r",
			"stackTrace": []any{"  File \"/var/task/handler.py\", line 2, in handler\n    raise " + name +
				"(\"Some exception was raised.\")\n"},
		}}}
	}
	switch file {
	case "id_function.py":
		return Answer{Output: input}, true
	case "echo_function.py":
		return Answer{Output: json.RawMessage(`{"Return":"HelloWorld"}`)}, true
	case "return_bytes_str.py":
		return Answer{Output: json.RawMessage(`"HelloWorld!"`)}, true
	case "raise_exception.py":
		return exception("Exception"), true
	case "raise_custom_exception.py":
		return exception("CustomException"), true
	case "large_output_string.py":
		return Answer{Output: json.RawMessage(`"` + strings.Repeat("a", 257<<10) + `"`)}, true
	case "wait_60_seconds.py":
		return Answer{Output: input, Seconds: 60}, true
	}
	return Answer{}, false
}

// Text returns the cause of a failed answer as the task gave it. Lambda functions in Python write JSON with spaces
// after commas and colons.
func (a *Answer) Text() *string {
	switch cause := a.Cause.(type) {
	case string:
		return &cause
	case map[string]any:
		if value, ok := cause["$json"]; ok {
			text := jsonText(value, a.spaced)
			return &text
		}
	}
	return nil
}

// jsonText returns a value as JSON, with members in order of their names.
func jsonText(v any, spaced bool) string {
	if !spaced {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	var parts []string
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			parts = append(parts, jsonText(element, true))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, jsonText(name, false)+": "+jsonText(v[name], true))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return jsonText(v, false)
}
