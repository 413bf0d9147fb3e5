package aws

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
)

// firstRead is how much memory a body is given before any of it has arrived.
const firstRead = 16 << 10

// readBody reads a body. Errors are *[Error].
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, errTooLarge
	}
	size := min(max(r.ContentLength, 0), firstRead)
	body, err := readAll(http.MaxBytesReader(w, r.Body, MaxBody), make([]byte, 0, size+1))
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, errTooLarge
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, &Error{Code: codeInternal, Status: http.StatusServiceUnavailable}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &Error{Code: codeTimeout, Message: "The body did not arrive in time.", Status: http.StatusRequestTimeout}
	default: // the body is cut off
		return nil, &Error{Code: codeSerialization}
	}
}

// errTooLarge refuses a body of more than MaxBody.
var errTooLarge = &Error{
	Code: codeTooLarge, Message: "The request entity is too large.", Status: http.StatusRequestEntityTooLarge,
}

// readAll appends all that r has, as [io.ReadAll] does from nothing.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}
