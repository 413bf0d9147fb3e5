package tasks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/asl/teststate"
)

// An HTTP task sends the request of its input, and returns the whole answer.
func TestHTTPInvoke(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/gone":
			http.Error(w, "no such book", http.StatusNotFound)
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "7")
		default:
			body, _ := io.ReadAll(req.Body)
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_ = json.NewEncoder(w).Encode([]any{
				req.Method, req.URL.RequestURI(), req.Header.Get("Content-Type"), req.Header.Values("X-Who"), req.Header.Get(
					"Idempotency-Key"), string(body),
			})
		}
	})
	r := &tasks.Registry{Client: s.Client()}
	body, err := r.Task("arn:aws:states:::http:invoke")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{
			`{"ApiEndpoint": "URL/a?x=1", "Method": "PUT", "Headers": {"x-who": ["me", "you"]}, "QueryParameters": {"y": 2, "z": ["b", "c"]}, "RequestBody": {"n": 1},
				"Authentication": {"ConnectionArn": "arn:aws:events:…"}}`,
			`["PUT","/a?x=1\u0026y=2\u0026z=b\u0026z=c","application/json",["me","you"],"r/Ask/0","{\"n\": 1}"]`,
		},
		{`{"ApiEndpoint": "URL/", "Method": "GET"}`, `["GET","/","",null,"r/Ask/0",""]`},
		{
			`{"ApiEndpoint": "URL/", "Method": "POST", "RequestBody": {"a": [1, "x y"], "b": true}, "Transform": {"RequestBodyEncoding": "URL_ENCODED"}}`,
			`["POST","/","application/x-www-form-urlencoded",null,"r/Ask/0","a[0]=1\u0026a[1]=x+y\u0026b=true"]`,
		},
		{
			`{"ApiEndpoint": "URL/", "Method": "POST", "RequestBody": {"a": [1, 2]}, "Transform": {"RequestBodyEncoding": "URL_ENCODED", "RequestEncodingOptions": {"ArrayFormat": "COMMAS"}}}`,
			`["POST","/","application/x-www-form-urlencoded",null,"r/Ask/0","a=1,2"]`,
		},
		{
			`{"ApiEndpoint": "URL/", "Method": "POST", "RequestBody": {"a": [1, 2]}, "Transform": {"RequestBodyEncoding": "URL_ENCODED", "RequestEncodingOptions": {"ArrayFormat": "BRACKETS"}}}`,
			`["POST","/","application/x-www-form-urlencoded",null,"r/Ask/0","a[]=1\u0026a[]=2"]`,
		},
		{`{"ApiEndpoint": "URL/text", "Method": "GET"}`, `"7"`},
		{`{"ApiEndpoint": "URL/gone", "Method": "GET"}`, `States.Http.StatusCode.404: no such book`},
		{`{"ApiEndpoint": "http://127.0.0.1:1/", "Method": "GET"}`, `States.Http.Socket: `},
		{
			`{"ApiEndpoint": "file:///etc/passwd", "Method": "GET"}`,
			`States.Runtime: the ApiEndpoint file:///etc/passwd is no URL`,
		},
		{`{"Method": "GET"}`, `States.Runtime: an HTTP task needs ApiEndpoint and Method`},
		{
			`{"ApiEndpoint": "URL/", "Method": "POST", "RequestBody": 1, "Transform": {"RequestBodyEncoding": "URL_ENCODED"}}`,
			`States.Runtime: a RequestBody that is`,
		},
	} {
		in := strings.ReplaceAll(c.in, "URL", s.URL)
		in = strings.ReplaceAll(in, s.URL+"_ENCODED", "URL_ENCODED")
		v, err := body.Execute(calling(t, atom.Call{Run: "r", Path: "Ask"}), atom.Single(atom.FromJSON([]byte(in))))
		got := said(v, err)
		if err == nil {
			var answer struct {
				ResponseBody json.RawMessage
				StatusCode   int
				StatusText   string
				Headers      map[string][]string
			}
			if err := v.Decode(&answer); err != nil || answer.StatusCode != http.StatusOK || answer.StatusText != "OK" ||
				len(answer.Headers["Content-Type"]) != 1 {
				t.Errorf("%s", v)
			}
			got = string(answer.ResponseBody)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

// TestHTTPInvokeExchange records what an HTTP task sent and received, for TestState.
func TestHTTPInvokeExchange(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Book", "7")
		http.Error(w, "no such book", http.StatusNotFound)
	})
	r := &tasks.Registry{Client: s.Client()}
	body, err := r.Task("arn:aws:states:::http:invoke")
	if err != nil {
		t.Fatal(err)
	}
	in := atom.FromJSON([]byte(`{"ApiEndpoint": "` + s.URL + `/a", "Method": "POST", "Headers": {"x-who": ["me", "you"]}, "QueryParameters": {"y": 2}, "RequestBody": {"n":1}}`))
	for _, recorded := range []*teststate.Exchange{nil, {}} {
		ctx := calling(t, atom.Call{Run: "r", Path: "Ask"})
		if recorded != nil {
			ctx = teststate.WithExchange(ctx, recorded)
		}
		if _, err := body.Execute(ctx, atom.Single(in)); err == nil {
			t.Fatal("no error")
		}
		if recorded == nil {
			continue
		}
		want := teststate.HTTPRequest{
			Protocol: "http", Method: "POST", URL: s.URL + "/a?y=2", Body: `{"n":1}`,
			Headers: "[Content-Type: application/json, Idempotency-Key: r/Ask/0, X-Who: me, X-Who: you]",
		}
		if diff := cmp.Diff(&want, recorded.Request); diff != "" {
			t.Error(diff)
		}
		got := recorded.Response
		if got == nil || got.Protocol+" "+got.StatusCode+" "+got.StatusMessage != "http 404 Not Found" ||
			got.Body != "no such book\n" || !strings.Contains(got.Headers, "X-Book: 7") {
			t.Errorf("%+v", got)
		}
	}
}

// TestHTTPInvokeAllows names URLs at run time, some of which the operator allows, and follows redirects to others.
func TestHTTPInvokeAllows(t *testing.T) {
	t.Parallel()
	var asked []string
	s := serve(t, func(w http.ResponseWriter, req *http.Request) {
		asked = append(asked, req.URL.Path)
		if req.URL.Path == "/in/away" {
			http.Redirect(w, req, "/out", http.StatusFound)
		}
	})
	r := &tasks.Registry{Client: s.Client(), Allow: func(u *url.URL) error {
		if strings.HasPrefix(u.Path, "/in/") {
			return nil
		}
		return errors.New("it is outside")
	}}
	body, err := r.Task("arn:aws:states:::http:invoke")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/in/a": "", "/out": "States.Permissions: " + s.URL + "/out must not be called: it is outside",
		"/in/away": "States.Permissions: " + s.URL + "/out must not be called: it is outside",
	} {
		in := atom.FromJSON([]byte(`{"Method": "GET", "ApiEndpoint": "` + s.URL + path + `"}`))
		_, err := body.Execute(calling(t, atom.Call{Run: "r", Path: "Ask"}), atom.Single(in))
		if got := said(nil, err); want != "" && got != want || want == "" && err != nil {
			t.Errorf("%s: %s", path, got)
		}
	}
	if slices.Contains(asked, "/out") {
		t.Errorf("asked for %v", asked)
	}
}
