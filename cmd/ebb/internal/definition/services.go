package definition

import (
	"errors"
	"fmt"
	"net/url"
	"sync"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine/awscall"
	"github.com/ebbflow/ebb/engine/grpc"
	"github.com/ebbflow/ebb/engine/openapi"
	"github.com/ebbflow/ebb/engine/tasks"
	"github.com/ebbflow/ebb/server/lambda"
)

// AnyService stands for each service of gRPC that has no address of its own.
const AnyService = "*"

// Services are the servers that functions and tasks call.
type Services struct {
	GRPC   map[string]*url.URL // addresses by the full names of services, and by AnyService
	Lambda *url.URL            // where Lambda functions are called; nil if nowhere
	// Functions run the Lambda functions of templates; nil if they do not run here.
	Functions *lambda.Server
	AWS       awscall.Caller // calls other services of AWS; unused if it has no service

	mu   sync.Mutex
	made map[Machine]map[string]func(string) (atom.Body, error)
}

// Join adds the services to the tasks of a run of one of the machines.
func (s *Services) Join(r *tasks.Registry, machines ...Machine) {
	r.Lambda = s.Lambda
	for _, name := range s.Functions.Names() {
		r.AddFunction(name, s.Functions)
	}
	if len(machines) == 1 {
		r.Schemes = s.schemesOf(machines[0])
	} else {
		r.Schemes = s.schemes(machines...)
	}
}

// schemesOf returns the schemes of one machine. It keeps them, so that the runs of the machine share the documents that
// were read.
func (s *Services) schemesOf(m Machine) map[string]func(string) (atom.Body, error) {
	if _, hasDocuments := m.(*sm4cMachine); !hasDocuments {
		m = nil // all machines of other languages share one
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[m] == nil {
		if s.made == nil {
			s.made = map[Machine]map[string]func(string) (atom.Body, error){}
		}
		s.made[m] = s.schemes(m)
	}
	return s.made[m]
}

// schemes returns the callers of functions of type rest and rpc, and of services of AWS, for the Schemes of a registry.
// It reads the documents that are stored with the machines, each once. An OpenAPI document says where its server is;
// only the operator says where a service of gRPC is.
func (s *Services) schemes(machines ...Machine) map[string]func(string) (atom.Body, error) {
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
	all := map[string]func(string) (atom.Body, error){
		openapi.Scheme: (&openapi.Caller{Documents: stored}).Task,
		grpc.Scheme:    (&grpc.Caller{Documents: stored, Server: s.server}).Task,
	}
	if s.AWS.Endpoint != nil || s.AWS.Own != nil {
		all[awscall.Scheme] = s.AWS.Task
	}
	return all
}

func (s *Services) server(service string) (*url.URL, error) {
	for _, name := range []string{service, AnyService} {
		if to := s.GRPC[name]; to != nil {
			return to, nil
		}
	}
	return nil, fmt.Errorf("its address is not known (use --grpc %s=https://HOST:PORT, or http: for plain text)", service)
}
