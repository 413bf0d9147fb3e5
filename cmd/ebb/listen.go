package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/server/workers"
)

// listenFlags are how others may ask a server.
type listenFlags struct {
	address string
	keys    string
	hosts   []string
	cert    string
	certKey string
}

// The limits of what is asked over HTTP. docs/reference/limits.md lists them.
const (
	defaultListen  = "127.0.0.1:8083"
	maxConnections = 1000             // at once, and no more than half the files that may be open
	maxHead        = 16 << 10         // bytes of the head of a request
	maxLines       = 200              // of the head, unless it comes by TLS
	maxBody        = workers.MaxBody  // bytes of a body
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
	goodbye        = 5 * time.Second  // in which requests that were begun have to end
)

// An access says which clients may send requests.
type access struct {
	address string
	local   bool // only this machine can reach it
	hosts   []string
	keys    *keyring // nil where none are needed
	tls     *tls.Config
}

// access checks the flags. It returns nil if the process does not listen. Problems with
// the keys that arise later go to the log.
func (f *listenFlags) access(log hclog.Logger) (*access, error) {
	if f.address == "off" {
		return nil, nil //nolint:nilnil // there is none
	}
	host, _, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil, usagef("--listen %s: want HOST:PORT, such as %s, or off", f.address, defaultListen)
	}
	d := &access{address: f.address, local: isLoopback(host), hosts: f.hosts}
	if f.keys != "" {
		if d.keys, err = newKeyring(f.keys, log); err != nil {
			return nil, err
		}
	}
	if !d.local && d.keys == nil {
		return nil, usagef("--listen %s: others can reach it, and anybody would be answered: "+
			"only loopback addresses can be listened on without --keys FILE", f.address)
	}
	if (f.cert == "") != (f.certKey == "") {
		return nil, usagef("--tls-cert and --tls-key go together")
	}
	if f.cert != "" {
		pair, err := readCertificate(f.cert, f.certKey)
		if err != nil {
			return nil, usagef("--tls-cert %s: %w", f.cert, err)
		}
		d.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return d, nil
}

// readCertificate reads a certificate, with those that vouch for it, and its key.
func readCertificate(cert, key string) (tls.Certificate, error) {
	certText, err := readFile(cert, maxSecretFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	keyText, err := readFile(key, maxSecretFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certText, keyText)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen starts the HTTP server and prints its address. It returns nil if d is nil.
func (s *session) listen(ctx context.Context, answers http.Handler, d *access) (*http.Server, error) {
	if d == nil {
		s.noticef("serving")
		return nil, nil //nolint:nilnil // there is none
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", d.address)
	if err != nil {
		return nil, usagef("--listen %s: %w (use another address, or off)", d.address, err)
	}
	scheme, at := "http", listener.Addr()
	listener = newConnections(listener, min(maxConnections, openFiles()/2), d.tls != nil) //nolint:mnd // the database needs files, too
	if d.tls != nil {
		scheme, listener = "https", tls.NewListener(listener, d.tls)
	}
	server := d.server(s.logger(), answers)
	go func() { _ = server.Serve(listener) }() // it ends with Shutdown
	s.noticef("serving; health, metrics and events on %s://%s", scheme, at)
	return server, nil
}

// server returns a server that answers on [connections], within the limits of a request.
func (d *access) server(log hclog.Logger, answers http.Handler) *http.Server {
	server := &http.Server{
		Handler: d.guard(log, answers), DisableGeneralOptionsHandler: true, Protocols: new(http.Protocols),
		ReadHeaderTimeout: headTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
		ConnState: watchConnection, ConnContext: withConnection,
		ErrorLog: log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}), // what clients do wrong
	}
	server.Protocols.SetHTTP1(true) // HTTP/2 would have many requests on a connection
	return server
}

// hangUp lets requests that were begun end, and cuts off those that do not.
func hangUp(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return err
}
