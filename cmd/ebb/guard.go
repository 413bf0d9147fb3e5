package main

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// healthPaths are answered without a key: they say only that the process answers.
// The first is answered however many requests are at work.
var healthPaths = []string{"/livez", "/readyz"}

// A denial is an answer that is not what was asked for.
type denial struct {
	status int
	Code   string `json:"error"`
	Reason string `json:"message"`
}

// deny answers why a request is not served. The connection is closed, as the body
// may not have been read.
func deny(w http.ResponseWriter, r *denial) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	if r.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(r.status)
	_ = json.NewEncoder(w).Encode(r) // who asked may have gone
}

// guard serves those who may ask, within the limits of a request.
func (d *access) guard(log hclog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer recovered(log, w, r)
		conn := connectionFor(r)
		if conn != nil && conn.isPipelined() {
			w.Header().Set("Connection", "close") // it is answered, and nothing that follows it
		}
		if why := d.judge(r); why != nil {
			if why.status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			deny(w, why)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), workTime)
		defer cancel()
		r = r.WithContext(ctx)
		if conn == nil {
			next.ServeHTTP(w, r)
			return
		}
		if !conn.of.begin(conn, r.URL.Path == "/livez") {
			deny(w, &denial{http.StatusServiceUnavailable, "busy", "too many requests are at work; ask again"})
			return
		}
		defer conn.replies()
		if r.Body != http.NoBody {
			r.Body = &boundedBody{ReadCloser: r.Body, ctx: ctx, conn: conn, control: http.NewResponseController(w), size: r.ContentLength}
			defer func(body *boundedBody) { _ = body.Close() }(r.Body.(*boundedBody)) //nolint:forcetypeassert // it was just made
		}
		next.ServeHTTP(w, r)
	})
}

// recovered logs a panic of a handler, and answers that there was one.
func recovered(log hclog.Logger, w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	log.Error("a request panicked", "path", r.URL.Path, "panic", fault, "stack", string(debug.Stack()))
	deny(w, &denial{http.StatusInternalServerError, "internal", "the server failed; its log says why"})
}

// judge returns why a request is not served; nil when it is. It refuses requests that a
// page in a browser could have been made to send, by another name for this machine, from
// another origin, or as a form; and those of strangers.
func (d *access) judge(r *http.Request) *denial {
	switch {
	case !d.knows(r.Host):
		reason := fmt.Sprintf("the host %.100q is not served: ask by an address of the machine, or name it with --host", r.Host)
		return &denial{http.StatusForbidden, "forbidden", reason}
	case r.Header.Get("Origin") != "":
		return &denial{http.StatusForbidden, "forbidden", "requests with an Origin are not served: pages in browsers may not ask"}
	case r.URL.Path == "*" || r.URL.Path == "": // OPTIONS *, or CONNECT, which the mux refuses without a reason
		return &denial{http.StatusNotFound, "not_found", "a request without a path is not served"}
	case asForm(r):
		return &denial{http.StatusUnsupportedMediaType, "media_type", "bodies of a form's Content-Type are not served: send JSON"}
	case r.ContentLength > maxBody:
		return &denial{http.StatusRequestEntityTooLarge, "too_large", "a body has at most " + strconv.Itoa(maxBody) + " bytes"}
	case !isPlain(r):
		return &denial{http.StatusUnsupportedMediaType, "media_type", "a Content-Encoding is not supported: send the body as it is"}
	case d.keys == nil || slices.Contains(healthPaths, r.URL.Path):
		return nil
	}
	switch of := d.keys.of(r); {
	case of == nil:
		return &denial{http.StatusUnauthorized, "unauthorized", "a key is missing or wrong: send Authorization: Bearer KEY, with a key of the file of --keys"}
	case !of.may(r.URL.Path):
		return &denial{http.StatusForbidden, "forbidden", "the key is for " + strings.Join(of.only, ", ") + ", not for this path"}
	}
	return nil
}

// trusts reports whether a request shows a key for everything. It may be told what is
// wrong with the server.
func (d *access) trusts(r *http.Request) bool {
	if d == nil || d.keys == nil {
		return false
	}
	of := d.keys.of(r)
	return of != nil && len(of.only) == 0
}

// knows reports whether a request is for this machine by a name of its own. An
// address is nobody else's name for it.
func (d *access) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if isLoopback(host) || slices.Contains(d.hosts, host) {
		return true
	}
	return !d.local && net.ParseIP(host) != nil
}

// asForm reports whether a request has a body of a type that a form can send.
func asForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // what is no type is none of these
	return r.Header.Get("Ce-Specversion") == "" &&                  // which no form can
		slices.Contains([]string{"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}, kind)
}

// isPlain reports whether the body of a request is not compressed.
func isPlain(r *http.Request) bool {
	coding := strings.Join(r.Header.Values("Content-Encoding"), ",")
	return coding == "" || strings.EqualFold(coding, "identity")
}
