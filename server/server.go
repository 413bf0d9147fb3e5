package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/limitedfile"
)

const (
	// DefaultAddress is where a server listens unless its options say otherwise. Only this machine can reach it.
	DefaultAddress = "127.0.0.1:8083"
	// MaxBody is how long the body of a request may be, in bytes: as long as a value, and what stands around it.
	MaxBody = atom.MaxValue + 64<<10
	// Goodbye is how long requests that were begun may still take when the server stops.
	Goodbye = 5 * time.Second
)

// The limits of what is asked over HTTP. docs/reference/limits.md lists them.
const (
	maxSecretFile  = 256 << 10        // bytes of a file of keys, or of a certificate
	maxConnections = 1000             // at once, and no more than half the files that may be open
	maxHead        = 16 << 10         // bytes of the head of a request
	maxLines       = 200              // of the head, unless it comes by TLS
	smallBody      = 16 << 10         // bytes of a body that does not count
	maxBodies      = 4 << 20          // bytes of all others in memory
	headTime       = 10 * time.Second // in which the head of a request has to come
	requestTime    = time.Minute      // in which all of it has
	bodyTime       = 15 * time.Second // in which the body has, once the memory for it is free
	bodyGrace      = 2 * time.Second  // after which another may take the memory of one that has not
	admissionTime  = 10 * time.Second // in which the memory for a body has to become free
	workTime       = time.Minute      // that a handler may take
	answerTime     = 30 * time.Second // in which an answer has to be taken, once it has begun
	idleTime       = 2 * time.Minute  // for which an idle connection is kept
)

// ErrNoKeys is returned if other machines can reach the address and the server needs no key.
var ErrNoKeys = errors.New("server: others can reach the address, and anybody would be answered: set Keys, or use a loopback address")

// Options say where a server listens, and which clients it serves.
type Options struct {
	Address string       // HOST:PORT; "" is [DefaultAddress]
	Keys    string       // a file with a name, a key, and its purposes, on each line; "" serves every client that can connect
	Hosts   []string     // names by which clients know this machine; they may always use its addresses
	Cert    string       // a file with a certificate, and those that vouch for it, for HTTPS; "" is HTTP
	CertKey string       // the file with the key of that certificate
	Log     hclog.Logger // nil is none
}

// A Server answers authorized clients. [New] creates a Server.
type Server struct {
	address string
	local   bool // only this machine can reach it
	hosts   []string
	keys    *keyring // nil where none are needed
	tls     *tls.Config
	log     hclog.Logger
	http    *http.Server // that [Server.Start] has started
}

// New returns a server that does not listen yet. It reads the files that the options name. While the server serves, it
// reads the keys again. If they then have an error, the server logs the error and keeps the previous keys. For an
// invalid address, New returns a *[net.AddrError]. The other errors are [ErrNoKeys], and errors that name a file.
func New(o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = DefaultAddress
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{address: o.Address, local: isLoopback(host), hosts: o.Hosts, log: o.Log}
	if o.Keys != "" {
		if s.keys, err = newKeyring(o.Keys, o.Log); err != nil {
			return nil, err
		}
	}
	if !s.local && s.keys == nil {
		return nil, ErrNoKeys
	}
	if o.Cert != "" {
		pair, err := readCertificate(o.Cert, o.CertKey)
		if err != nil {
			return nil, fmt.Errorf("tls-cert %s: %w", o.Cert, err)
		}
		s.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return s, nil
}

// readCertificate reads a certificate, with those that vouch for it, and its key.
func readCertificate(cert, key string) (tls.Certificate, error) {
	certText, err := limitedfile.Read(cert, maxSecretFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyText, err := limitedfile.Read(key, maxSecretFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certText, keyText)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Start listens and serves a handler until [Server.Stop] is called, behind [Server.Guard] and within limits on the cost
// of connections. It returns the URL of the address.
func (s *Server) Start(ctx context.Context, answers http.Handler) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		return "", err
	}
	scheme, at := "http", listener.Addr()
	listener = newConnections(listener, min(maxConnections, openFiles()/2), s.tls != nil) //nolint:mnd // the database needs files, too
	if s.tls != nil {
		scheme, listener = "https", tls.NewListener(listener, s.tls)
	}
	s.http = s.serving(answers)
	go func() { _ = s.http.Serve(listener) }() // it ends with Shutdown
	return fmt.Sprintf("%s://%s", scheme, at), nil
}

// serving returns what answers on [connections], within the limits of a request.
func (s *Server) serving(answers http.Handler) *http.Server {
	server := &http.Server{
		Handler: s.Guard(answers), DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
		ReadHeaderTimeout: headTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ConnState: watchConnection, ConnContext: withConnection,
		ErrorLog: s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}), // what clients do wrong
	}
	server.Protocols.SetHTTP1(true) // HTTP/2 would have many requests on a connection
	return server
}

// Stop lets requests that were begun end, and cuts off those that take longer than [Goodbye]. It does nothing if the
// server was not started.
func (s *Server) Stop(ctx context.Context) error {
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Goodbye)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	return err
}
