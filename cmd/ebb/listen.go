package main

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/server"
)

// listenFlags are the flags that say how clients may reach a server.
type listenFlags struct {
	address string
	keys    string
	hosts   []string
	cert    string
	certKey string
}

// server returns the server that the flags describe; nil if the process does not listen. Problems with the keys that
// arise later go to the log.
func (f *listenFlags) server(log hclog.Logger) (*server.Server, error) {
	if f.address == "off" {
		return nil, nil //nolint:nilnil // there is none
	}
	if (f.cert == "") != (f.certKey == "") {
		return nil, usagef("--tls-cert and --tls-key go together")
	}
	srv, err := server.New(server.Options{Address: f.address, Keys: f.keys, Hosts: f.hosts, Cert: f.cert, CertKey: f.certKey, Log: log})
	switch {
	case f.address == "", is[*net.AddrError](err):
		return nil, usagef("--listen %s: want HOST:PORT, such as %s, or off", f.address, server.DefaultAddress)
	case errors.Is(err, server.ErrNoKeys):
		return nil, usagef("--listen %s: others can reach it, and anybody would be answered: "+
			"only loopback addresses can be listened on without --keys FILE", f.address)
	case err != nil: // it begins with the name of a flag
		return nil, usagef("--%w", err)
	}
	return srv, nil
}

// listen starts the HTTP server, and prints its address.
func (s *session) listen(ctx context.Context, srv *server.Server, address string, answers http.Handler) error {
	url, err := srv.Start(ctx, answers)
	if err != nil {
		return usagef("--listen %s: %w (use another address, or off)", address, err)
	}
	s.noticef("serving; health, metrics and events on %s", url)
	return nil
}
