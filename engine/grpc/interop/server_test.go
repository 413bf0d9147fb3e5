package interop_test

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// An answer is the server's function for a method.
type answer func(ctx context.Context, in *dynamicpb.Message, out *dynamicpb.Message) error

// A shop is a server of Google's library that has the unary methods of a service.
type shop struct {
	server *grpc.Server
	url    *url.URL

	mu   sync.Mutex
	seen []metadata.MD // of each call
	in   []string      // in JSON
}

// serve starts a server on a free port of loopback, with the methods of shop.Orders in the schema.
func serve(t *testing.T, schema []byte, answers map[string]answer, opts ...grpc.ServerOption) *shop {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, listener, schema, answers, opts...)
}

func serveOn(t *testing.T, on net.Listener, schema []byte, answers map[string]answer, opts ...grpc.ServerOption) *shop {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	if err := protojson.Unmarshal(schema, set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	d, err := files.FindDescriptorByName("shop.Orders")
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{server: grpc.NewServer(opts...), url: &url.URL{Scheme: "http", Host: on.Addr().String()}}
	service := grpc.ServiceDesc{ServiceName: "shop.Orders", HandlerType: (*any)(nil)}
	for name, a := range answers {
		method := d.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
		service.Methods = append(service.Methods, grpc.MethodDesc{
			MethodName: name,
			Handler: func(_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				in, out := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
				if err := read(in); err != nil {
					return nil, err
				}
				s.note(ctx, in)
				return out, a(ctx, in, out)
			},
		})
	}
	s.server.RegisterService(&service, nil)
	go func() { _ = s.server.Serve(on) }() // Stop ends it
	t.Cleanup(s.server.Stop)
	return s
}

// note records the metadata of a call.
func (s *shop) note(ctx context.Context, in *dynamicpb.Message) {
	md, _ := metadata.FromIncomingContext(ctx)
	text, _ := protojson.Marshal(in)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.in = append(s.seen, md), append(s.in, string(text))
}

// calls returns the metadata of the calls.
func (s *shop) calls() []metadata.MD {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// set sets a field of a message.
func set(m *dynamicpb.Message, field string, v any) {
	m.Set(m.Descriptor().Fields().ByName(protoreflect.Name(field)), protoreflect.ValueOf(v))
}
