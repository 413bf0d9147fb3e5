package lambda_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/lambda"
)

// TestFunctionIsChecked refuses functions that could not run, each with its place and the reason.
func TestFunctionIsChecked(t *testing.T) {
	t.Parallel()
	good := lambda.Function{Name: "Pay", Runtime: "python3.12", Handler: "app.handler", Code: "/src", From: "t.yaml:3:5"}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*lambda.Function){
		"the name is not valid":          func(f *lambda.Function) { f.Name = "../Pay" },
		`the runtime "java21"`:           func(f *lambda.Function) { f.Runtime = "java21" },
		"needs a folder with code":       func(f *lambda.Function) { f.Code = "" },
		"and not both":                   func(f *lambda.Function) { f.Inline = "x" },
		"is for Python and Node.js only": func(f *lambda.Function) { f.Runtime, f.Code, f.Inline = "provided.al2", "", "x" },
		"Handler is missing":             func(f *lambda.Function) { f.Handler = "" },
		"the timeout is not valid":       func(f *lambda.Function) { f.Timeout = time.Hour },
		"the memory is not valid":        func(f *lambda.Function) { f.MemoryMB = 1 << 20 },
	} {
		bad := good
		change(&bad)
		err := bad.Check()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "t.yaml:3:5: ") {
			t.Errorf("got %v; want %q", err, want)
		}
	}
}
