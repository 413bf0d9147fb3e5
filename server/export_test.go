package server

import (
	"net/http"
	"testing"
)

// The memory for answers, and what a page counts.
const (
	MaxAnswers = maxAnswers
	PageSize   = pageSize
)

// A Visit is what a client sees of a server.
type Visit struct{ *visit }

// Send sends a request without a body, or with one.
func (v Visit) Send(head, body string) Visit {
	v.send("%sHost: localhost\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
	return v
}

// Answered returns the status and the body of an answer; 0 when the connection is closed.
func (v Visit) Answered() (int, string) { return v.answered() }

// ServeLocal calls f in virtual time with a server of handlers, and a function that connects a client to it.
func ServeLocal(t *testing.T, answers func(*Server) http.Handler, f func(dial func(client string) Visit)) {
	t.Helper()
	serveLocalWith(t, maxConnections, answers, func(dial func(...string) *visit) {
		f(func(client string) Visit { return Visit{dial(client)} })
	})
}
