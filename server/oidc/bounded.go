package oidc

import (
	"fmt"
	"io"
	"net/http"
)

// maxAnswer is how many bytes an answer of the provider may have: its keys and its tokens are far smaller.
const maxAnswer = 1 << 20

// bounded returns a client that reads at most maxAnswer bytes of an answer. The libraries would read it all.
func bounded(c *http.Client) *http.Client {
	limited := *c
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	limited.Transport = transport{next}
	return &limited
}

type transport struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.ContentLength > maxAnswer {
		_ = answer.Body.Close() // it is not read
		return nil, fmt.Errorf("%s answers with %d bytes; at most %d are read", r.URL.Host, answer.ContentLength, maxAnswer)
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}
