package server

import (
	"context"
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

// refuse answers why a request is not served. The connection is closed, as the body
// may not have been read.
func refuse(w http.ResponseWriter, why *Problem) {
	w.Header().Set("Connection", "close")
	why.Answer(w)
}

// Guard wraps a handler: it serves only authorized clients, within the limits of a request. It is for a program with
// its own http.Server, which must limit connections and request headers itself. [Server.Start] guards its handlers.
func (s *Server) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer recovered(s.log, w, r)
		conn := connectionFor(r)
		if conn != nil && conn.isPipelined() {
			w.Header().Set("Connection", "close") // it is answered, and nothing that follows it
		}
		if why := s.judge(r); why != nil {
			if why.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			refuse(w, why)
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
			refuse(w, &Problem{http.StatusServiceUnavailable, "busy", "too many requests are at work; ask again"})
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
	refuse(w, &Problem{http.StatusInternalServerError, "internal", "the server failed; its log says why"})
}

// judge returns why a request is not served; nil when it is. It refuses requests that a
// page in a browser could have been made to send, by another name for this machine, from
// another origin, or as a form; and those of strangers.
func (s *Server) judge(r *http.Request) *Problem {
	switch {
	case !s.knows(r.Host):
		reason := fmt.Sprintf("the host %.100q is not served: ask by an address of the machine, or name it with --host", r.Host)
		return &Problem{http.StatusForbidden, "forbidden", reason}
	case r.Header.Get("Origin") != "":
		return &Problem{http.StatusForbidden, "forbidden", "requests with an Origin are not served: pages in browsers may not ask"}
	case r.URL.Path == "*" || r.URL.Path == "": // OPTIONS *, or CONNECT, which the mux refuses without a reason
		return &Problem{http.StatusNotFound, "not_found", "a request without a path is not served"}
	case asForm(r):
		return &Problem{http.StatusUnsupportedMediaType, "media_type", "bodies of a form's Content-Type are not served: send JSON"}
	case r.ContentLength > MaxBody:
		return &Problem{http.StatusRequestEntityTooLarge, "too_large", "a body has at most " + strconv.Itoa(MaxBody) + " bytes"}
	case !isPlain(r):
		return &Problem{http.StatusUnsupportedMediaType, "media_type", "a Content-Encoding is not supported: send the body as it is"}
	case s.keys == nil || slices.Contains(healthPaths, r.URL.Path):
		return nil
	}
	switch of := s.keys.of(r); {
	case of == nil:
		return &Problem{http.StatusUnauthorized, "unauthorized", "a key is missing or wrong: send Authorization: Bearer KEY, with a key of the file of --keys"}
	case !of.may(r.URL.Path):
		return &Problem{http.StatusForbidden, "forbidden", "the key is for " + strings.Join(of.only, ", ") + ", not for this path"}
	}
	return nil
}

// trusts reports whether a request shows a key for everything. It may be told what is
// wrong with the server.
func (s *Server) trusts(r *http.Request) bool {
	if s.keys == nil {
		return false
	}
	of := s.keys.of(r)
	return of != nil && len(of.only) == 0
}

// knows reports whether a request names this machine by one of its own names. Any
// IP address counts on a server that is not local: another site cannot use an address
// as its own name for this machine.
func (s *Server) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if isLoopback(host) || slices.Contains(s.hosts, host) {
		return true
	}
	return !s.local && net.ParseIP(host) != nil
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
