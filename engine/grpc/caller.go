package grpc

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/webclient"
)

// Scheme begins the names of tasks that are methods.
const Scheme = "grpc"

// A Caller finds methods and calls them. Any number of goroutines may use it. Do not change it after its first use.
type Caller struct {
	// Documents returns the schema of a URI, as [Schema] returned it. It should return the same schema for each call,
	// such as the one that is stored with a definition. Each schema is read once.
	Documents func(uri string) ([]byte, error)
	// Server returns the address of a service by its full name, such as shop.Orders: https://HOST:PORT for TLS, and
	// http://HOST:PORT for plain text. An error says why there is none.
	Server func(service string) (*url.URL, error)
	// Client makes the calls. It must speak HTTP/2. Nil is a client that speaks HTTP/2 with TLS and in plain text,
	// trusts the certificates that the system trusts, and follows no redirects.
	Client *http.Client
	// Allow returns an error for a URL that must not be called, such as https://HOST/shop.Orders/Get; nil allows all.
	Allow func(*url.URL) error

	mu   sync.Mutex
	read map[string]*protoregistry.Files
}

// Task returns the body of the task called grpc:URI#package.Service#Method. The error says why there is none: the
// schema cannot be read, it has no such method, the method streams, or the service has no address.
func (c *Caller) Task(name string) (atom.Body, error) {
	parts := strings.Split(strings.TrimPrefix(name, Scheme+":"), "#")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return nil, fmt.Errorf("grpc: %s does not name a method (such as grpc:orders.proto#shop.Orders#Get)",
			redact.Text(name))
	}
	uri, service, method := parts[0], parts[1], parts[2]
	files, err := c.schema(uri)
	if err != nil {
		return nil, fmt.Errorf("grpc: %s: %w", redact.URL(uri), err)
	}
	found, err := methodOf(files, service, method)
	if err != nil {
		return nil, fmt.Errorf("grpc: %s: %w", redact.URL(uri), err)
	}
	server, err := c.Server(service)
	if err != nil {
		return nil, fmt.Errorf("grpc: the service %s: %w", service, err)
	}
	if server.Scheme != "http" && server.Scheme != "https" || server.Host == "" {
		return nil, fmt.Errorf("grpc: the address %s of the service %s is not an http: or https: URL",
			redact.URL(server.String()), service)
	}
	return newCall(c, found, files, server), nil
}

// methodOf returns a method that is not a stream.
func methodOf(files *protoregistry.Files, service, name string) (protoreflect.MethodDescriptor, error) {
	d, err := files.FindDescriptorByName(protoreflect.FullName(service))
	in, is := d.(protoreflect.ServiceDescriptor)
	if err != nil || !is {
		return nil, fmt.Errorf("there is no service %q", service)
	}
	method := in.Methods().ByName(protoreflect.Name(name))
	switch {
	case method == nil:
		return nil, fmt.Errorf("the service %s has no method %q", service, name)
	case method.IsStreamingClient(), method.IsStreamingServer():
		return nil, fmt.Errorf("the method %s/%s is a stream; only unary methods can be called", service, name)
	}
	return method, nil
}

func (c *Caller) schema(uri string) (*protoregistry.Files, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if files := c.read[uri]; files != nil {
		return files, nil
	}
	text, err := c.Documents(uri)
	if err != nil {
		return nil, err
	}
	files, err := readSchema(text)
	if err != nil {
		return nil, err
	}
	if c.read == nil {
		c.read = map[string]*protoregistry.Files{}
	}
	c.read[uri] = files
	return files, nil
}

// client returns the client of the calls.
func (c *Caller) client() *http.Client {
	if c.Client != nil {
		return c.Client
	}
	return defaultClient()
}

// errRedirected is the error of a call whose server redirects to another one.
var errRedirected = errors.New("the server redirects, which gRPC does not have")

// defaultClient returns a client that speaks HTTP/2 only, with TLS and without.
var defaultClient = sync.OnceValue(func() *http.Client {
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, Protocols: &protocols, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: webclient.MaxHead, IdleConnTimeout: idleTime,
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirected },
	}
})
