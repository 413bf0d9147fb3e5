package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

// pipes are a listener without a network.
type pipes struct {
	dialed chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A piped is a connection from an address.
type piped struct {
	net.Conn

	from string
}

func (p *piped) RemoteAddr() net.Addr { return p }

func (p *piped) Network() string { return "pipe" }

func (p *piped) String() string { return p.from + ":1" }

// A visit is what a client sees of a server.
type visit struct {
	t *testing.T
	net.Conn

	read *bufio.Reader
}

// serveLocal calls f in virtual time with a server of the given number of connections, and a function to connect to it.
func serveLocal(t *testing.T, most int, answers http.HandlerFunc, f func(dial func(from ...string) *visit)) {
	t.Helper()
	serveLocalWith(t, most, func(*Server) http.Handler { return answers }, f)
}

// serveLocalWith is serveLocal with handlers that are made with the server.
func serveLocalWith(t *testing.T, most int, answers func(*Server) http.Handler, f func(dial func(from ...string) *visit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
		s := &Server{local: true, log: hclog.NewNullLogger()}
		s.http = s.serving(answers(s))
		served := make(chan error)
		go func() { served <- s.http.Serve(newConnections(p, most, false)) }()
		var all []net.Conn
		f(func(from ...string) *visit {
			client, at := net.Pipe()
			p.dialed <- &piped{at, strings.Join(from, "")}
			all = append(all, client)
			return &visit{t, client, bufio.NewReader(client)}
		})
		for _, conn := range all {
			_ = conn.Close() // the server may have
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// send sends a text; the server may close the connection meanwhile.
func (v *visit) send(format string, args ...any) *visit {
	_, _ = fmt.Fprintf(v, format, args...)
	return v
}

// answered returns the status and the body of an answer; 0 when the connection is closed.
func (v *visit) answered() (int, string) {
	v.t.Helper()
	answer, err := http.ReadResponse(v.read, nil)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, ""
	}
	if answer.StatusCode == http.StatusContinue {
		return v.answered()
	}
	return answer.StatusCode, string(text)
}

// wants fails the test unless an answer has a status, and a reason.
func (v *visit) wants(status int, reason string) {
	v.t.Helper()
	if got, text := v.answered(); got != status || !strings.Contains(text, reason) {
		v.t.Errorf("answered %d %.200s; want %d with %q", got, text, status, reason)
	}
}

// after returns how long the connection stays open when the client only reads.
func (v *visit) after() time.Duration {
	began := time.Now()
	_, _ = io.Copy(io.Discard, v.read) // until it is closed
	return time.Since(began)
}

const get = "GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"

func post(size int, more string) string {
	return fmt.Sprintf("POST /post HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n", size, more)
}
