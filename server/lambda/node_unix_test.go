//go:build unix

package lambda_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server/lambda"
)

func node(name, handler, code string) lambda.Function {
	return lambda.Function{Name: name, Runtime: "nodejs20.x", Handler: handler, Code: code}
}

// TestNodeHandlers runs handlers of Node.js as AWS does: promises, callbacks, both kinds of modules, layers and context.
func TestNodeHandlers(t *testing.T) {
	t.Parallel()
	needs(t, "node")
	code := write(t, map[string]string{
		"app.js": `
const rates = require('rates')
exports.sum = async (event) => ({ sum: event.a + event.b, rate: rates.RATE })
exports.later = (event, context, callback) => { setTimeout(() => callback(null, event.n + 1), 5) }
exports.early = (event, context, callback) => {
  context.callbackWaitsForEmptyEventLoop = false
  setTimeout(() => {}, 60000)
  callback(null, 'early')
}
exports.old = (event, context) => context.succeed('old')
exports.silent = () => {}
exports.seen = async (event, context) => [context.functionName, context.functionVersion, context.invokedFunctionArn,
  context.memoryLimitInMB, context.logGroupName, context.getRemainingTimeInMillis() <= 3000, context.awsRequestId.length,
  process.cwd() === process.env.LAMBDA_TASK_ROOT, process.env.AWS_EXECUTION_ENV]
`,
		"lib/mod.mjs": "import { readFile } from 'node:fs/promises'\nexport const handler = async (e) => ({ mod: typeof readFile, e })\n",
	})
	typed := write(t, map[string]string{
		"package.json": `{"type": "module"}`, "index.js": "import { b } from './b.js'\nexport async function handler() { return b }\n",
		"b.js": "export const b = 'typed'\n",
	})
	layer := write(t, map[string]string{"nodejs/node_modules/rates/index.js": "exports.RATE = 3\n"})
	var functions []lambda.Function
	for _, f := range []lambda.Function{
		node("Sum", "app.sum", code), node("Later", "app.later", code), node("Early", "app.early", code),
		node("Old", "app.old", code), node("Silent", "app.silent", code), node("Seen", "app.seen", code),
		node("Mod", "lib/mod.handler", code), node("Typed", "index.handler", typed),
		{Name: "Inline", Runtime: "nodejs20.x", Handler: "index.handler", Inline: "exports.handler = async () => 'inline'"},
		{Name: "InlineModule", Runtime: "nodejs20.x", Handler: "index.handler", Inline: "export const handler = async () => 1"},
	} {
		f.Layers = []string{layer}
		functions = append(functions, f)
	}
	s := start(t, functions...)
	returns(t, s, "Sum", `{"a": 1, "b": 2}`, `{"sum":3,"rate":3}`)
	returns(t, s, "Later", `{"n": 1}`, `2`)
	returns(t, s, "Early", `{}`, `"early"`)
	returns(t, s, "Early", `{}`, `"early"`) // by the same process, whose timer still runs
	returns(t, s, "Old", `{}`, `"old"`)
	returns(t, s, "Silent", `{}`, `null`)
	returns(t, s, "Mod", `{"x": 1}`, `{"mod":"function","e":{"x":1}}`)
	returns(t, s, "Typed", `{}`, `"typed"`)
	returns(t, s, "Inline", `{}`, `"inline"`)
	returns(t, s, "InlineModule", `{}`, `1`)
	returns(t, s, "Seen", `{}`, `["Seen","$LATEST","arn:aws:lambda:us-east-1:000000000000:function:Seen","128",`+
		`"/aws/lambda/Seen",true,36,true,"AWS_Lambda_nodejs20.x"]`)
}

// TestNodeErrors compares the errors of handlers of Node.js with those of AWS, and finds their output in the log.
func TestNodeErrors(t *testing.T) {
	t.Parallel()
	needs(t, "node")
	code := write(t, map[string]string{
		"app.js": `
class OutOfStock extends Error { constructor(m) { super(m); this.name = 'OutOfStock' } }
exports.raises = async (event) => {
  console.log('looking for', event.item)
  throw new OutOfStock('no ' + event.item)
}
exports.calls = (event, context, callback) => callback(new TypeError('called'))
exports.text = async () => { throw 'a text' }
exports.loose = async () => { setTimeout(() => { throw new Error('uncaught') }); await new Promise(() => setTimeout(() => {}, 9999)) }
exports.rejected = () => { Promise.reject(new Error('lost')); setTimeout(() => {}, 9999) }
exports.leaves = () => process.exit(3)
exports.n = 1
`,
		"broken.js": "exports.handler = (\n", "missing.js": "require('no-such-module')\n", "fails.js": "throw new RangeError('no')\n",
	})
	var functions []lambda.Function
	for name, handler := range map[string]string{
		"Raises": "app.raises", "Calls": "app.calls", "Text": "app.text", "Loose": "app.loose", "Rejected": "app.rejected",
		"Leaves": "app.leaves", "Broken": "broken.handler", "Missing": "missing.handler", "Absent": "nowhere.handler",
		"NoName": "app.nothing", "Number": "app.n", "Bad": "app", "Dots": "../app.x", "Fails": "fails.handler",
	} {
		functions = append(functions, node(name, handler, code))
	}
	s := start(t, functions...)
	a := call(t, s, "Raises", `{"item": "tea"}`)
	f := a.fails(t)
	if f.Type != "OutOfStock" || f.Message != "no tea" || len(f.Trace) < 2 || f.Trace[0] != "OutOfStock: no tea" ||
		!strings.Contains(f.Trace[1], code+"/app.js:5:9") || slices.ContainsFunc(f.Trace, isOfLoader) {
		t.Errorf("got %+v", f)
	}
	if keys := keysOf(t, a.body); !slices.Equal(keys, []string{"errorMessage", "errorType", "trace"}) {
		t.Errorf("the error has %v", keys)
	}
	if log := a.log(t); !regexp.MustCompile(`(?s)^START RequestId: \S+ Version: \$LATEST\n\S+Z\t\S+\tINFO\tlooking for tea\n` +
		`\S+Z\t\S+\tERROR\tInvoke Error \{"errorType":"OutOfStock","errorMessage":"no tea","stack":\[.*END RequestId`).MatchString(log) {
		t.Errorf("the log is %s", log)
	}
	for name, want := range map[string]string{
		"Calls":    "TypeError: called",
		"Text":     "string: a text",
		"Loose":    "Error: uncaught",
		"Rejected": "Runtime.UnhandledPromiseRejection: Error: lost",
		"Leaves":   "Runtime.ExitError: RequestId: ",
		"Broken":   "Runtime.UserCodeSyntaxError: SyntaxError: ",
		"Missing":  "Runtime.ImportModuleError: Error: Cannot find module 'no-such-module'\nRequire stack:\n- ",
		"Absent":   "Runtime.ImportModuleError: Error: Cannot find module '",
		"NoName":   "Runtime.HandlerNotFound: app.nothing is undefined or not exported",
		"Number":   "Runtime.HandlerNotFound: app.n is not a function",
		"Bad":      "Runtime.MalformedHandlerName: Bad handler",
		"Dots":     "Runtime.MalformedHandlerName: '../app.x' is not a valid handler name. Use absolute paths",
		"Fails":    "RangeError: no",
	} {
		f := call(t, s, name, "{}").fails(t)
		if got := f.Type + ": " + f.Message; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s; want %s", name, got, want)
		}
	}
}

func isOfLoader(line string) bool {
	return strings.Contains(line, "[eval]") || strings.Contains(line, "node:")
}

func keysOf(t *testing.T, text string) (keys []string) {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
