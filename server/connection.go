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

// A stage is what a connection does. The server waits for the client in each of them,
// except in the first, and at work.
type stage uint8

const (
	stageNew   stage = iota // the server has not looked yet whether anything has arrived
	stageIdle               // nothing of a request has arrived
	stageHead               // the head of a request has begun
	stageBody               // a handler reads the body
	stageWork               // a handler does its work
	stageReply              // the answer is sent
	stageCount
)

// A connection is one of the [connections] of a server. The fields are guarded by the
// mutex of those.
type connection struct {
	net.Conn

	of        *connections
	stage     stage
	since     time.Time // when the stage began
	due       bool      // it is for the server to go on: it does not wait for the client
	requests  int       // that have arrived
	fresh     bool      // something has arrived since the answer began
	pipelined bool      // the request was sent before the answer to the one before it
	answering bool      // the answer has begun
	lines     int       // of the head that have arrived
	bare      bool      // nothing of the next line has arrived
	over      bool      // the head has arrived
	held      int       // bytes of its body that count
	gone      bool
}

// Read reads. The first bytes begin the head of a request. One of too many lines is
// refused before it is parsed, which costs a hundred times as much as sending it.
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
		_ = c.SetWriteDeadline(time.Now().Add(answerTime)) // it fails when the connection is closed
		_, _ = io.WriteString(c.Conn, tooManyLines)        // the client may have disconnected
		return 0, io.EOF
	}
	return n, err
}

// look notes that the server waits for the client from now on.
func (c *connection) look() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.due = false
	if c.stage == stageNew {
		c.enter(stageIdle)
	}
	c.of.changed.Signal()
}

const tooManyLines = "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" +
	`{"error":"too_large","message":"the head of a request has too many lines"}` + "\n"

// readLines counts the lines of the head, and notes where it ends. Only Read calls it.
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

// Write writes. Once an answer has begun, the client must take it within answerTime. If the
// client does not, the server cuts the connection off and drops the data that the kernel still has.
func (c *connection) Write(p []byte) (int, error) {
	c.look()
	c.of.mu.Lock()
	c.fresh = false
	was := c.stage
	if was >= stageBody && !c.answering {
		c.answering = true
		_ = c.SetWriteDeadline(time.Now().Add(answerTime)) // it fails when the connection is closed, as does the write
	}
	if was == stageWork {
		c.enter(stageReply) // until it is written, the server waits for the client
	}
	c.of.mu.Unlock()
	n, err := c.Conn.Write(p)
	c.of.mu.Lock()
	c.due = true
	if was == stageWork {
		c.enter(stageWork)
	}
	c.of.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.dropUnsent()
	}
	return n, err
}

// Close closes the connection, and gives its place to another.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.leave()
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// cut closes the connection, so that another can take its place. The caller has the mutex.
func (c *connection) cut() {
	c.leave()
	c.dropUnsent()
	_ = c.Conn.Close() // no caller needs the error
}

// leave takes the connection off the list. The caller has the mutex.
func (c *connection) leave() {
	if c.gone {
		return
	}
	c.gone = true
	c.of.count[c.stage]--
	delete(c.of.all, c)
	c.of.changed.Signal()
}

// dropUnsent makes the kernel forget what the client does not take, which it would
// otherwise try to send for minutes.
func (c *connection) dropUnsent() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // it fails when the connection is closed
	}
}

// waits reports whether the server waits for the client. The caller has the mutex.
func (c *connection) waits() bool { return c.stage != stageNew && c.stage != stageWork && !c.due }

// isSlow reports whether the body of its request has not arrived, though the client has had
// time for it. The caller has the mutex.
func (c *connection) isSlow() bool { return c.stage == stageBody && time.Since(c.since) > bodyGrace }

// replies notes that the handler has ended, and its answer is to be sent.
func (c *connection) replies() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.due = true
	c.enter(stageReply)
}

// move enters a stage.
func (c *connection) move(to stage) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.enter(to)
}

// enter enters a stage. The caller has the mutex.
func (c *connection) enter(to stage) {
	if c.gone {
		return
	}
	if c.stage == stageBody {
		c.answering = false // what was written was 100 Continue
	}
	c.of.count[c.stage]--
	c.of.count[to]++
	c.stage, c.since = to, time.Now()
	c.of.changed.Signal()
}

// isPipelined reports whether the request was sent before the answer to the one before
// it. Clients that do not read their answers could make the server write without end so.
func (c *connection) isPipelined() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.pipelined
}

// watchConnection follows what the server says of a connection.
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
		c.enter(stageReply) // until a handler has it
	case http.StateIdle:
		c.enter(stageIdle)
	}
}

// connectionOf returns the connection below what the server sees; nil when it is none
// of these.
func connectionOf(conn net.Conn) *connection {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

type connectionKey struct{}

// withConnection lets handlers find their connection.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connectionOf(conn))
}

// connectionFor returns the connection of a request; nil when it came on none.
func connectionFor(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
