//go:build unix

package lambda_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/server/lambda"
)

func TestMain(m *testing.M) {
	if os.Getenv(bootstrapFolder) != "" {
		os.Exit(beBootstrap())
	}
	tasks.Supervise()
	if os.Getenv(serverFolder) != "" {
		beServer()
	}
	goleak.VerifyTestMain(m)
}

// needs skips a test if this machine does not have a program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("there is no %s here", program)
	}
}

// write writes files into a new folder, by name. Programs are executable.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		file := filepath.Join(folder, filepath.FromSlash(name))
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// start returns a server of functions.
func start(t *testing.T, functions ...lambda.Function) *lambda.Server {
	t.Helper()
	s, err := lambda.New(lambda.Config{Functions: functions, Output: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// An answer is that of Invoke.
type answer struct {
	status int
	header http.Header
	body   string
}

// log returns the end of the output.
func (a answer) log(t *testing.T) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(a.header.Get("X-Amz-Log-Result"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fails checks that the function failed, and returns the error.
func (a answer) fails(t *testing.T) (failure struct {
	Type    string   `json:"errorType"`
	Message string   `json:"errorMessage"`
	Trace   []string `json:"trace"`
},
) {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("X-Amz-Function-Error") != "Unhandled" {
		t.Fatalf("answer %d %v %s; want an error of the function", a.status, a.header, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &failure); err != nil {
		t.Fatal(err)
	}
	return failure
}

// call calls the operation Invoke, with more headers as "Name: value".
func call(t *testing.T, s *lambda.Server, name, payload string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		"http://lambda/2015-03-31/functions/"+name+"/invocations", strings.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Log-Type", "Tail")
	for _, header := range headers {
		key, value, _ := strings.Cut(header, ": ")
		req.Header.Set(key, value)
	}
	resp, err := (&http.Client{Transport: s}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// returns checks that a function returns a value.
func returns(t *testing.T, s *lambda.Server, name, payload, want string) {
	t.Helper()
	a := call(t, s, name, payload)
	if a.status != http.StatusOK || a.body != want || a.header.Get("X-Amz-Function-Error") != "" {
		t.Errorf("%s(%s) = %d %s %v; want %s", name, payload, a.status, a.body, a.header, want)
	}
}
