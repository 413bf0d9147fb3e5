package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// A boundedAnswer is the answer to a request. A request that reads something counts while its answer is built and sent,
// see [Server.answerSize]. The answers to other requests are mostly small. What such a handler writes at once counts
// while it is sent.
type boundedAnswer struct {
	http.ResponseWriter

	ctx  context.Context //nolint:containedctx // of the request, for which an answer has no other way
	conn *connection
}

// Unwrap is for [http.ResponseController].
func (a *boundedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Write implements [io.Writer]. It sends a large text in pieces, so that the server sees whether the client reads. If
// there is no memory for the text, the connection is closed: the answer has begun.
func (a *boundedAnswer) Write(p []byte) (n int, err error) {
	if len(p) <= smallBody {
		return a.ResponseWriter.Write(p)
	}
	if answers := a.conn.of.answers; !answers.has(a.conn) {
		if err := answers.admit(a.ctx, a.conn, min(len(p), answers.share)); err != nil {
			a.conn.of.mu.Lock()
			a.conn.cut()
			a.conn.of.mu.Unlock()
			return 0, err
		}
		defer answers.release(a.conn)
	}
	for n < len(p) && err == nil {
		var sent int
		sent, err = a.ResponseWriter.Write(p[n:min(n+smallBody, len(p))])
		n += sent
	}
	return n, err
}

// answerSize returns what the answer to a request counts before it is built; 0 if it is small in general.
func (s *Server) answerSize(r *http.Request) int {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch isAWS := s.isForAWS(r); {
	case isAWS && strings.HasPrefix(operation, "Describe"):
		return objectSize
	case isAWS && (strings.HasPrefix(operation, "List") || strings.HasSuffix(operation, "History")):
		return pageSize
	case !isAWS && reads(r.Method) && !slices.Contains(healthPaths, r.URL.Path):
		return pageSize
	default:
		return 0
	}
}

// noMemory returns the problem of a request for whose answer there is no memory.
func noMemory(err error) *Problem {
	if errors.Is(err, errShare) {
		return &Problem{
			http.StatusTooManyRequests, "busy", "too many of your answers are not read yet: read them, and ask again",
		}
	}
	return &Problem{http.StatusServiceUnavailable, "busy", "too many answers are not read yet; ask again"}
}
