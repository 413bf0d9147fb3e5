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
	s := &site{dir: t.TempDir()}
	s.server = serve(t, s.dir, "serve", "--log-level", "error")
	t.Cleanup(s.kill)
	const create = `"AWSStepFunctions.CreateActivity"`
	ways := map[string]string{
		"simple":  `fetch(to, {method: "POST", mode: "no-cors", body: body})`,
		"plain":   `fetch(to, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: body})`,
		"headers": `fetch(to, {method: "POST", headers: {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": ` + create + `}, body: body})`,
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
	call := func(operation, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
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
	if text := call("ListActivities", `{}`); text != `{"activities":[]}` {
		t.Errorf("a page of another origin created %s", text)
	}
	call("CreateActivity", `{"name":"ours"}`)
	if text := call("ListActivities", `{}`); !strings.Contains(text, "ours") {
		t.Errorf("a program could create none: %s", text)
	}
}
