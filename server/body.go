package server

import (
	"context"
	"errors"
	"fmt"
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

// Read implements [io.Reader]. Small bodies do not count: the number of running requests bounds them.
func (b *boundedBody) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if !b.begun {
		b.begun = true
		b.conn.move(stageBody)
		size := b.size
		if size < 0 || size > MaxBody {
			size = MaxBody
		}
		if size > smallBody {
			if b.err = b.conn.of.bodies.admit(b.ctx, b.conn, int(size)); b.err != nil {
				return 0, b.err
			}
			b.conn.move(stageBody) // the client's time begins
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

// ReadBody reads the body of a request to the end. Its error is a [*Problem].
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, &Problem{
			http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("a body has at most %d bytes", MaxBody),
		}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &Problem{http.StatusRequestTimeout, "invalid", "the body did not arrive in time"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil, &Problem{http.StatusServiceUnavailable, "busy", "the server has no capacity for the body; ask again"}
	}
	return nil, &Problem{
		http.StatusBadRequest, "invalid", fmt.Sprintf("the body is cut off, or not in chunks as it says: %v", err),
	}
}

// Close releases the memory. After that, the handler must not use the data that it has read. After the answer, the
// server closes the body itself, and then waits for the rest.
func (b *boundedBody) Close() error {
	if b.err == nil {
		b.err = os.ErrClosed
	}
	b.conn.of.bodies.release(b.conn)
	return nil
}
