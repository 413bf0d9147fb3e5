package sqlstore_test

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A proxy stands between a store and its server. It can stop forwarding: then
// neither side hears of the other, and no connection is closed. It can close all
// connections; or the one on which the server answers something, which the store
// then never hears.
type proxy struct {
	listener net.Listener
	network  string
	server   string

	mu    sync.Mutex
	flows sync.Cond // signalled when it forwards again
	stuck bool
	dead  []byte // the answer at which a connection is closed; nil for none
	lost  int    // answers that the store did not hear
	conns []net.Conn
	done  sync.WaitGroup
}

// newProxy returns a proxy and the DSN that goes through it.
func newProxy(t *testing.T, dsn string) (p *proxy, through string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	plain := *u
	pq := plain.Query()
	pq.Del("schema")
	plain.RawQuery = pq.Encode()
	config, err := pgx.ParseConfig(plain.String())
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{}
	p.flows.L = &p.mu
	p.network, p.server = pgNetwork(config)
	if p.listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.done.Go(p.accept)
	t.Cleanup(p.close)
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = p.listener.Addr().String(), q.Encode()
	if u.User == nil {
		u.User = url.UserPassword(config.User, config.Password)
	}
	return p, u.String()
}

func pgNetwork(config *pgx.ConnConfig) (network, address string) {
	if len(config.Host) > 0 && config.Host[0] == '/' {
		return "unix", config.Host + "/.s.PGSQL." + strconv.Itoa(int(config.Port))
	}
	return "tcp", net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
}

func (p *proxy) accept() {
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
		p.done.Go(func() { p.forward(client, server, p.loses) })
		p.done.Go(func() { p.forward(server, client, func([]byte) bool { return false }) })
	}
}

// forward passes on what comes, unless it is stuck, until something is lost.
func (p *proxy) forward(to, from net.Conn, lost func([]byte) bool) {
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

// set stops forwarding, or goes on.
func (p *proxy) set(stuck bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = stuck
	p.flows.Broadcast()
}

// lose has the next answer lost that ends a statement with such a tag, such as
// COMMIT, and the connection on which it came. The server has done it.
func (p *proxy) lose(tag string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	const length = 4 // of a message's length, which counts itself
	p.dead = append([]byte{'C', 0, 0, 0, byte(length + len(tag) + 1)}, tag+"\x00"...)
}

// loses reports whether what the server sends is not to be heard.
func (p *proxy) loses(answer []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead == nil || !bytes.Contains(answer, p.dead) {
		return false
	}
	p.dead = nil
	p.lost++
	return true
}

// losses returns how many answers were lost.
func (p *proxy) losses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.set(false)
	p.cut()
	p.done.Wait()
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for began := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 3*time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
