// Package webclient has the HTTP client by which Ebb asks servers that it does not trust. Package net/http bounds the
// time of a request by its context, and the caller bounds the body that it reads. This package bounds the rest.
package webclient

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/ebbflow/ebb/internal/redact"
)

const (
	// MaxHead is how many bytes the status line and the headers of an answer have. Package net/http would take 10 MiB,
	// which are 400 MiB in memory when the headers are short.
	MaxHead = 64 << 10
	// MaxRedirects is how often an answer may send the request elsewhere.
	MaxRedirects = 3
)

var errRedirects = fmt.Errorf("more than %d redirects", MaxRedirects)

// Default returns the client, which all callers share. It has no timeout of its own.
func Default() *http.Client { return client }

var client = &http.Client{Transport: bounded{}, CheckRedirect: redirected}

// bounded asks as [http.DefaultTransport] does, which a program may have replaced before its first request.
type bounded struct{}

// RoundTrip asks.
func (bounded) RoundTrip(r *http.Request) (*http.Response, error) { return transport().RoundTrip(r) }

// CloseIdleConnections closes the connections that are kept for the next request.
func (bounded) CloseIdleConnections() {
	if t, is := transport().(interface{ CloseIdleConnections() }); is {
		t.CloseIdleConnections()
	}
}

var transport = sync.OnceValue(func() http.RoundTripper { return Bounded(http.DefaultTransport) })

// Bounded returns a transport like t whose answers have heads of at most [MaxHead] bytes, unless t has a bound of its
// own. It returns t if that is not an [http.Transport].
func Bounded(t http.RoundTripper) http.RoundTripper {
	known, is := t.(*http.Transport)
	if !is || known.MaxResponseHeaderBytes != 0 {
		return t
	}
	known = known.Clone()
	known.MaxResponseHeaderBytes = MaxHead
	return known
}

// redirected judges a request that a server sends elsewhere. Another server gets no secrets: package net/http keeps to
// itself Authorization and cookies only, and names the URL that the request was first for.
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
