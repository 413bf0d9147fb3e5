package interop_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestAWSFromOtherPage: a page of another site, and one of another port of this machine, send requests of AWS's protocol
// in each way that a browser offers. None creates an activity.
func TestAWSFromOtherPage(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"serve", "emulate"} {
		t.Run(command, func(t *testing.T) { t.Parallel(); attackFromOtherPage(t, command) })
	}
}

func attackFromOtherPage(t *testing.T, command string) {
	t.Helper()
	s := &site{dir: t.TempDir()}
	s.server = serve(t, s.dir, command, "--log-level", "error")
	t.Cleanup(s.kill)
	s.aws(t, "CreateStateMachine", `{"name":"kept","roleArn":"arn:aws:iam::000000000000:role/any","definition":`+
		`"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Succeed\"}}}"}`)
	const create = `"AWSStepFunctions.CreateActivity"`
	ways := map[string]string{
		"simple":  `fetch(to, {method: "POST", mode: "no-cors", body: body})`,
		"plain":   `fetch(to, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: body})`,
		"headers": `fetch(to, {method: "POST", headers: {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": ` + create + `}, body: body})`,
		"reset":   `Promise.any(["/_ebb/reset", "/_localstack/state/reset"].map(path => fetch(to + path, {method: "POST", mode: "no-cors"})))`,
		"beacon":  `(async () => navigator.sendBeacon(to, new Blob([body], {type: "text/plain"})))()`,
		"worker": `new Promise(end => new Worker(URL.createObjectURL(new Blob(["fetch('" + to + "', {method: 'POST', headers: {` +
			`'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AWSStepFunctions.CreateActivity'}, body: '" + body + "'})` +
			`.finally(() => postMessage(0))"]))).onmessage = end)`,
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><body><script>const to = %q, body = '{"name":"evil"}';
			%s.catch(() => 0).finally(() => document.title = "done")</script>`,
			s.address+"/", ways[strings.TrimPrefix(r.URL.Path, "/")]) // the browser is there
	}))
	t.Cleanup(other.Close)
	at, err := url.Parse(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "127.0.0.1"} { // another site than 127.0.0.1, and the same one
		for way := range ways {
			b := open(t, look{1280, false, true})
			b.visit("http://" + host + ":" + at.Port() + "/" + way)
			b.wait(`document.title == "done"`)
		}
	}
	if text := s.aws(t, "ListActivities", `{}`); text != `{"activities":[]}` {
		t.Errorf("a page of another origin created %s", text)
	}
	s.aws(t, "CreateActivity", `{"name":"ours"}`)
	if text := s.aws(t, "ListActivities", `{}`); !strings.Contains(text, "ours") {
		t.Errorf("a program could create none: %s", text)
	}
	if text := s.aws(t, "ListStateMachines", `{}`); !strings.Contains(text, "kept") {
		t.Errorf("a page of another origin has reset the server: %s", text)
	}
}

// TestRebinding: a site makes its own name one of this machine, so that its page and an emulator have the same origin.
// The page gets nothing of the emulator, and changes nothing. A client of AWS may use any name.
//
// Attack (AWS clients): A page in a browser whose own name leads to `ebb emulate` (DNS rebinding).
// Result: 403 for all but health: requests of AWS's protocol have an `Origin`, and all others need a name of the machine.
// Also: `server: TestServeAWS`.
func TestRebinding(t *testing.T) {
	t.Parallel()
	s := &site{dir: t.TempDir()}
	s.server = serve(t, s.dir, "emulate", "--log-level", "error")
	t.Cleanup(s.kill)
	s.aws(t, "CreateActivity", `{"name":"kept"}`)
	at, err := url.Parse(s.address)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, look{1280, false, true})
	evil := "http://evil.example.org:" + at.Port()
	b.visit(evil + "/console/")
	const create = `{"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "AWSStepFunctions.CreateActivity"}`
	for request, want := range map[string]int{
		`"/", {method: "POST", headers: ` + create + `, body: '{"name":"evil"}'}`:                                http.StatusForbidden,
		`"/", {method: "POST", headers: ` + create + `, body: '{"name":"evil"}', referrerPolicy: "no-referrer"}`: http.StatusForbidden,
		`"/console/"`: http.StatusForbidden, `"/console/runs"`: http.StatusForbidden, `"/api/v1/runs"`: http.StatusForbidden,
		`"/metrics"`: http.StatusForbidden, `"/tasks/poll", {method: "POST", body: "{}"}`: http.StatusForbidden,
		`"/api/v1/changes", {headers: {"Accept": "text/event-stream"}}`:                                      http.StatusForbidden,
		`"/events", {method: "POST", headers: {"Content-Type": "application/cloudevents+json"}, body: "{}"}`: http.StatusForbidden,
		`"/_ebb/reset", {method: "POST"}`:                                                                    http.StatusForbidden, `"/_localstack/state/reset", {method: "POST"}`: http.StatusForbidden,
		`"/_localstack/health"`: http.StatusOK, `"/readyz"`: http.StatusOK,
	} {
		if got := eval[int](b, `fetch(`+request+`).then(answer => answer.status)`); got != want {
			t.Errorf("%s is answered with %d, want %d", request, got, want)
		}
	}
	if origin := eval[string](b, `location.origin`); origin != evil {
		t.Errorf("the page is of %s", origin)
	}
	if text := s.aws(t, "ListActivities", `{}`); !strings.Contains(text, "kept") || strings.Contains(text, "evil") {
		t.Errorf("the page left %s", text)
	}
	if text := s.awsAs(t, "states.example.org", "ListActivities", `{}`); !strings.Contains(text, "kept") {
		t.Errorf("a program under another name got %s", text)
	}
}

// aws sends a request as a client of AWS does, and returns the answer.
func (s *site) aws(t *testing.T, operation, body string) string {
	t.Helper()
	return s.awsAs(t, "", operation, body)
}

// awsAs is aws with a name for the server.
func (s *site) awsAs(t *testing.T, host, operation, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
