package interop_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/ebbflow/ebb/atom"
	ebbgrpc "github.com/ebbflow/ebb/engine/grpc"
)

// TestServerDiesDuringACall: the call fails with UNAVAILABLE, and a retry reaches the next server under the same key.
//
// Guarantee (gRPC): A server that dies gives `Grpc.UNAVAILABLE`; `retryPolicy` calls again.
func TestServerDiesDuringACall(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	next := make(chan *shop, 1)
	var first *shop
	first = serveOn(t, listener, schema(t), map[string]answer{"Get": func(context.Context, *dynamicpb.Message, *dynamicpb.Message) error {
		go func() { // Stop waits for this handler's connection only
			first.server.Stop()
			var again net.Listener
			for again == nil {
				again, _ = new(net.ListenConfig).Listen(context.Background(), "tcp", at)
			}
			next <- serveOn(t, again, schema(t), map[string]answer{"Get": func(_ context.Context, _, out *dynamicpb.Message) error {
				set(out, "paid", true)
				return nil
			}})
		}()
		<-t.Context().Done()
		return nil
	}})
	text := strings.Replace(calling(someArgs,
		`{"condition": "${ .type == \"Grpc.UNAVAILABLE\" }", "retryPolicy": "often"}`, ""), `"functions"`, `"retries": [{"name": "often", "maxAttempts": 50, "delay": "PT0.1S"}], "functions"`, 1)
	res, err := play(t, text, "{}",
		&ebbgrpc.Caller{Server: func(string) (*url.URL, error) { return first.url, nil }})
	if err != nil || !strings.Contains(string(res.Run.Output.Data.JSON()), `"paid":true`) {
		t.Fatalf("%v, %v", res, err)
	}
	before, after := first.calls(), (<-next).calls()
	if len(before) != 1 || len(after) != 1 ||
		before[0].Get("ebb-attempt")[0] == after[0].Get("ebb-attempt")[0] {
		t.Errorf("the calls were made with %v and %v", before, after)
	}
}

// TestConnectionReset: a call whose connection is reset fails with UNAVAILABLE, as one whose connection is closed.
func TestConnectionReset(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			tcp := conn.(*net.TCPConn)
			err = tcp.SetLinger(0) // Close sends a reset
			if _, readErr := tcp.Read(make([]byte, 1)); errors.Join(err, readErr, tcp.Close()) != nil {
				t.Error(err, readErr)
			}
		}
	})
	defer served.Wait()
	defer func() { _ = listener.Close() }()
	body, err := (&ebbgrpc.Caller{
		Documents: func(string) ([]byte, error) { return schema(t), nil },
		Server:    func(string) (*url.URL, error) { return &url.URL{Scheme: "http", Host: listener.Addr().String()}, nil },
	}).Task("grpc:apis/orders.proto#shop.Orders#Get")
	if err != nil {
		t.Fatal(err)
	}
	ctx := atom.WithCall(t.Context(), &atom.Call{Run: "r", Path: "a", Attempt: 1})
	_, err = body.Execute(ctx, atom.Single(atom.FromJSON([]byte(someArgs))))
	f, is := errors.AsType[*atom.Failure](err)
	if !is || f.Code != "Grpc.UNAVAILABLE" || !strings.Contains(string(f.Details), `"status":14`) {
		t.Errorf("the call fails with %v", err)
	}
}

// TestHostileAnswers: an answer that is too large, nests too deep, or becomes too large in JSON fails the call, and
// takes little memory.
//
// Guarantee (gRPC): Answers are bounded in bytes, in depth, and in the bytes of their JSON.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill func(out *dynamicpb.Message)
		want string
	}{
		"large": {func(out *dynamicpb.Message) { set(out, "id", strings.Repeat("x", 3<<20)) }, "Grpc.RESOURCE_EXHAUSTED"},
		"large in JSON": {func(out *dynamicpb.Message) {
			kinds := out.Mutable(out.Descriptor().Fields().ByName("kinds")).List()
			for range 500_000 {
				v := kinds.NewElement()
				kinds.Append(v)
			}
		}, "Ebb.ValueTooLarge"},
		"many empty messages": {func(out *dynamicpb.Message) {
			parts := out.Mutable(out.Descriptor().Fields().ByName("parts")).List()
			for range 400_000 {
				parts.AppendMutable()
			}
		}, "Ebb.ValueTooLarge"},
		"deep": {func(out *dynamicpb.Message) {
			m := out.ProtoReflect()
			for range 5_000 {
				m = m.Mutable(m.Descriptor().Fields().ByName("parts")).List().AppendMutable().Message()
			}
		}, "Grpc."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, schema(t), map[string]answer{"Get": func(_ context.Context, _, out *dynamicpb.Message) error {
				c.fill(out)
				return nil
			}}, grpc.MaxSendMsgSize(64<<20))
			res, err := run(t, s, someArgs, "{}", `{"resultHandler": "${ .error = $value.type }"}`)
			if err != nil || !strings.Contains(string(res.Run.Output.Data.JSON()), `"error":"`+c.want) {
				t.Errorf("%v, %v; want %s", res, err, c.want)
			}
		})
	}
}
