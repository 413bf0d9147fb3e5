package command

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/server"
)

// listenFlags are the flags for how clients reach a server.
type listenFlags struct {
	address string
	keys    string
	hosts   []string
	cert    string
	certKey string
}

// server returns the server that the flags describe; nil if the process does not listen. It logs later problems
// with the keys.
func (f *listenFlags) server(log hclog.Logger) (*server.Server, error) {
	if f.address == "off" {
		return nil, nil //nolint:nilnil // there is none
	}
	if (f.cert == "") != (f.certKey == "") {
		return nil, exit.Usagef("--tls-cert and --tls-key go together")
	}
	srv, err := server.New(server.Options{
		Address: f.address, Keys: f.keys, Hosts: f.hosts, Cert: f.cert,
		CertKey: f.certKey, Log: log,
	})
	_, badAddress := errors.AsType[*net.AddrError](err)
	switch {
	case f.address == "", badAddress:
		return nil, exit.Usagef("--listen %s: want HOST:PORT, such as %s, or off", f.address, server.DefaultAddress)
	case errors.Is(err, server.ErrNoKeys):
		return nil, exit.Usagef("--listen %s: other machines can reach it: "+
			"without --keys FILE, only loopback addresses are allowed", f.address)
	case err != nil: // the error starts with the name of a flag
		return nil, exit.Usagef("--%w", err)
	}
	return srv, nil
}

// listen starts the HTTP server, and prints its address.
func (s subcommands) listen(ctx context.Context, srv *server.Server, address string, answers http.Handler) error {
	url, err := srv.Start(ctx, answers)
	if err != nil {
		return exit.Usagef("--listen %s: %w (use another address, or off)", address, err)
	}
	s.Noticef("serving; health, metrics and events on %s", url)
	return nil
}
