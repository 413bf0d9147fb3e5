// Package webclient has the HTTP client with which Ebb calls servers that it does not trust. Package net/http bounds
// the time of a request by its context, and the caller bounds the body that it reads. This package bounds the rest.
package webclient

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/ebbflow/ebb/internal/redact"
)

const (
	// MaxHead is the maximum number of bytes of an answer's status line and headers. Package net/http would accept 10
	// MiB, which take 400 MiB of memory if the headers are short.
	MaxHead = 64 << 10
	// MaxRedirects is the maximum number of redirects of a request.
	//
	//limit:command redirects of an HTTP task; status line and headers of an answer | {}; {MaxHead B} | the task
	//limit:and fails
	MaxRedirects = 3
)

var errRedirects = fmt.Errorf("more than %d redirects", MaxRedirects)

// Default returns the client, which all callers share. It has no timeout of its own.
func Default() *http.Client { return client }

var client = &http.Client{Transport: bounded{}, CheckRedirect: redirected}

// bounded sends requests as [http.DefaultTransport] does, which a program may have replaced before its first request.
type bounded struct{}

// RoundTrip sends a request.
func (bounded) RoundTrip(r *http.Request) (*http.Response, error) { return transport().RoundTrip(r) }

// CloseIdleConnections closes the connections that are kept for later requests.
func (bounded) CloseIdleConnections() {
	if t, is := transport().(interface{ CloseIdleConnections() }); is {
		t.CloseIdleConnections()
	}
}

var transport = sync.OnceValue(func() http.RoundTripper { return Bounded(http.DefaultTransport) })

// Bounded returns a transport like t that accepts at most [MaxHead] bytes of status line and headers, unless t has its
// own bound. If t is not an [http.Transport], it returns t.
func Bounded(t http.RoundTripper) http.RoundTripper {
	known, is := t.(*http.Transport)
	if !is || known.MaxResponseHeaderBytes != 0 {
		return t
	}
	known = known.Clone()
	known.MaxResponseHeaderBytes = MaxHead
	return known
}

// redirected checks a redirected request. Another server gets no secrets: package net/http only removes Authorization
// and cookies, and names the original URL.
func redirected(req *http.Request, via []*http.Request) error {
	if len(via) > MaxRedirects {
		return errRedirects
	}
	req.Header.Del("Referer")
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		for name := range req.Header {
			if redact.Header(name) {
				req.Header.Del(name)
			}
		}
	}
	return nil
}
