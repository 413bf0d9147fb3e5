package session

import (
	"net/url"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

const (
	grpcFlag = "grpc"
	grpcHelp = "the address of a gRPC service, SERVICE=https://HOST:PORT, or http: for plain text; * is any other " +
		"service; may be repeated (EBB_GRPC)"

	lambdaFlag = "lambda-endpoint"
	lambdaHelp = "call Lambda functions that --task does not map at this URL, by the Invoke operation of AWS Lambda's " +
		"API (EBB_LAMBDA_ENDPOINT)"
)

// Services returns the servers that functions call, as --grpc and --lambda-endpoint name them.
func (s *Session) Services() *definition.Services { return &s.services }

// parseServices reads --grpc and --lambda-endpoint.
func (s *Session) parseServices() error {
	if s.services.Lambda = nil; s.lambda != "" {
		to, err := url.Parse(s.lambda)
		if err != nil || !isServer(to) {
			return exit.Usagef("--%s: want a URL such as http://127.0.0.1:9001", lambdaFlag)
		}
		s.services.Lambda = to
	}
	s.services.GRPC = map[string]*url.URL{}
	for _, text := range s.grpc {
		service, address, _ := strings.Cut(text, "=")
		to, err := url.Parse(address)
		if err != nil || service == "" || !isServer(to) {
			return exit.Usagef("--grpc %s: want SERVICE=https://HOST:PORT or SERVICE=http://HOST:PORT, "+
				"such as shop.Orders=https://orders.example.org", service)
		}
		s.services.GRPC[service] = to
	}
	return nil
}

// isServer reports whether a URL names a server, and nothing secret.
func isServer(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" &&
		u.Fragment == ""
}
