package server

import (
	"context"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/ebbflow/ebb/internal/logevent"
)

// healthPaths are answered without a key, for any host: the answers only say whether the process works, and load
// balancers ask without a host, or by a name of their own. The first path is answered no matter how many requests are
// being handled.
var healthPaths = []string{"/livez", "/readyz", "/_localstack/health"}

// refuse answers with the reason why a request is not served. It closes the connection, because the body may not
// have been read.
func refuse(w http.ResponseWriter, why *Problem) {
	w.Header().Set("Connection", "close")
	why.Answer(w)
}

// Guard wraps a handler: it serves only authorized clients, within the limits of a request. It is for a program with
// its own http.Server, which must limit connections and request headers itself. [Server.Start] guards its handlers.
func (s *Server) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer recovered(s.log, w, r)
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		conn := connectionFor(r)
		if conn != nil && conn.isPipelined() {
			w.Header().Set("Connection", "close") // after this answer, close the connection
		}
		if isLink(r) && s.knows(r.Host) {
			again(w, r)
			return
		}
		if why := s.judge(r); why != nil {
			if why.Status == http.StatusUnauthorized {
				if s.loginInstead(w, r) {
					return
				}
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			s.refuseFor(w, r, why)
			return
		}
		next, limit := next, workTime
		if s.isForAWS(r) { // which needs no bearer key
			next, limit = s.aws, awsTime
		} else if isInvocation(r) {
			limit = invocationTime
		} else if own := s.loginHandler(r); own != nil {
			next = own
		}
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		caller := s.callerOf(r)
		r = r.WithContext(WithCaller(ctx, caller))
		if conn == nil {
			next.ServeHTTP(w, r)
			return
		}
		if !conn.of.begin(conn, r.URL.Path == "/livez") {
			s.refuseFor(w, r, &Problem{http.StatusServiceUnavailable, "busy", "too many requests are at work; ask again"})
			return
		}
		defer conn.replies()
		conn.identify(caller.Name, r)
		w = &boundedAnswer{w, ctx, conn}
		if size := s.answerSize(r); size > 0 {
			if err := conn.of.answers.admit(ctx, conn, size); err != nil {
				s.refuseFor(w, r, noMemory(err))
				return
			}
		}
		defer conn.of.answers.release(conn) // also what [Found] was given
		if r.Body != http.NoBody {
			r.Body = &boundedBody{
				ReadCloser: r.Body, ctx: ctx, conn: conn, control: http.NewResponseController(w),
				size: r.ContentLength,
			}
			//nolint:forcetypeassert // it was just made
			defer func(body *boundedBody) { _ = body.Close() }(r.Body.(*boundedBody))
		}
		next.ServeHTTP(w, r)
	})
}

// recovered logs a panic of a handler, and answers with an error.
func recovered(log hclog.Logger, w http.ResponseWriter, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	log.Error(logevent.RequestPanicked, "url", r.URL.Path, "panic", fault, "stack", string(debug.Stack()))
	refuse(w, &Problem{
		http.StatusInternalServerError, "internal",
		"internal error; the log of the server contains the reason",
	})
}

// judge returns why a request is not served; nil if it is served. It refuses requests without a valid key. It also
// refuses requests that a page in a browser may have been made to send: under another name for this machine, from
// another origin, or as a form.
func (s *Server) judge(r *http.Request) *Problem {
	isHealth := slices.Contains(healthPaths, r.URL.Path)
	switch {
	case !s.knows(s.hostOf(r)) && (!isHealth || !reads(r.Method)) && !s.isForAnyHost(r):
		reason := fmt.Sprintf("the host %.100q is not served: ask by an address of the machine, or have the operator add "+
			"the name to those of the server (ebb serve --host NAME)", r.Host)
		return &Problem{http.StatusForbidden, "forbidden", reason}
	case isAmbiguous(r.URL):
		return &Problem{
			http.StatusForbidden, "forbidden",
			"the path leads out of its first element once it is unescaped: do not escape the dots and slashes of ..",
		}
	case isConsole(r) && !isOwn(r), isForeign(r) && !isLink(r):
		return &Problem{
			http.StatusForbidden, "forbidden", "the request came from a page of another site: open the console itself",
		}
	case r.Header.Get("Origin") != "" && !isConsole(r):
		return &Problem{
			http.StatusForbidden, "forbidden",
			"requests with an Origin are not served: pages in browsers may not ask",
		}
	case r.URL.Path == "*" || r.URL.Path == "": // OPTIONS *, or CONNECT, which the mux refuses without a reason
		return &Problem{http.StatusNotFound, "not_found", "a request without a path is not served"}
	case asForm(r) && !isConsole(r):
		return &Problem{
			http.StatusUnsupportedMediaType, "media_type",
			"bodies of a form's Content-Type are not served: send JSON",
		}
	case r.ContentLength > MaxBody:
		return &Problem{http.StatusRequestEntityTooLarge, "too_large", "a body has at most " + strconv.Itoa(MaxBody) +
			" bytes"}
	case !s.isPlain(r):
		return &Problem{
			http.StatusUnsupportedMediaType, "media_type",
			"a Content-Encoding is not supported: send the body as it is",
		}
	case s.isOpen(r) || isHealth || s.isForAWS(r) || isPublic(r):
		return nil // the handler of AWS's requests requires a signature, if the server requires keys
	}
	switch of := s.holderOf(r); {
	case of == nil:
		return &Problem{
			http.StatusUnauthorized, "unauthorized",
			"a key is missing or wrong: send Authorization: Bearer KEY, with a key of this server",
		}
	case !of.may(r.Method, r.URL.Path):
		return &Problem{http.StatusForbidden, "forbidden", "the key is for " + strings.Join(of.only, ", ") +
			", not for this path and method"}
	}
	return nil
}

// isOpen reports whether everyone who reaches the server may send a request.
func (s *Server) isOpen(r *http.Request) bool { return s.keys == nil && (s.proxy == nil || !isPage(r)) }

// holderOf returns who sends a request: whom a proxy names, or the holder of its key or cookie. It returns nil if that
// is not known.
func (s *Server) holderOf(r *http.Request) *holder {
	if of := s.proxy.holder(r); of != nil {
		return of
	}
	if s.keys == nil {
		return nil
	}
	if of := s.keys.of(r); of != nil || !isConsole(r) {
		return of
	}
	return s.keys.ofCookie(r, time.Now())
}

// isOwn reports whether a request to the console does not come from a page of another site.
func isOwn(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		if from, err := url.Parse(origin); err != nil || !strings.EqualFold(from.Host, r.Host) {
			return false
		}
	}
	return http.NewCrossOriginProtection().Check(r) == nil
}

// trusts reports whether a request has a key for all paths. The answer may then contain details of errors.
func (s *Server) trusts(r *http.Request) bool {
	if s.keys == nil {
		return false
	}
	of := s.keys.of(r)
	return of != nil && len(of.only) == 0
}

// hostOf returns the host that a request is for. AWS's clients put a prefix before it for some operations.
func (s *Server) hostOf(r *http.Request) string {
	if s.isForAWS(r) {
		return strings.TrimPrefix(r.Host, "sync-")
	}
	return r.Host
}

// isForAnyHost reports whether a request is served under any name for this machine: one of AWS's protocol at an open
// server. A browser sends an Origin with each such request, even if another site has made its own name one of this
// machine.
func (s *Server) isForAnyHost(r *http.Request) bool {
	return s.open && s.isForAWS(r) && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == ""
}

// knows reports whether the Host of a request is a name of this machine. If the server is not local, any IP address
// counts: another site cannot use an address as its own name for this machine.
func (s *Server) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	isHost := func(name string) bool { return strings.EqualFold(name, host) }
	if isLoopback(host) || slices.ContainsFunc(s.hosts, isHost) {
		return true
	}
	if s.open && host != "" && !strings.Contains(host, ".") && !strings.Contains(host, ":") {
		return true // the name of a container or of a machine in the network, which no other site can have
	}
	return (s.open || !s.local) && net.ParseIP(host) != nil
}

// asForm reports whether a request has a body of a type that an HTML form can send.
func asForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an invalid type is none of these
	return r.Header.Get("Ce-Specversion") == "" &&                  // a form cannot set this header
		slices.Contains([]string{"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}, kind)
}

// isPlain reports whether the body of a request is not compressed. Old clients of AWS name a version of JSON there.
func (s *Server) isPlain(r *http.Request) bool {
	coding := strings.ToLower(strings.Join(r.Header.Values("Content-Encoding"), ","))
	return coding == "" || coding == "identity" || coding == "amz-1.0" && s.isForAWS(r)
}
