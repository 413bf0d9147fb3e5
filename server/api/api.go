package api

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ebbflow/ebb/flow"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/inspect"
	"github.com/ebbflow/ebb/internal/jsontext"
	"github.com/ebbflow/ebb/internal/tasktoken"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// Prefix is the path below which the API is served.
const Prefix = "/api/v1/"

// Options say what a program offers beside its store. The zero Options offer what the store alone can tell.
type Options struct {
	// Diagnose returns what a run waits for, in the terms of its language, too. Nil means [inspect.Diagnose].
	Diagnose func(ctx context.Context, run storage.Run) (*inspect.Diagnosis, error)
	// Machine returns what a run waits for in the terms of its language; nil if that is nothing. If Machine is nil, no run
	// is listed by the events that it waits for.
	Machine func(ctx context.Context, run *storage.Run) *grow.Waiting
	// Flow returns the flow of a run, for previews of commands. Nil means that there are no previews.
	Flow func(ctx context.Context, run *storage.Run) (flow.Node, error)
	// Languages read, draw and try definitions. Nil means that definitions can only be listed.
	Languages Languages
	// Trials keep what was tried, for the console. Nil means that nothing can be tried.
	Trials *server.Trials
}

// An API is a handler of the paths below [Prefix].
type API struct {
	of  *api
	mux *http.ServeMux
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// New returns the API of a store.
func New(opened storage.Store, o Options) *API {
	store := backend.Of(opened)
	if o.Diagnose == nil {
		o.Diagnose = func(ctx context.Context, run storage.Run) (*inspect.Diagnosis, error) {
			return inspect.Diagnose(ctx, store, run)
		}
	}
	a := &api{store: store, options: o}
	mux := http.NewServeMux()
	methods := map[string][]string{} // by path
	for _, one := range routes() {
		mux.HandleFunc(one.method+" "+Prefix+one.path, a.serve(&one))
		methods[one.path] = append(methods[one.path], one.method)
	}
	mux.HandleFunc("GET "+Prefix+"openapi.json", a.document(Document()))
	methods["openapi.json"] = []string{http.MethodGet}
	for path, allowed := range methods {
		mux.HandleFunc(Prefix+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			problem(http.StatusMethodNotAllowed, "method", "want %s", strings.Join(allowed, " or ")).answer(w)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem(http.StatusNotFound, "not_found", "%.100q is not served: %sopenapi.json lists what is", r.URL.Path, Prefix).
			answer(w)
	})
	return &API{a, mux}
}

type api struct {
	store   backend.Store
	options Options
	storing sync.Mutex // held while a definition is stored
	levels  inspect.Levels
}

// A route is an operation of the API.
type route struct {
	method, path string
	name         string // for OpenAPI
	summary      string
	params       []param
	body         any // zero value of what the body is decoded into; nil if there is none
	answer       any // zero value of the answer
	status       int
	serve        func(a *api, c *call) (any, error)
}

// commands reports whether the route changes something.
func (r *route) commands() bool { return r.method != http.MethodGet }

// serve returns the handler of a route.
func (a *api) serve(of *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		c := &call{Request: r, query: r.URL.Query()}
		c.caller, _ = server.CallerOf(r.Context())
		var answer any
		err := c.refuseBlankQuery()
		if err == nil {
			answer, err = a.call(of, c) //nolint:contextcheck // c has the context of the request
		}
		var text []byte
		small := false
		if err == nil {
			text, small, err = jsontext.StreamSmall(answer, smallAnswer)
		}
		if err != nil {
			problemOf(err).answer(w)
			return
		}
		write(w, r, of.status, func(to io.Writer) error {
			if !c.caller.Operate {
				to = tokenless{to}
			}
			if small {
				_, err := to.Write(text)
				return err
			}
			return jsontext.Stream(to, answer)
		})
	}
}

// smallAnswer is up to how many bytes an answer is written once. A larger one is written twice, the first time for its
// ETag, and not held in memory.
const smallAnswer = 64 << 10

// A tokenless writer hides tokens. A token ends its atom for everyone who has it, so callers who may only read get
// none.
type tokenless struct{ io.Writer }

// Write implements [io.Writer]. A token is never in two calls.
func (t tokenless) Write(text []byte) (int, error) {
	_, err := t.Writer.Write(tasktoken.Hide(text))
	return len(text), err
}

func (a *api) call(of *route, c *call) (any, error) {
	if http.NewCrossOriginProtection().Check(c.Request) != nil {
		return nil, problem(http.StatusForbidden, "forbidden", "the request came from a page of another site")
	}
	if of.commands() && !c.caller.Operate {
		return nil, problem(http.StatusForbidden, "forbidden", "the key may only read: commands need one for operate")
	}
	if text, _ := url.QueryUnescape(c.URL.RawQuery); !isText(c.URL.Path) || !isText(text) {
		return nil, problem(http.StatusBadRequest, "invalid", "the URL is not UTF-8, or has a character of value 0")
	}
	for name, values := range c.query {
		at := slices.IndexFunc(of.params, func(p param) bool { return p.name == name })
		if at < 0 {
			return nil, problem(http.StatusBadRequest, "invalid", "the parameter %.50q is not known%s", name, list(of.params))
		}
		if len(values) > 1 && !strings.HasSuffix(of.params[at].text, mayRepeat) {
			return nil, problem(http.StatusBadRequest, "invalid", "the parameter %s is there %d times", name, len(values))
		}
	}
	if of.commands() {
		if err := c.recall(a); err != nil {
			return nil, err
		}
	}
	return of.serve(a, c)
}

// isText reports whether a store can keep the text.
func isText(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

func list(params []param) string {
	if len(params) == 0 {
		return ": there are none"
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	return ": there are " + strings.Join(names, ", ")
}

// document serves the document of OpenAPI.
func (*api) document(text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		write(w, r, http.StatusOK, func(to io.Writer) error {
			_, err := to.Write(text)
			return err
		})
	}
}

// write writes the JSON that send sends. What was read has an ETag; a client that has the same content gets none.
func write(w http.ResponseWriter, r *http.Request, status int, send func(io.Writer) error) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		sum := sha256.New()
		_ = send(sum) // an error is found below
		tag := `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
		if strings.Contains(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(status)
	buffer := bufio.NewWriterSize(w, writtenAtOnce)
	_ = errors.Join(send(buffer), buffer.Flush()) // the client may have gone
}

// writtenAtOnce is how many bytes of an answer are sent at a time.
const writtenAtOnce = 32 << 10
