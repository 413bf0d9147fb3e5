package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log" //nolint:depguard // http.Server takes one for what clients do wrong
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/limitedfile"
	"github.com/ebbflow/ebb/internal/logevent"
)

const (
	// DefaultAddress is where a server listens by default. Only this machine can reach it.
	DefaultAddress = "127.0.0.1:8083"
	// MaxBody is the maximum size of a request body in bytes: a value, and the JSON around it.
	//
	//limit:http body of a request | {B} | 413
	MaxBody = atom.MaxValue + 64<<10
	// Goodbye is how long running requests may continue after the server is told to stop.
	//
	//limit:http running requests when the server stops | {} | cuts off
	Goodbye = 5 * time.Second
)

// Limits of HTTP requests.
const (
	//limit:http file of keys, a certificate or its key | {B}
	maxSecretFile = 256 << 10
	//limit:http connections | {}, or half the files that may be open | cuts off the client with the longest wait
	maxConnections = 4000
	//limit:http head of a request | {B}, {maxLines} lines (not counted over TLS) | 431
	maxHead   = 16 << 10
	maxLines  = 200      // lines of the head, without TLS
	smallBody = 16 << 10 // bytes of a body that does not count
	//limit:http bodies of over {smallBody B} in memory | {B} | waits {admissionTime}, then 503. Cuts off a body
	//limit:and that is incomplete after {bodyGrace} if another waits
	maxBodies = 16 << 20
	//limit:http time for head; body; both | {}; {bodyTime}; {requestTime} | cuts off; 408; cuts off
	headTime      = 10 * time.Second
	requestTime   = time.Minute      // for the whole request to arrive
	bodyTime      = 15 * time.Second // for the body to arrive, when memory for it is free
	bodyGrace     = 2 * time.Second  // after which another body may take the memory of a body that has not arrived
	admissionTime = 10 * time.Second // for the memory for a body or an answer to become free
	//limit:http answers in memory: pages of {pageSize B}, objects of {objectSize B}; those of one client | {B};
	//limit:and half of it | waits {admissionTime}, then 503; 429. Cuts off a client that reads less than
	//limit:and {answerRate B} a second after {bodyGrace} if another waits
	maxAnswers = 64 << 20
	pageSize   = 4 << 20   // what an answer counts while it is built and sent, and
	objectSize = 1 << 20   // what the description of one object counts
	answerRate = 256 << 10 // bytes that a client must read in a second if other requests wait
	//limit:http time for the work of a request | {} | 503
	workTime = 75 * time.Second // for a handler; a worker may wait for a minute
	//limit:http time to read an answer that has begun | {} | cuts off
	answerTime = 30 * time.Second
	//limit:http idle connection | {} | cuts off
	idleTime = 2 * time.Minute
)

// ErrNoKeys is returned if other machines can reach the address and the server requires no key.
var ErrNoKeys = errors.New("server: other machines can reach the address and would be served without a key: set " +
	"Keys, or use a " +
	"loopback address")

// Options set where a server listens, and which clients it serves.
type Options struct {
	Address string // HOST:PORT; "" means [DefaultAddress]
	// Keys is the path of a file with a name, a key, and its purposes, on each line. If Keys is "", the server
	// serves every client that can connect.
	Keys    string
	Hosts   []string // names by which clients know this machine; they may always use its addresses
	Cert    string   // path of a file with a certificate and its chain, for HTTPS; "" means HTTP
	CertKey string   // path of the file with the key of that certificate
	// Open serves everyone who can reach the address, without keys, on any address, as an emulator of AWS does. Requests
	// of AWS's protocol may then be for any host. Pages in browsers can still not use the server, see [Server.Guard].
	Open  bool
	Proxy *Proxy       // names the callers of the console and the API; nil means that only keys do
	Log   hclog.Logger // nil means no log
}

// A Server is an HTTP server that bounds what each client may use, and refuses requests without a key if it has keys,
// or that a web page of another site may have sent. It passes all others to the handler that Start is given. [New]
// creates a Server.
type Server struct {
	address string
	local   bool // only this machine can reach it
	hosts   []string
	open    bool          // for everyone who can reach it
	keys    *keyring      // nil if no key is required
	proxy   *Proxy        // nil if there is none
	logins  chan struct{} // has an element for each wrong key that waits for its answer
	aws     AWSHandler    // set by [Server.ServeAWS]
	tls     *tls.Config
	log     hclog.Logger
	http    *http.Server // set by [Server.Start]
	// stopping is closed by Stop; set by [Server.Start]
	stopping chan struct{}
}

// New returns a server that does not listen yet. It reads the files that the options name. While the server serves,
// it reads the keys again. If they then have an error, the server logs the error and keeps the previous keys. For
// an invalid address, New returns a *[net.AddrError]. Other errors are [ErrNoKeys], and errors that name a file.
func New(o Options) (*Server, error) {
	if o.Address == "" {
		o.Address = DefaultAddress
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	o.Log = o.Log.Named("server")
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{address: o.Address, local: isLoopback(host), hosts: o.Hosts, open: o.Open, proxy: o.Proxy, log: o.Log}
	s.logins = make(chan struct{}, loginPauses)
	if o.Keys != "" {
		if s.keys, err = newKeyring(o.Keys, o.Log); err != nil {
			return nil, err
		}
	}
	if !s.local && s.keys == nil && !s.open {
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

// readCertificate reads a certificate with its chain, and its key.
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
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Start listens and serves a handler until [Server.Stop] is called, behind [Server.Guard] and within limits on the cost
// of connections. It returns the URL of the address.
func (s *Server) Start(ctx context.Context, answers http.Handler) (url string, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.address)
	if err != nil {
		return "", err
	}
	scheme, at := "http", listener.Addr()
	//nolint:mnd // the database needs files, too
	connections := newConnections(listener, min(maxConnections, openFiles()/2), s.tls != nil)
	s.stopping, listener = connections.stopping, connections
	if s.tls != nil {
		scheme, listener = "https", tls.NewListener(listener, s.tls)
	}
	s.http = s.serving(answers)
	go func() { _ = s.http.Serve(listener) }() // Serve ends with Shutdown
	return fmt.Sprintf("%s://%s", scheme, at), nil
}

// serving returns the http.Server for [connections], with the limits of a request.
func (s *Server) serving(answers http.Handler) *http.Server {
	server := &http.Server{
		Handler: s.Guard(answers), DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
		ReadHeaderTimeout: headTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ConnState: watchConnection, ConnContext: withConnection,
		ErrorLog: log.New(clientErrors{s.log}, "", 0),
	}
	server.Protocols.SetHTTP1(true) // HTTP/2 would have many requests on a connection
	return server
}

// Stop lets running requests end, and cuts off those that take longer than [Goodbye]. If the server was not
// started, Stop does nothing.
func (s *Server) Stop(ctx context.Context) error {
	if s.http == nil {
		return nil
	}
	if s.stopping != nil {
		close(s.stopping)
		s.stopping = nil
	}
	ctx, cancel := context.WithTimeout(ctx, Goodbye)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	return err
}

// clientErrors log for debugging what package net/http says of clients.
type clientErrors struct{ log hclog.Logger }

// Write implements [io.Writer].
func (e clientErrors) Write(line []byte) (int, error) {
	e.log.Debug(logevent.HTTPError, "message", strings.TrimSpace(string(line)))
	return len(line), nil
}
