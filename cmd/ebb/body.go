package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A boundedBody is the body of a request. It is read once there is room for all of it
// among the bodies that the server has in memory, and counts there until it is closed or
// its request has ended.
type boundedBody struct {
	io.ReadCloser

	ctx     context.Context //nolint:containedctx // of the request, for which a body has no other way
	conn    *connection
	control *http.ResponseController
	size    int64 // as the request says; negative when it does not
	begun   bool
	ended   bool
	err     error
}

// Read reads.
func (b *boundedBody) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if !b.begun {
		b.begun = true
		if b.err = b.conn.of.admit(b.ctx, b.conn, b.size); b.err != nil {
			return 0, b.err
		}
		_ = b.control.SetReadDeadline(time.Now().Add(bodyTime)) // it fails when the connection is closed
	}
	n, err = b.ReadCloser.Read(p)
	if err != nil && !b.ended {
		b.ended = true
		b.conn.move(stageWork)
		if errors.Is(err, io.EOF) { // else the server would wait for the rest without end
			_ = b.control.SetReadDeadline(time.Time{}) // the handler may take longer
		}
	}
	return n, err
}

// Close gives the room back. The handler must not use what it has read any more. The
// server closes the body itself, once it has answered: it waits for what is left then.
func (b *boundedBody) Close() error {
	if b.err == nil {
		b.err = os.ErrClosed
	}
	b.conn.of.release(b.conn)
	return nil
}

// admit waits until there is room for a body of that size. Small ones need none: how many
// requests are at work bounds them. While it waits, a body is cut off that has not arrived
// for bodyGrace.
func (cs *connections) admit(ctx context.Context, c *connection, size int64) error {
	if size < 0 || size > maxBody {
		size = maxBody
	}
	c.move(stageBody)
	if size <= smallBody {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, admissionTime)
	defer cancel()
	for {
		cs.mu.Lock()
		if cs.held+int(size) <= maxBodies {
			cs.held += int(size)
			c.held += int(size)
			c.enter(stageBody)
			cs.mu.Unlock()
			return nil
		}
		if slow := cs.longest(func(c *connection) bool { return c.held > 0 && c.isSlow() }); slow != nil {
			slow.cut() // its handler gives the room back
		}
		room := cs.room
		cs.mu.Unlock()
		look := time.NewTimer(bodyGrace)
		select {
		case <-room:
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return ctx.Err()
		}
		look.Stop()
	}
}

// release gives back the room of a connection's body.
func (cs *connections) release(c *connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.held > 0 {
		cs.held -= c.held
		c.held = 0
		close(cs.room)
		cs.room = make(chan struct{})
	}
}
