//go:build unix

package lambda_test

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/lambda"
)

func python(name, handler, code string) lambda.Function {
	return lambda.Function{Name: name, Runtime: "python3.12", Handler: handler, Code: code}
}

// TestPythonHandlers runs handlers of Python as AWS does: in modules with folders, with layers, environment and context.
func TestPythonHandlers(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	code := write(t, map[string]string{
		"src/app.py": `
import decimal, os, sys
import shared, rates
def handler(event, context):
    return {"sum": event["a"] + event["b"], "rate": rates.RATE, "name": shared.NAME, "price": decimal.Decimal("2.50")}
def env(event, context):
    return {n: os.environ.get(n) for n in event}
def seen(event, context):
    return [context.function_name, context.function_version, context.invoked_function_arn, context.memory_limit_in_mb,
        context.log_group_name, 0 < context.get_remaining_time_in_millis() <= 5000, context.client_context.custom,
        len(context.aws_request_id), os.getcwd() == os.environ["LAMBDA_TASK_ROOT"]]
`,
		"shared.py": "NAME = 'shop'\n",
	})
	layer := write(t, map[string]string{"python/rates.py": "RATE = 3\n"})
	f := python("Sum", "src/app.handler", code)
	f.Layers = []string{layer}
	env := python("Env", "src.app.env", code)
	env.Layers, env.Environment = f.Layers, map[string]string{"TABLE": "orders", "AWS_REGION": "mars-1"}
	seen := python("Seen", "src/app.seen", code)
	seen.Layers, seen.Timeout, seen.MemoryMB = f.Layers, 5e9, 256
	s := start(t, f, env, seen)
	returns(t, s, "Sum", `{"a": 1, "b": 2}`, `{"sum": 3, "rate": 3, "name": "shop", "price": 2.5}`)
	returns(t, s, "Env", `["TABLE", "AWS_REGION", "_HANDLER", "AWS_LAMBDA_FUNCTION_NAME", "AWS_ACCESS_KEY_ID",
		"AWS_EXECUTION_ENV", "EBB_KEYS"]`, `{"TABLE": "orders", "AWS_REGION": "us-east-1", "_HANDLER": "src.app.env", `+
		`"AWS_LAMBDA_FUNCTION_NAME": "Env", "AWS_ACCESS_KEY_ID": "000000000000", `+
		`"AWS_EXECUTION_ENV": "AWS_Lambda_python3.12", "EBB_KEYS": null}`)
	a := call(t, s, "arn:aws:lambda:us-east-1:000000000000:function:Seen", "{}",
		"X-Amz-Client-Context: "+base64.StdEncoding.EncodeToString([]byte(`{"custom": {"k": "v"}}`)))
	want := `["Seen", "$LATEST", "arn:aws:lambda:us-east-1:000000000000:function:Seen", "256", "/aws/lambda/Seen", true, ` +
		`{"k": "v"}, 36, true]`
	if a.body != want {
		t.Errorf("the context is %s; want %s", a.body, want)
	}
}

// TestPythonErrors compares the errors of handlers of Python with those of AWS, and finds their output in the log.
func TestPythonErrors(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	code := write(t, map[string]string{
		"app.py": `
import logging, sys
class OutOfStock(Exception): pass
def raises(event, context):
    print("looking for", event["item"])
    logging.getLogger().error("nothing left")
    raise OutOfStock("no " + event["item"])
def unfit(event, context): return {1, 2}
def leaves(event, context): sys.exit(3)
`,
		"broken.py": "def handler(:\n", "missing.py": "import no_such_module\n", "fails.py": "1/0\n",
		"sdk.py": "raise ModuleNotFoundError(\"No module named 'boto3'\")\n",
	})
	var functions []lambda.Function
	for name, handler := range map[string]string{
		"Raises": "app.raises", "Unfit": "app.unfit", "Leaves": "app.leaves", "Broken": "broken.handler",
		"Missing": "missing.handler", "Absent": "nowhere.handler", "NoName": "app.nothing", "Bad": "app", "Fails": "fails.handler",
		"SDK": "sdk.handler",
	} {
		functions = append(functions, python(name, handler, code))
	}
	s := start(t, functions...)
	a := call(t, s, "Raises", `{"item": "tea"}`)
	var got map[string]any
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"errorMessage": "no tea", "errorType": "OutOfStock", "requestId": a.header.Get("X-Amzn-Requestid"),
		"stackTrace": []any{"  File \"" + code + "/app.py\", line 7, in raises\n    raise OutOfStock(\"no \" + event[\"item\"])\n"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
	if log := a.log(t); !regexp.MustCompile(`(?s)^START RequestId: \S+ Version: \$LATEST\nlooking for tea\n` +
		`\[ERROR\]\t\S+Z\t\S+\tnothing left\n\[ERROR\] OutOfStock: no tea\nTraceback.*END RequestId: \S+\nREPORT RequestId: `).
		MatchString(log) {
		t.Errorf("the log is %s", log)
	}
	if log := call(t, s, "SDK", "{}").log(t); !strings.Contains(log, "(pip install boto3)") {
		t.Errorf("the log does not say how to install the module: %s", log)
	}
	if log := call(t, s, "Broken", "{}").log(t); !strings.Contains(log, "is for python3.12: this machine may have an older") {
		t.Errorf("the log does not name the version: %s", log)
	}
	for name, want := range map[string]string{
		"Unfit":   "Runtime.MarshalError: Unable to marshal response: Object of type set is not JSON serializable",
		"Broken":  "Runtime.UserCodeSyntaxError: Syntax error in module 'broken': ",
		"Missing": "Runtime.ImportModuleError: Unable to import module 'missing': No module named 'no_such_module'",
		"Absent":  "Runtime.ImportModuleError: Unable to import module 'nowhere': No module named 'nowhere'",
		"NoName":  "Runtime.HandlerNotFound: Handler 'nothing' missing on module 'app'",
		"Bad":     "Runtime.MalformedHandlerName: Bad handler 'app': not enough values to unpack (expected 2, got 1)",
		"Fails":   "ZeroDivisionError: division by zero",
		"Leaves":  "Runtime.ExitError: RequestId: ",
	} {
		f := call(t, s, name, "{}").fails(t)
		if got := f.Type + ": " + f.Message; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s; want %s", name, got, want)
		}
	}
}
