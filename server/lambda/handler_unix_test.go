//go:build unix

package lambda_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/ebbflow/ebb/server/lambda"
)

// TestInvokeRefuses compares the errors of Invoke with those of AWS. No request starts what the server was not given.
//
// Attack (AWS clients): Invoke of functions named as paths, programs and resources, and with broken payloads.
// Result: Refused; no process starts. Only functions of the given templates run.
func TestInvokeRefuses(t *testing.T) {
	t.Parallel()
	f := bootstrapped(t, "Pay")
	s := start(t, f)
	for _, c := range []struct {
		name, payload, header string
		status                int
		code                  string
	}{
		{"Ship", "{}", "", 404, "ResourceNotFoundException"},
		{"arn:aws:lambda:us-east-1:000000000000:function:Ship", "{}", "", 404, "ResourceNotFoundException"},
		{"..%2F..%2Fbin%2Fsh", "{}", "", 404, "ResourceNotFoundException"},
		{"exec%3A%2Fbin%2Fsh", "{}", "", 404, "ResourceNotFoundException"},
		{"Pay%00", "{}", "", 404, "ResourceNotFoundException"},
		{"Pay", "{", "", 400, "InvalidRequestContentException"},
		{"Pay", "{}", "X-Amz-Invocation-Type: Later", 400, "InvalidParameterValueException"},
		{"Pay", "{}", "X-Amz-Client-Context: {}", 400, "InvalidRequestContentException"},
		{"Pay", "{}", "X-Amz-Client-Context: " + base64.StdEncoding.EncodeToString([]byte("{\"a\":\n1}")), 400, "InvalidRequestContentException"},
		{"Pay", "{}", "X-Amz-Invocation-Type: DryRun", 204, ""},
	} {
		a := call(t, s, c.name, c.payload, c.header)
		if a.status != c.status || a.header.Get("X-Amzn-Errortype") != c.code {
			t.Errorf("%+v: got %d %s %s", c, a.status, a.header.Get("X-Amzn-Errortype"), a.body)
		}
	}
	if files, err := os.ReadDir(f.Environment[bootstrapFolder]); err != nil || len(files) > 0 {
		t.Errorf("a process was started: %v, %v", files, err)
	}
}

// TestEvent calls a function and does not wait for it.
func TestEvent(t *testing.T) {
	t.Parallel()
	f := bootstrapped(t, "Pay")
	s := start(t, f)
	if a := call(t, s, "Pay", `{"Do": "wait", "Files": 2}`, "X-Amz-Invocation-Type: Event"); a.status != http.StatusAccepted || a.body != "" {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if err := os.WriteFile(filepath.Join(f.Environment[bootstrapFolder], "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the function was called", func() bool {
		files, err := os.ReadDir(f.Environment[bootstrapFolder])
		return err == nil && len(files) == 2
	})
}

// TestDescriptions lists the functions.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	s := start(t, lambda.Function{Name: "B", Runtime: "python3.12", Handler: "b.b", Code: "/b"},
		lambda.Function{Name: "A", Runtime: "nodejs22.x", Handler: "a.a", Code: "/a"})
	get := func(path string, out any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://lambda"+lambda.Prefix+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: s}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil || json.Unmarshal(text, out) != nil {
			t.Fatalf("%s: %s, %v", path, text, err)
		}
	}
	type function struct{ FunctionName, FunctionArn, Runtime string }
	var all struct{ Functions []function }
	var one struct{ Configuration function }
	var plain function
	get("", &all)
	get("?MaxItems=50", &all)
	get("A", &one)
	get("A/configuration", &plain)
	want := function{"A", "arn:aws:lambda:us-east-1:000000000000:function:A", "nodejs22.x"}
	if len(all.Functions) != 2 || all.Functions[0] != want || one.Configuration != want || plain != want {
		t.Errorf("got %+v, %+v, %+v", all, one, plain)
	}
}
