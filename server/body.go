package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A boundedBody is the body of a request. The server reads it when the memory for bodies can hold all of it.
// The body counts until it is closed or its request has ended.
type boundedBody struct {
	io.ReadCloser

	ctx     context.Context //nolint:containedctx // of the request, for which a body has no other way
	conn    *connection
	control *http.ResponseController
	size    int64 // as the request declares; negative if it does not
	begun   bool
	ended   bool
	err     error
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if !b.begun {
		b.begun = true
		if b.err = b.conn.of.admit(b.ctx, b.conn, b.size); b.err != nil {
			return 0, b.err
		}
		_ = b.control.SetReadDeadline(time.Now().Add(bodyTime)) // fails if the connection is closed
	}
	n, err = b.ReadCloser.Read(p)
	if err != nil && !b.ended {
		b.ended = true
		b.conn.move(stageWork)
		if errors.Is(err, io.EOF) { // otherwise the server would wait for the rest without end
			_ = b.control.SetReadDeadline(time.Time{}) // the handler may take longer
		}
	}
	return n, err
}

// Close releases the memory. After that, the handler must not use the data that it has read. After the answer, the
// server closes the body itself, and then waits for the rest.
func (b *boundedBody) Close() error {
	if b.err == nil {
		b.err = os.ErrClosed
	}
	b.conn.of.release(b.conn)
	return nil
}

// admit waits until the memory for bodies can hold a body of that size. Small bodies do not count: the number
// of running requests bounds them. While admit waits, it cuts off a body that has not arrived for bodyGrace.
func (cs *connections) admit(ctx context.Context, c *connection, size int64) error {
	if size < 0 || size > MaxBody {
		size = MaxBody
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
			slow.cut() // its handler releases the memory
		}
		released := cs.released
		cs.mu.Unlock()
		look := time.NewTimer(bodyGrace)
		select {
		case <-released:
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return ctx.Err()
		}
		look.Stop()
	}
}

// release releases the memory of a connection's body.
func (cs *connections) release(c *connection) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.held > 0 {
		cs.held -= c.held
		c.held = 0
		close(cs.released)
		cs.released = make(chan struct{})
	}
}
