package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ebbflow/ebb/server/aws"
)

// A parcel is what the operation of the tests takes.
type parcel struct {
	Size int `json:"size"`
}

// parcels are a service for tests, whose operation waits until its client has gone. It reports why it stops waiting,
// and whether its answer was sent.
func parcels(gone chan<- error, sent chan<- bool) *aws.Service {
	do := func(ctx context.Context, caller *aws.Caller, in *parcel) (*parcel, error) {
		if in.Size > 0 {
			caller.Answered = func(is bool) { sent <- is }
			<-ctx.Done()
			gone <- ctx.Err()
		}
		return in, nil
	}
	return &aws.Service{Name: "parcels", Target: "Parcels", Operations: map[string]aws.Operation{
		"Send": aws.Op(aws.Structure(aws.Optional("size", aws.Integer(0, 9))), do),
	}}
}

// TestServeAWS: a request is for AWS's clients by its headers. Bearer keys do not open the services, and keys for aws
// open nothing else.
//
// Attack (AWS clients): A bearer key for AWS's protocol; a key for `aws` as a bearer key.
// Result: Refused, without the key in the answer.
// Also: `server/aws: TestSignatures`.
//
// Attack (AWS clients): A page in a browser sends a request of AWS's protocol, also under a name with the prefix
// `sync-`.
// Result: Refused: it has an `Origin`, or needs one that Ebb grants to none.
// Also: `server/console/interop: TestAWSFromOtherPage`.
func TestServeAWS(t *testing.T) {
	t.Parallel()
	const id = "AKIAIOSFODNN7EXAMPLE"
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("me "+rightKey+"\n"+id+" "+workersKey+" aws\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home, kept := Options{}, Options{Address: "0.0.0.0:8083", Keys: file, Hosts: []string{"ebb.example.org"}}
	free := Options{Address: "0.0.0.0:8083", Open: true, Hosts: []string{"ebb.example.org"}}
	send := map[string]string{"X-Amz-Target": "Parcels.Send", "Content-Type": "application/x-amz-json-1.0"}
	for _, c := range []struct {
		at     Options
		method string
		url    string
		header map[string]string
		status int
		says   string // "" means that another handler answers
	}{
		{home, "POST", "http://localhost/", send, 200, `{"size":0}`},
		{home, "POST", "http://sync-localhost:8083/", send, 200, `{"size":0}`},
		{home, "POST", "http://sync-127.0.0.1/", send, 200, `{"size":0}`},
		{home, "POST", "http://localhost/", map[string]string{"Authorization": "AWS4-HMAC-SHA256 x"}, 200, `{"size":0}`},
		{home, "POST", "http://localhost/", map[string]string{"X-Amz-Target": "Parcels.Lose"}, 400, "#UnknownOperationException"},
		{home, "POST", "http://localhost/", map[string]string{"X-Amz-Target": ""}, 400, "#UnknownOperationException"},
		{home, "POST", "http://localhost/", map[string]string{"Content-Type": "application/json"}, 404, "#UnknownOperationException"},
		{home, "POST", "http://localhost/", map[string]string{"Content-Type": "text/plain"}, 415, "#UnknownOperationException"},
		{home, "POST", "http://localhost/", map[string]string{"Content-Encoding": "amz-1.0"}, 200, `{"size":0}`},
		{home, "POST", "http://localhost/", map[string]string{"X-Amz-Target": "", "Content-Type": "application/json", "Content-Encoding": "amz-1.0"}, 415, ""},
		{home, "POST", "http://localhost/", map[string]string{"Content-Encoding": "gzip"}, 415, "#UnknownOperationException"},
		{home, "POST", "http://localhost/", map[string]string{"Origin": "http://localhost"}, 403, "#AccessDeniedException"},
		{home, "POST", "http://evil.example.org/", send, 403, "#AccessDeniedException"},
		{home, "POST", "http://sync-evil.example.org/", send, 403, "#AccessDeniedException"},
		{home, "POST", "http://sync-sync-localhost/", send, 403, "#AccessDeniedException"},
		{home, "POST", "http://localhost/", map[string]string{"X-Amz-Target": "", "Content-Type": "application/json"}, 418, ""},
		{home, "GET", "http://localhost/", send, 418, ""},
		{home, "POST", "http://localhost/metrics", send, 418, ""},
		{home, "GET", "http://sync-localhost/metrics", nil, 403, ""},

		{kept, "POST", "http://ebb.example.org/", send, 400, "#MissingAuthenticationTokenException"},
		{kept, "POST", "http://sync-ebb.example.org/", send, 400, "#MissingAuthenticationTokenException"},
		{kept, "POST", "http://ebb.example.org/", map[string]string{"Authorization": "Bearer " + rightKey}, 400, "#IncompleteSignatureException"},
		{kept, "POST", "http://ebb.example.org/", map[string]string{"Authorization": "Bearer " + workersKey}, 400, "#IncompleteSignatureException"},
		{kept, "POST", "http://ebb.example.org/aws", map[string]string{"Authorization": "Bearer " + workersKey}, 401, ""},
		{kept, "POST", "http://ebb.example.org/tasks/poll", map[string]string{"Authorization": "Bearer " + workersKey}, 401, ""},
		{kept, "POST", "http://ebb.example.org/tasks/poll", map[string]string{"Authorization": "Bearer " + rightKey}, 418, ""},

		{free, "POST", "http://states.us-east-1.amazonaws.com/", send, 200, `{"size":0}`},
		{free, "POST", "http://evil.example.org/", map[string]string{"Origin": "http://evil.example.org"}, 403, "#AccessDeniedException"},
		{free, "POST", "http://evil.example.org/", map[string]string{"Sec-Fetch-Site": "same-origin"}, 403, "#AccessDeniedException"},
		{free, "POST", "http://10.0.0.7/", map[string]string{"Origin": "http://10.0.0.7"}, 403, "#AccessDeniedException"},
		{free, "POST", "http://10.0.0.7/", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, "#AccessDeniedException"},
		{free, "GET", "http://evil.example.org/console/", nil, 403, ""},
		{free, "GET", "http://evil.example.org/api/v1/runs", nil, 403, ""},
		{free, "POST", "http://evil.example.org/_ebb/reset", nil, 403, ""},
		{free, "GET", "http://evil.example.org/_localstack/health", nil, 418, ""},
		{free, "GET", "http://evil.example.org/readyz", nil, 418, ""},
		{free, "GET", "http://10.0.0.7:8083/console/", nil, 418, ""},
		{free, "GET", "http://[fd00::7]:8083/console/", nil, 418, ""},
		{free, "GET", "http://ebb:8083/console/", nil, 418, ""},
		{free, "GET", "http://localhost:8083/console/", nil, 418, ""},
		{free, "GET", "http://ebb.example.org/console/", nil, 418, ""},
		{free, "POST", "http://ebb/_ebb/reset", nil, 418, ""},
		{free, "POST", "http://ebb/_ebb/reset", map[string]string{"Origin": "http://ebb"}, 403, ""},
	} {
		s, err := New(c.at)
		if err != nil {
			t.Fatal(err)
		}
		s.ServeAWS(aws.New(aws.Options{}, parcels(nil, nil)))
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader("{}"))
		for _, header := range []map[string]string{send, c.header} {
			for name, value := range header {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		s.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).ServeHTTP(w, r)
		if isAWS := strings.Contains(w.Body.String(), c.says) && w.Header().Get("X-Amzn-Requestid") != ""; w.Code != c.status || isAWS != (c.says != "") {
			t.Errorf("%s %s with %v: %d %s, want %d %s", c.method, c.url, c.header, w.Code, w.Body, c.status, c.says)
		}
	}
	s, err := New(home)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader("{}"))
	r.Header.Set("X-Amz-Target", "Parcels.Send")
	w := httptest.NewRecorder()
	s.Guard(Paths(nil)).ServeHTTP(w, r)
	if w.Code != http.StatusNotFound {
		t.Errorf("without services: %d %s", w.Code, w.Body)
	}
}

const sendHead = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: Parcels.Send\r\n"

// TestAWSConnections: slow, cut off and large requests are refused in AWS's form, and the operation ends when its
// client has gone.
//
// Guarantee (AWS's protocol): What a client waits for ends when it leaves. An operation learns whether its answer was
// sent.
//
// Attack (AWS clients): Slow, cut off, chunked and too large bodies; a client that leaves while it waits.
// Result: Bounded time. What the client waited for ends.
func TestAWSConnections(t *testing.T) {
	t.Parallel()
	var (
		gone chan error
		sent chan bool
	)
	serveLocalWith(t, 20, func(s *Server) http.Handler {
		gone, sent = make(chan error, 1), make(chan bool, 1)
		s.ServeAWS(aws.New(aws.Options{}, parcels(gone, sent)))
		return Paths(nil)
	}, func(dial func(from ...string) *visit) {
		kept := dial()
		for range 3 {
			kept.send("%sContent-Length: 2\r\n\r\n{}", sendHead).wants(200, `{"size":0}`)
			kept.send("%sTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", sendHead).wants(200, `{"size":0}`)
			kept.send("%sContent-Length: 1\r\n\r\n{", sendHead).wants(400, "SerializationException")
		}
		slow, began := dial().send("%sContent-Length: 9\r\n\r\n{", sendHead), time.Now()
		slow.wants(http.StatusRequestTimeout, "RequestTimeoutException")
		if took := time.Since(began); took != bodyTime {
			t.Errorf("a slow body is cut off after %v", took)
		}
		dial().send("%sContent-Length: %d\r\n\r\n", sendHead, aws.MaxBody+1).wants(http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException")
		dial().send("%sContent-Length: %d\r\n\r\n", sendHead, 2*MaxBody).wants(http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException")
		long := dial()
		go long.send("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", sendHead, aws.MaxBody+1, strings.Repeat(" ", aws.MaxBody+1))
		long.wants(http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException")
		dial().send("%sTransfer-Encoding: chunked\r\n\r\nx\r\n", sendHead).wants(400, "SerializationException")

		waiting := dial().send("%sContent-Length: 10\r\n\r\n"+`{"size":1}`, sendHead)
		time.Sleep(5 * time.Minute)
		if err := waiting.Close(); err != nil {
			t.Error(err)
		}
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("the operation ended with %v", err)
		}
		if <-sent {
			t.Error("the answer is sent to a client that has gone")
		}
		waiting = dial().send("%sContent-Length: 10\r\n\r\n"+`{"size":1}`, sendHead)
		if began := time.Now(); !errors.Is(<-gone, context.DeadlineExceeded) || time.Since(began) != awsTime {
			t.Errorf("the operation ended after %v", time.Since(began))
		}
		waiting.wants(200, `{"size":1}`)
		if !<-sent {
			t.Error("the answer is not sent")
		}
	})
}

// TestManyPollers: 1,500 clients that wait for work do not keep others from being answered.
func TestManyPollers(t *testing.T) {
	t.Parallel()
	const count = 1500
	var gone chan error
	serveLocalWith(t, maxConnections, func(s *Server) http.Handler {
		gone = make(chan error, count)
		s.ServeAWS(aws.New(aws.Options{}, parcels(gone, make(chan bool, count))))
		return Paths(nil)
	}, func(dial func(from ...string) *visit) {
		var waiting []*visit
		for range count {
			waiting = append(waiting, dial().send("%sContent-Length: 10\r\n\r\n"+`{"size":1}`, sendHead))
		}
		began := time.Now()
		for range 100 {
			dial().send("%sContent-Length: 2\r\n\r\n{}", sendHead).wants(200, `{"size":0}`)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the other clients waited for %v", took)
		}
		for _, v := range waiting {
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for range count {
			if err := <-gone; !errors.Is(err, context.Canceled) {
				t.Fatalf("a client was cut off: %v", err)
			}
		}
	})
}
