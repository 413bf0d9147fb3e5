package main

import (
	"context"
	"crypto/tls"
	"mime"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// listenFlags are how others may ask a server.
type listenFlags struct {
	address string
	keys    string
	hosts   []string
	cert    string
	certKey string
}

const (
	defaultListen = "127.0.0.1:8083"
	headerTime    = 10 * time.Second // in which the head of a request has to come
	requestTime   = time.Minute      // in which all of it has
	idleTime      = 2 * time.Minute  // for which a connection is kept that nobody asks on
	goodbye       = 5 * time.Second  // in which requests that were begun have to end
	maxHead       = 64 << 10         // bytes of the head of a request
	maxConns      = 1000             // connections at once; more wait
)

// A door lets those in who may ask.
type door struct {
	address string
	local   bool // only this machine can reach it
	hosts   []string
	keys    *keyring // nil where none are needed
	tls     *tls.Config
}

// door judges the flags; nil where nobody is to ask. What is wrong with the keys later
// is told to the log.
func (f *listenFlags) door(log hclog.Logger) (*door, error) {
	if f.address == "off" {
		return nil, nil //nolint:nilnil // there is none
	}
	host, _, err := net.SplitHostPort(f.address)
	if err != nil {
		return nil, usagef("--listen %s: want HOST:PORT, such as %s, or off", f.address, defaultListen)
	}
	d := &door{address: f.address, local: isLoopback(host), hosts: f.hosts}
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
		pair, err := tls.LoadX509KeyPair(f.cert, f.certKey)
		if err != nil {
			return nil, usagef("--tls-cert %s: %w", f.cert, err)
		}
		d.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return d, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen lets others ask, and says where; nil where nobody is to.
func (s *session) listen(ctx context.Context, answers http.Handler, d *door) (*http.Server, error) {
	if d == nil {
		s.noticef("serving")
		return nil, nil //nolint:nilnil // there is none
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", d.address)
	if err != nil {
		return nil, usagef("--listen %s: %w (use another address, or off)", d.address, err)
	}
	scheme, at := "http", listener.Addr()
	listener = &boundedListener{Listener: listener, places: make(chan struct{}, maxConns)}
	if d.tls != nil {
		scheme, listener = "https", tls.NewListener(listener, d.tls)
	}
	server := &http.Server{
		Handler: d.guard(answers), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead,
	}
	go func() { _ = server.Serve(listener) }() // it ends with Shutdown
	s.noticef("serving; health, metrics and events on %s://%s", scheme, at)
	return server, nil
}

// open are the paths that are answered without a key: they say no more than that
// somebody is there.
var open = []string{"/livez", "/readyz"}

// guard refuses requests that a page in a browser could have been made to send, by
// another name for this machine, from another origin, or as a form; and those of
// strangers.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !d.knows(r.Host) || r.Header.Get("Origin") != "":
			http.Error(w, "this host or origin is not served", http.StatusForbidden)
			return
		case asForm(r):
			http.Error(w, "want JSON", http.StatusUnsupportedMediaType)
			return
		}
		if d.keys != nil && !slices.Contains(open, r.URL.Path) {
			switch of := d.keys.of(r); {
			case of == nil:
				w.Header().Set("WWW-Authenticate", "Bearer")
				http.Error(w, "want a key: Authorization: Bearer KEY", http.StatusUnauthorized)
				return
			case !of.may(r.URL.Path):
				http.Error(w, "the key is not for this", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// knows reports whether a request is for this machine by a name of its own. An
// address is nobody else's name for it.
func (d *door) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if isLoopback(host) || slices.Contains(d.hosts, host) {
		return true
	}
	return !d.local && net.ParseIP(host) != nil
}

// asForm reports whether a request has a body of a type that a form can send.
func asForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // what is no type is none of these
	return r.Header.Get("Ce-Specversion") == "" &&                  // which no form can
		slices.Contains([]string{"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}, kind)
}

// A boundedListener accepts no more connections at once than it has places.
type boundedListener struct {
	net.Listener

	places chan struct{}
}

// Accept waits for a place first.
func (l *boundedListener) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placedConn{Conn: conn, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// placedConn gives its place back when it is closed.
type placedConn struct {
	net.Conn

	leave func()
}

// Close closes the connection.
func (c *placedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
