package postgrestest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A Proxy passes data between a store and its server. It can stop forwarding, so that neither side hears of the other,
// although no connection is closed. It can close all connections. It can also close the connection on which the server
// sends an answer, so that the store never receives the answer.
type Proxy struct {
	listener net.Listener
	network  string
	server   string
	deaf     bool // drops the server's notifications

	mu    sync.Mutex
	flows sync.Cond // signaled when it forwards again
	stuck bool
	dead  []byte // the answer at which it closes a connection; nil for none
	lost  int    // number of answers that the store did not receive
	trips int    // see RoundTrips
	conns []net.Conn
	done  sync.WaitGroup
}

// NewProxy returns a proxy and the DSN that goes through it.
func NewProxy(tb testing.TB, dsn string) (p *Proxy, through string) {
	tb.Helper()
	p = &Proxy{}
	return p, p.open(tb, dsn)
}

// Deaf returns a DSN of the database that delivers no notifications, like a connection pool that gives a listener's
// connection to other clients.
func Deaf(tb testing.TB, dsn string) (through string) {
	tb.Helper()
	return (&Proxy{deaf: true}).open(tb, dsn)
}

// open starts the proxy for the server of a DSN, and returns the DSN of the proxy.
func (p *Proxy) open(tb testing.TB, dsn string) (through string) {
	tb.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	q := u.Query()
	plain := *u
	pq := plain.Query()
	pq.Del("schema")
	plain.RawQuery = pq.Encode()
	config, err := pgx.ParseConfig(plain.String())
	if err != nil {
		tb.Fatal(err)
	}
	p.flows.L = &p.mu
	p.network, p.server = pgNetwork(config)
	if p.listener, err = (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	p.done.Go(p.accept)
	tb.Cleanup(p.close)
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.listener.Addr().String(), q.Encode()
	if u.User == nil {
		u.User = url.UserPassword(config.User, config.Password)
	}
	return u.String()
}

func pgNetwork(config *pgx.ConnConfig) (network, address string) {
	if len(config.Host) > 0 && config.Host[0] == '/' {
		return "unix", config.Host + "/.s.PGSQL." + strconv.Itoa(int(config.Port))
	}
	return "tcp", net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), p.network, p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		answers := io.ReadCloser(server)
		if p.deaf {
			answers = &unnotified{ReadCloser: server}
		}
		p.done.Go(func() { p.forward(client, answers, p.loses) })
		p.done.Go(func() { p.forward(server, client, func([]byte) bool { return false }) })
	}
}

// forward forwards data, unless the proxy is stuck, until it must drop an answer.
func (p *Proxy) forward(to io.WriteCloser, from io.ReadCloser, lost func([]byte) bool) {
	defer func() { _ = to.Close() }()
	text := make([]byte, 1<<16)
	for {
		n, err := from.Read(text)
		p.mu.Lock()
		for p.stuck {
			p.flows.Wait()
		}
		p.mu.Unlock()
		if lost(text[:n]) {
			_ = from.Close()
			return
		}
		if n > 0 {
			if _, err := to.Write(text[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Stick stops forwarding, or continues it.
func (p *Proxy) Stick(stuck bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = stuck
	p.flows.Broadcast()
}

// Lose drops the next answer that ends a statement with the given tag, such as COMMIT, and closes its connection. The
// server has executed the statement.
func (p *Proxy) Lose(tag string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const length = 4 // of a message's length, which includes itself
	p.dead = append([]byte{'C', 0, 0, 0, byte(length + len(tag) + 1)}, tag+"\x00"...)
}

// loses reports whether the store must not receive a message of the server.
func (p *Proxy) loses(answer []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trips += bytes.Count(answer, []byte{'Z', 0, 0, 0, 5}) // the server is ready for the next query
	if p.dead == nil || !bytes.Contains(answer, p.dead) {
		return false
	}
	p.dead = nil
	p.lost++
	return true
}

// Losses returns the number of dropped answers.
func (p *Proxy) Losses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// RoundTrips returns how often the server has answered everything that was sent, on all connections together.
func (p *Proxy) RoundTrips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}

// Cut closes all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.Stick(false)
	p.Cut()
	p.done.Wait()
}

// unnotified is the server's data without its notifications.
type unnotified struct {
	io.ReadCloser

	rest []byte // rest of a message that was not read completely
}

// Read reads at most to the end of a message.
func (u *unnotified) Read(text []byte) (int, error) {
	const kind, length = 1, 4 // bytes of a message's head; the length includes itself
	for len(u.rest) == 0 {
		head := make([]byte, kind+length)
		if _, err := io.ReadFull(u.ReadCloser, head); err != nil {
			return 0, err
		}
		message := make([]byte, kind+binary.BigEndian.Uint32(head[kind:]))
		copy(message, head)
		if _, err := io.ReadFull(u.ReadCloser, message[kind+length:]); err != nil {
			return 0, err
		}
		if message[0] != 'A' {
			u.rest = message
		}
	}
	n := copy(text, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}
