package interop_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	ebbgrpc "github.com/ebbflow/ebb/engine/grpc"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/flow/sm4c"
	"github.com/ebbflow/ebb/storage/memstore"
)

// protos are the files of the schema, as an author writes them.
var protos = map[string]string{
	"apis/orders.proto": `
syntax = "proto3";
package shop;
import "money.proto";
import "common/name.proto";
import "google/protobuf/timestamp.proto";
service Orders {
  rpc Get(GetRequest) returns (Order);
  rpc Cancel(GetRequest) returns (Order);
  rpc Watch(GetRequest) returns (stream Order);
}
message GetRequest { string id = 1; repeated Line lines = 2; google.protobuf.Timestamp since = 3; }
message Line { string item = 1; int32 count = 2; }
message Order { string id = 1; bool paid = 2; Money total = 3; int64 number = 4; repeated string tags = 5; Kind kind = 6;
  bytes blob = 7; repeated Order parts = 8; repeated Kind kinds = 9; }
enum Kind { NORMAL = 0; THE_KIND_OF_AN_ORDER_THAT_HAS_A_VERY_LONG_NAME = 1; }`,
	"apis/money.proto":  `syntax = "proto3"; package shop; message Money { string currency = 1; int64 units = 2; }`,
	"common/name.proto": `syntax = "proto3"; package common; message Name { string first = 1; }`,
}

func load(uri string) ([]byte, error) {
	if text, is := protos[uri]; is {
		return []byte(text), nil
	}
	return nil, errors.New("there is no such file")
}

func schema(t *testing.T) []byte {
	t.Helper()
	text, err := ebbgrpc.Schema(t.Context(), "apis/orders.proto", load)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// machine calls shop.Orders/Get, and is undone by shop.Orders/Cancel if arguments have a member fail.
const machine = `{"name": "m", "version": "1", "functions": [
  {"name": "get", "type": "rpc", "operation": "apis/orders.proto#shop.Orders#Get"},
  {"name": "cancel", "type": "rpc", "operation": "apis/orders.proto#shop.Orders#Cancel"}],
 "states": [{"name": "A", "start": true,
  "enterAction": {"type": "invokeFunction", "functionName": "get", "waitForCompletion": true, "arguments": ARGS,
    "revert": {"functionName": "cancel", "arguments": {"id": "${ $value.id }"}}, TIMEOUT
    "errorHandlers": [HANDLERS]},
  "enterResultHandler": "${ .got = $value }", "transitions": [{"nextState": "B"}]},
  {"name": "B", "enterAction": {"type": "injectData", "expression": "${ if .fail then error(\"no\") else 1 end }"}}]}`

const someArgs = `{"id": "o1"}`

// calling returns the machine with arguments, error handlers and a timeout.
func calling(args, handlers, timeout string) string {
	return strings.NewReplacer("ARGS", args, "HANDLERS", handlers, "TIMEOUT", timeout).Replace(machine)
}

// run plays the machine with a server, and returns the end of the run.
func run(t *testing.T, s *shop, args, input, handlers string) (*engine.Result, error) {
	t.Helper()
	text := calling(args, handlers, "")
	return play(t, text, input, &ebbgrpc.Caller{Server: func(string) (*url.URL, error) { return s.url, nil }})
}

func play(t *testing.T, text, input string, caller *ebbgrpc.Caller) (*engine.Result, error) {
	t.Helper()
	m, err := sm4c.Parse("m", []byte(text), sm4c.LoadAPIs(func(uri string) ([]byte, error) {
		return ebbgrpc.Schema(t.Context(), uri, load)
	}))
	if err != nil {
		t.Fatal(err)
	}
	// The stored text has the schema: nothing is loaded again
	if m, err = sm4c.Parse("m", m.Text()); err != nil {
		t.Fatal(err)
	}
	caller.Documents = func(uri string) ([]byte, error) {
		doc, ok := m.Document(uri)
		if !ok {
			return nil, errors.New("the document is not stored")
		}
		return doc, nil
	}
	registry := &tasks.Registry{Schemes: map[string]func(string) (atom.Body, error){ebbgrpc.Scheme: caller.Task}}
	eng, err := engine.New(m.Flow(), memstore.New(), engine.WithTasks(registry))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return eng.Run(ctx, "r", engine.Input(atom.FromJSON([]byte(input))),
		engine.Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
}

// TestUnaryCall calls a method of Google's server, in plain text and with TLS. The result has all fields of the answer,
// also those with default values. The metadata has the idempotency key and the traceparent.
//
// Guarantee (gRPC): Arguments and result have protobuf's JSON mapping; the result has default values, too. Metadata:
// `idempotency-key`, `traceparent`, `ebb-run`, `ebb-path`, `ebb-attempt`.
func TestUnaryCall(t *testing.T) {
	t.Parallel()
	get := map[string]answer{"Get": func(_ context.Context, in, out *dynamicpb.Message) error {
		set(out, "id", in.Get(in.Descriptor().Fields().ByName("id")).String())
		set(out, "number", int64(1)<<60)
		return nil
	}}
	const want = `{"got":{"blob":"","id":"o1","kind":"NORMAL","kinds":[],"number":"1152921504606846976","paid":false,` +
		`"parts":[],"tags":[]}}`
	const args = `{"id": "o1", "lines": [{"item": "pen", "count": 2}], "since": "2026-01-02T03:04:05Z"}`
	t.Run("plain text", func(t *testing.T) {
		t.Parallel()
		s := serve(t, schema(t), get)
		res, err := run(t, s, args, "{}", "")
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal(res.Run.Output.Data.JSON(), &got); err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(got); string(text) != want { // with sorted names
			t.Errorf("the result is\n%s; want\n%s", text, want)
		}
		calls := s.calls()
		if len(calls) != 1 || len(calls[0].Get("idempotency-key")) != 1 || calls[0].Get("idempotency-key")[0] == "" {
			t.Errorf("the calls were made with %v", calls)
		}
		if parent := calls[0].Get("traceparent"); len(parent) != 1 || !strings.HasPrefix(parent[0], "00-0af7651916cd") {
			t.Errorf("the traceparent is %v", parent)
		}
		if want := `"lines":[{"item":"pen","count":2}]`; !strings.Contains(strings.ReplaceAll(s.in[0], " ", ""), want) {
			t.Errorf("the server was given %s", s.in[0])
		}
	})
	t.Run("TLS", func(t *testing.T) {
		t.Parallel()
		web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
		defer web.Close()
		certificate := web.TLS.Certificates[0]
		s := serve(t, schema(t), get, grpc.Creds(credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13,
		})))
		s.url.Scheme = "https"
		roots := x509.NewCertPool()
		roots.AddCert(web.Certificate())
		text := calling(args, "", "")
		caller := func(roots *x509.CertPool) *ebbgrpc.Caller {
			return &ebbgrpc.Caller{
				Server: func(string) (*url.URL, error) { return s.url, nil },
				Client: &http.Client{Transport: &http.Transport{
					ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
				}},
			}
		}
		if _, err := play(t, text, "{}", caller(roots)); err != nil {
			t.Error(err)
		}
		if _, err := play(t, text, "{}", caller(x509.NewCertPool())); err == nil {
			t.Error("a certificate was trusted that is not")
		}
	})
}

// TestStatusIsAnError: a status becomes SM4C.Function with the name of the status as type, its number, its message and
// its details.
//
// Guarantee (gRPC): A status is `SM4C.Function` with `type` `Grpc.NOT_FOUND`, `status` 5, and `details`.
func TestStatusIsAnError(t *testing.T) {
	t.Parallel()
	s := serve(t, schema(t), map[string]answer{"Get": func(context.Context, *dynamicpb.Message, *dynamicpb.Message) error {
		st, err := status.New(codes.NotFound, "no order o1").WithDetails(
			&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Second)})
		if err != nil {
			return err
		}
		return st.Err()
	}})
	res, err := run(t, s, someArgs, "{}", `{"resultHandler": "${ .error = $value }"}`)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Error map[string]any }
	if err := json.Unmarshal(res.Run.Output.Data.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	for member, want := range map[string]any{
		"code": "SM4C.Function", "type": "Grpc.NOT_FOUND", "status": 5.0,
		"message": s.url.Host + " answers NOT_FOUND: no order o1",
	} {
		if got.Error[member] != want {
			t.Errorf("%s is %v; want %v", member, got.Error[member], want)
		}
	}
	if text, _ := json.Marshal(got.Error["details"]); string(text) != `[{"@type":"google.rpc.RetryInfo"}]` {
		t.Errorf("the details are %s", text)
	}
}

// TestWrongInputNamesTheField: no call is made, and the failure has the path of the field.
//
// Guarantee (gRPC): Wrong arguments make no call; the failure names the field, such as `lines[1].count`.
func TestWrongInputNamesTheField(t *testing.T) {
	t.Parallel()
	undone := func(context.Context, *dynamicpb.Message, *dynamicpb.Message) error { return nil }
	s := serve(t, schema(t), map[string]answer{"Cancel": undone})
	for args, want := range map[string]string{
		`{"id": 5}`:      "the argument id: ",
		`{"idd": "x"}`:   "the argument idd: unknown field",
		`{"since": "x"}`: "the argument since: ",
		`{"lines": [{"count": 1}, {"count": "many"}]}`: "the argument lines[1].count: ",
		`{"lines": {"count": 1}}`:                      "the argument lines: ",
	} {
		_, err := run(t, s, args, "{}", "")
		failed, is := errors.AsType[*engine.RevertedError](err)
		if !is || len(failed.Failures) == 0 || !strings.Contains(failed.Failures[0].Message, want) ||
			!strings.Contains(string(failed.Failures[0].Details), `"Grpc.Argument"`) {
			t.Errorf("%s: %v; want %q", args, err, want)
		}
	}
}

// TestSlowServer: when a call times out, the server's context ends, and the machine continues with null.
//
// Guarantee (gRPC): A timeout cancels the call at the server. A deadline goes with the call.
// Also: `TestDeadline`.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	s := serve(t, schema(t), map[string]answer{"Get": func(ctx context.Context, _, _ *dynamicpb.Message) error {
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}})
	res, err := play(t, calling(someArgs, "", `"timeout": "PT1S",`), "{}",
		&ebbgrpc.Caller{Server: func(string) (*url.URL, error) { return s.url, nil }})
	if err != nil || !strings.Contains(string(res.Run.Output.Data.JSON()), `"got":null`) {
		t.Errorf("%v, %v", res, err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the server's context ended with %v", err)
	}
}

// TestDeadline: the server receives the deadline of a call's context.
func TestDeadline(t *testing.T) {
	t.Parallel()
	left := make(chan time.Duration, 1)
	s := serve(t, schema(t), map[string]answer{"Get": func(ctx context.Context, _, _ *dynamicpb.Message) error {
		at, _ := ctx.Deadline()
		left <- time.Until(at)
		return nil
	}})
	caller := &ebbgrpc.Caller{
		Documents: func(string) ([]byte, error) { return schema(t), nil },
		Server:    func(string) (*url.URL, error) { return s.url, nil },
	}
	body, err := caller.Task("grpc:apis/orders.proto#shop.Orders#Get")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	ctx = atom.WithCall(ctx, &atom.Call{Run: "r", Path: "a", Attempt: 1})
	if _, err := body.Execute(ctx, atom.Single(atom.FromJSON([]byte(someArgs)))); err != nil {
		t.Fatal(err)
	}
	if d := <-left; d < 59*time.Minute || d > time.Hour {
		t.Errorf("the server has %v left", d)
	}
}

// TestUndoneByRPC undoes a call by another method, under a key of its own.
func TestUndoneByRPC(t *testing.T) {
	t.Parallel()
	ok := func(_ context.Context, in, out *dynamicpb.Message) error {
		set(out, "id", "o7")
		return nil
	}
	s := serve(t, schema(t), map[string]answer{"Get": ok, "Cancel": ok})
	_, err := run(t, s, someArgs, `{"fail": true}`, "")
	if _, is := errors.AsType[*engine.RevertedError](err); !is {
		t.Fatal(err)
	}
	if len(s.in) != 2 || !strings.Contains(strings.ReplaceAll(s.in[1], " ", ""), `"id":"o7"`) {
		t.Errorf("the server was given %v", s.in)
	}
	if a, b := s.seen[0].Get("idempotency-key"), s.seen[1].Get("idempotency-key"); len(b) != 1 || a[0] == b[0] {
		t.Errorf("the keys are %v and %v", a, b)
	}
}
