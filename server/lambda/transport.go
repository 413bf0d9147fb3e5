package lambda

import (
	"bytes"
	"io"
	"net/http"
)

// RoundTrip answers a request to the operations of [Server.Handler] in this process. So tasks, and an [http.Client]
// with the server as its Transport, call functions without a network.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	s.handler.ServeHTTP(w, r)
	if r.Body != nil {
		_ = r.Body.Close() // it was read as far as needed
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: w.status, Status: http.StatusText(w.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// A recorder is a [http.ResponseWriter] that keeps the answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write implements [http.ResponseWriter].
func (w *recorder) Write(p []byte) (int, error) { return w.body.Write(p) }
