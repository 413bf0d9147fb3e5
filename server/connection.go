package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// A stage is what a connection does. In all stages except stageNew and stageWork, the server waits for the client.
type stage uint8

const (
	stageNew   stage = iota // the server has not checked whether data has arrived
	stageIdle               // no byte of a request has arrived
	stageHead               // a part of the head of a request has arrived
	stageBody               // a handler reads the body
	stageWork               // a handler is running
	stageReply              // the server sends the answer
	stageCount
)

// A connection is one of the [connections] of a server. Their mutex guards the fields.
type connection struct {
	net.Conn

	of        *connections
	stage     stage
	since     time.Time // when the stage began
	due       bool      // the server has to act: it does not wait for the client
	requests  int       // number of requests that have arrived
	fresh     bool      // data has arrived since the answer started
	pipelined bool      // the client sent the request before the previous answer
	answering bool      // the answer has started
	lines     int       // lines of the head that have arrived
	bare      bool      // no byte of the next line has arrived
	over      bool      // the whole head has arrived
	began     time.Time // when the answer started
	sent      int       // bytes of the answer that were sent
	client    string    // who sends the requests
	gone      bool
}

// Read implements [net.Conn]. The first bytes start the head of a request. Read refuses a head with too many lines
// before it is parsed, because parsing costs a hundred times as much as sending.
func (c *connection) Read(p []byte) (int, error) {
	c.look()
	n, err := c.Conn.Read(p)
	c.of.mu.Lock()
	c.due = true
	if n == 0 {
		c.of.mu.Unlock()
		return n, err
	}
	c.fresh = true
	if c.stage == stageIdle {
		c.lines, c.bare, c.over = 0, false, false
		c.enter(stageHead)
		c.of.boundHeads()
	}
	reading := c.stage == stageHead && !c.over && !c.of.secure
	c.of.mu.Unlock()
	if reading && c.readLines(p[:n]) > maxLines {
		_ = c.SetWriteDeadline(time.Now().Add(answerTime)) // fails if the connection is closed
		_, _ = io.WriteString(c.Conn, tooManyLines)        // the client may have disconnected
		return 0, io.EOF
	}
	return n, err
}

// look records that the server waits for the client from now on.
func (c *connection) look() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.due = false
	if c.stage == stageNew {
		c.enter(stageIdle)
	}
	c.of.changed.Signal()
}

const tooManyLines = "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: application/json\r\nConnection: " +
	"close\r\n\r\n" +
	`{"error":"too_large","message":"the head of a request has too many lines"}` + "\n"

// readLines counts the lines of the head, and records where the head ends. Only Read calls it.
func (c *connection) readLines(p []byte) int {
	for _, b := range p {
		switch b {
		case '\n':
			if c.bare {
				c.over = true
				return c.lines
			}
			c.bare = true
			c.lines++
		case '\r':
		default:
			c.bare = false
		}
	}
	return c.lines
}

// Write implements [net.Conn]. Once an answer has started, the client must read it within answerTime. If the client
// does not, the server cuts the connection off and drops the data that the kernel still has.
func (c *connection) Write(p []byte) (int, error) {
	c.look()
	c.of.mu.Lock()
	c.fresh = false
	was := c.stage
	if was >= stageBody && !c.answering {
		c.answering, c.began, c.sent = true, time.Now(), 0
		_ = c.SetWriteDeadline(time.Now().Add(answerTime)) // fails if the connection is closed, as does the write
	}
	if was == stageWork {
		c.enter(stageReply) // until the write ends, the server waits for the client
	}
	c.of.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.of.mu.Lock()
	c.due = true
	c.sent += n
	if was == stageWork {
		c.enter(stageWork)
	}
	c.of.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.dropUnsent()
	}
	return n, err
}

// Close closes the connection, so that another can take its place.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.leave()
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// cut closes the connection, so that another can take its place. The caller has locked the mutex.
func (c *connection) cut() {
	c.leave()
	c.dropUnsent()
	_ = c.Conn.Close() // no caller needs the error
}

// leave removes the connection from the list. The caller has locked the mutex.
func (c *connection) leave() {
	if c.gone {
		return
	}
	c.gone = true
	c.of.count[c.stage]--
	delete(c.of.all, c)
	c.of.changed.Signal()
}

// dropUnsent makes the kernel drop data that the client does not read. Otherwise the kernel would try to send it
// for minutes.
func (c *connection) dropUnsent() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails if the connection is closed
	}
}

// waits reports whether the server waits for the client. The caller has locked the mutex.
func (c *connection) waits() bool { return c.stage != stageNew && c.stage != stageWork && !c.due }

// isSlow reports whether the body has not arrived although the client had time to send it, or whether the server waits
// for a client that reads the answer more slowly than answerRate. The caller has locked the mutex.
func (c *connection) isSlow() bool {
	switch c.stage { // in the others, a connection has no memory, or does not wait
	case stageBody:
		return time.Since(c.since) > bodyGrace
	case stageReply:
		return c.answering && time.Since(c.began) > bodyGrace+time.Duration(c.sent/answerRate)*time.Second
	default:
		return false
	}
}

// replies records that the handler has ended and the answer has to be sent.
func (c *connection) replies() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.due = true
	c.enter(stageReply)
}

// identify records who sends the request: the holder of a key, or an address.
func (c *connection) identify(name string, r *http.Request) {
	if name == "" {
		name, _, _ = net.SplitHostPort(r.RemoteAddr) // without a network it is "", as for all
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.client = name
}

// move changes the stage.
func (c *connection) move(to stage) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.enter(to)
}

// enter changes the stage. The caller has locked the mutex.
func (c *connection) enter(to stage) {
	if c.gone {
		return
	}
	if c.stage == stageBody {
		c.answering = false // the previous write was 100 Continue
	}
	c.of.count[c.stage]--
	c.of.count[to]++
	c.stage, c.since = to, time.Now()
	c.of.changed.Signal()
}

// isPipelined reports whether the client sent the request before the previous answer. Clients that do not read
// their answers could otherwise make the server write without end.
func (c *connection) isPipelined() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.pipelined
}

// watchConnection follows the state that the server reports for a connection.
func watchConnection(conn net.Conn, state http.ConnState) {
	c := connectionOf(conn)
	if c == nil {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	switch state { //nolint:exhaustive // of the others Accept and Close know
	case http.StateActive: // the head has arrived
		c.requests++
		c.pipelined = c.requests > 1 && !c.fresh
		c.answering = false
		c.due = true
		c.enter(stageReply) // until a handler receives it
	case http.StateIdle:
		c.enter(stageIdle)
	}
}

// connectionOf returns the connection below the server's connection; nil if it is not one of these.
func connectionOf(conn net.Conn) *connection {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

type connectionKey struct{}

// withConnection stores the connection in the context of its requests.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connectionOf(conn))
}

// connectionFor returns the connection of a request; nil if there is none.
func connectionFor(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
