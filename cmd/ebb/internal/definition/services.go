package definition

import (
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/grpc"
	"github.com/ebbflow/ebb/engine/openapi"
)

// AnyService stands for each service of gRPC that has no address of its own.
const AnyService = "*"

// Services are the servers that functions call.
type Services struct {
	GRPC   map[string]*url.URL // addresses by the full names of services, and by AnyService
	Lambda *url.URL            // where Lambda functions are called; nil if nowhere

	mu   sync.Mutex
	made map[Machine]map[string]func(string) (atom.Body, error)
}

// SchemesOf returns the [Services.Schemes] of one machine. It keeps them, so that the runs of the machine share the
// documents that were read.
func (s *Services) SchemesOf(m Machine) map[string]func(string) (atom.Body, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[m] == nil {
		if s.made == nil {
			s.made = map[Machine]map[string]func(string) (atom.Body, error){}
		}
		s.made[m] = s.Schemes(m)
	}
	return s.made[m]
}

// Schemes returns what calls functions of type rest and rpc, for the Schemes of a registry. It reads the documents that
// are stored with the machines, each once. An OpenAPI document says where its server is; only the operator says where a
// service of gRPC is.
func (s *Services) Schemes(machines ...Machine) map[string]func(string) (atom.Body, error) {
	stored := func(uri string) ([]byte, error) {
		for _, m := range machines {
			if m, ok := m.(*sm4cMachine); ok {
				if doc, ok := m.Document(uri); ok {
					return doc, nil
				}
			}
		}
		return nil, errors.New("the document is not stored with the definition")
	}
	return map[string]func(string) (atom.Body, error){
		openapi.Scheme: (&openapi.Caller{Documents: stored}).Task,
		grpc.Scheme:    (&grpc.Caller{Documents: stored, Server: s.server}).Task,
	}
}

func (s *Services) server(service string) (*url.URL, error) {
	for _, name := range []string{service, AnyService} {
		if to := s.GRPC[name]; to != nil {
			return to, nil
		}
	}
	return nil, fmt.Errorf("its address is not known (use --grpc %s=https://HOST:PORT, or http: for plain text)", service)
}
