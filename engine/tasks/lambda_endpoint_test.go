package tasks_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/tasks"
)

// TestLambdaEndpoint calls functions at an endpoint: as a task of their own and by lambda:invoke. A mapped function does
// not go there.
func TestLambdaEndpoint(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body)
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), "/2015-03-31/functions/"), "/invocations")
		name, _ = url.PathUnescape(name)
		switch {
		case r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") == "":
			w.WriteHeader(http.StatusTeapot)
		case strings.HasSuffix(name, "Gone"):
			w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException:http://internal")
			w.Header().Set("X-Amzn-Requestid", "r1")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"Type":"User","message":"Function not found: `+name+`"}`)
		case strings.HasSuffix(name, "Thrown"):
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			_, _ = io.WriteString(w, `{"errorMessage":"no","errorType":"Busy"}`)
		case strings.HasSuffix(name, "Odd"):
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			_, _ = io.WriteString(w, `no JSON`)
		case r.Header.Get("X-Amz-Invocation-Type") == "Event":
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("X-Amz-Executed-Version", "7")
			_, _ = io.WriteString(w, `{"name":"`+name+`","qualifier":"`+r.URL.Query().Get("Qualifier")+`","in":`+
				string(payload)+`}`)
		}
	}))
	t.Cleanup(server.Close)
	endpoint, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := &tasks.Registry{Lambda: endpoint}
	r.Add("pay", reply("pay"))
	r.Map("Pay", "pay")
	const shipARN = "arn:aws:lambda:eu-west-1:123456789012:function:Ship"
	for _, c := range []struct{ task, input, want string }{
		{shipARN, `{"n":1}`, `{"name":"` + shipARN + `","qualifier":"","in":{"n":1}}`},
		{payARN, `{"n":1}`, `{"by":"pay","in":{"n":1}}`},
		{
			"arn:aws:states:::lambda:invoke", `{"FunctionName":"Ship","Qualifier":"live","Payload":[1]}`,
			`{"ExecutedVersion":"7","Payload":{"name":"Ship","qualifier":"live","in":[1]},` +
				`"SdkHttpMetadata":{"HttpStatusCode":200},"StatusCode":200}`,
		},
		{
			"arn:aws:states:::lambda:invoke", `{"FunctionName":"Ship","InvocationType":"Event"}`,
			`{"ExecutedVersion":"$LATEST","Payload":"","SdkHttpMetadata":{"HttpStatusCode":202},"StatusCode":202}`,
		},
		{
			"arn:aws:states:::lambda:invoke", `{"FunctionName":"Gone"}`,
			"Lambda.ResourceNotFoundException: Function not found: Gone (Service: Lambda, Status Code: 404, Request ID: r1)",
		},
		{
			"arn:aws:states:::lambda:invoke", `{"FunctionName":"../../2015-03-31/event-source-mappings"}`,
			`Lambda.ValidationException: "../../2015-03-31/event-source-mappings" is not the name or the ARN of a function`,
		},
		{shipARN + "Thrown", `{}`, `Busy: {"errorMessage":"no","errorType":"Busy"}`},
		{shipARN + "Odd", `{}`, `Lambda.Unknown: no JSON`},
	} {
		if err := r.Check(c.task); err != nil {
			t.Errorf("%s: %v", c.task, err)
		}
		body, err := r.Task(c.task)
		if err != nil {
			t.Fatal(err)
		}
		got, err := body.Execute(calling(t, atom.Call{Run: "r", Path: "a"}), atom.Single(atom.FromJSON([]byte(c.input))))
		if text := said(got, err); text != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.task, c.input, text, c.want)
		}
	}
	server.Close()
	body, err := r.Task(shipARN)
	if err != nil {
		t.Fatal(err)
	}
	_, err = body.Execute(calling(t, atom.Call{Run: "r", Path: "a"}), atom.Single(atom.FromJSON([]byte(`{}`))))
	if text := said(nil, err); !strings.HasPrefix(text, "Lambda.SdkClientException: ") {
		t.Error(text)
	}
}

// A transport answers requests in this process.
type transport func(*http.Request) *http.Response

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r), nil }

// TestAddedFunctions calls functions of this process by each of their names, unless they are mapped. It does not call
// the endpoint of other functions.
func TestAddedFunctions(t *testing.T) {
	t.Parallel()
	answers := transport(func(r *http.Request) *http.Response {
		text := `"` + r.Method + " " + r.URL.EscapedPath() + " " + r.Header.Get("X-Amz-Log-Type") + `"`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
	})
	r := &tasks.Registry{Lambda: &url.URL{Scheme: "http", Host: "127.0.0.1:1"}}
	r.Add("mapped", reply("pay"))
	r.Map(payARN, "mapped")
	r.AddFunction("Pay", answers)
	r.AddFunction("Ship", answers)
	for _, c := range []struct{ task, input, want string }{
		{payARN, `{}`, `{"by":"pay","in":{}}`},
		{strings.Replace(payARN, "Pay", "Ship:live", 1), `{}`, `"POST /2015-03-31/functions/Ship/invocations "`},
		{
			"arn:aws:states:::lambda:invoke", `{"FunctionName":"Ship","LogType":"Tail"}`,
			`{"ExecutedVersion":"$LATEST","Payload":"POST /2015-03-31/functions/Ship/invocations Tail",` +
				`"SdkHttpMetadata":{"HttpStatusCode":200},"StatusCode":200}`,
		},
	} {
		if err := r.Check(c.task); err != nil {
			t.Errorf("%s: %v", c.task, err)
		}
		body, err := r.Task(c.task)
		if err != nil {
			t.Fatal(err)
		}
		got, err := body.Execute(calling(t, atom.Call{Run: "r", Path: "a"}), atom.Single(atom.FromJSON([]byte(c.input))))
		if text := said(got, err); text != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.task, c.input, text, c.want)
		}
	}
}
