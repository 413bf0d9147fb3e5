package sqlstore_test

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A proxy stands between a store and its server, and can stop forwarding: then
// neither side hears of the other, and no connection is closed.
type proxy struct {
	listener net.Listener
	network  string
	server   string

	mu    sync.Mutex
	flows sync.Cond // signalled when it forwards again
	stuck bool
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
		p.done.Go(func() { p.forward(client, server) })
		p.done.Go(func() { p.forward(server, client) })
	}
}

// forward passes on what comes, unless it is stuck.
func (p *proxy) forward(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	text := make([]byte, 1<<16)
	for {
		n, err := from.Read(text)
		p.mu.Lock()
		for p.stuck {
			p.flows.Wait()
		}
		p.mu.Unlock()
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
