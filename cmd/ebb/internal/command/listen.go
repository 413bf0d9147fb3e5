package command

import (
	"errors"
	"net"
	"net/netip"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/server"
)

// listenFlags are the flags for how clients reach a server.
type listenFlags struct {
	address string
	keys    string
	hosts   []string
	open    bool // for everyone who can reach it
	cert    string
	certKey string

	userHeader string   // header in which a proxy names the caller
	userFrom   []string // addresses of that proxy
}

// addFlags adds the flags that do not depend on what is served.
func (f *listenFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.hosts, "host", nil, "a name by which clients know this machine; may be repeated")
	flags.StringVar(&f.cert, "tls-cert", "", "file with the certificate for HTTPS on --listen")
	flags.StringVar(&f.certKey, "tls-key", "", "file with the key of that certificate")
	flags.StringVar(&f.userHeader, "user-header", "",
		"header in which a proxy names who uses the console and the API, such as X-Forwarded-User; needs --user-from")
	flags.StringArrayVar(&f.userFrom, "user-from", nil,
		"address of that proxy, such as 10.1.0.0/16; may be repeated")
}

// proxy returns the proxy that names callers; nil if there is none.
func (f *listenFlags) proxy() (*server.Proxy, error) {
	if (f.userHeader == "") != (len(f.userFrom) == 0) {
		return nil, exit.Usagef("--user-header and --user-from go together")
	}
	if f.userHeader == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	p := &server.Proxy{Header: f.userHeader}
	for _, text := range f.userFrom {
		from, err := netip.ParsePrefix(text)
		if err != nil {
			one, bad := netip.ParseAddr(text)
			if bad != nil {
				return nil, exit.Usagef("--user-from %s: want an address such as 10.1.2.3, or 10.1.0.0/16", text)
			}
			from = netip.PrefixFrom(one, one.BitLen())
		}
		p.From = append(p.From, from)
	}
	return p, nil
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
	proxy, err := f.proxy()
	if err != nil {
		return nil, err
	}
	srv, err := server.New(server.Options{
		Address: f.address, Keys: f.keys, Hosts: f.hosts, Cert: f.cert,
		CertKey: f.certKey, Proxy: proxy, Open: f.open, Log: log,
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
