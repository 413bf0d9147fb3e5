package lambda

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Limits of payloads.
const (
	// MaxPayload is the maximum size in bytes of what a function gets and returns. AWS allows 100 bytes more for a
	// response.
	//
	//limit:lambda payload of an invocation; response of a function (`lambda.MaxPayload`) | {B} |
	//limit:and `RequestEntityTooLargeException`; `Function.ResponseSizeTooLarge`
	MaxPayload  = 6 << 20
	maxResponse = MaxPayload + 100
	// maxDropped is how much of a larger response is read.
	maxDropped = 256 << 20
)

// A runtimeAPI is the Runtime API of one process.
type runtimeAPI struct {
	process *process
	address string // host and port
	mux     *http.ServeMux

	mu      sync.Mutex
	current *invocation // that the process has not answered
}

func newRuntimeAPI(p *process, address string) *runtimeAPI {
	a := &runtimeAPI{process: p, address: address, mux: http.NewServeMux()}
	const prefix = "/2018-06-01/runtime/"
	a.mux.HandleFunc("GET "+prefix+"invocation/next", a.next)
	a.mux.HandleFunc("POST "+prefix+"invocation/{id}/response", a.response)
	a.mux.HandleFunc("POST "+prefix+"invocation/{id}/error", a.failure)
	a.mux.HandleFunc("POST "+prefix+"init/error", a.initError)
	return a
}

// ServeHTTP implements [http.Handler]. It refuses pages in browsers, under any name that they may use.
func (a *runtimeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Host != a.address || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "" {
		refuseRuntime(w, http.StatusForbidden, "Forbidden", "only the process of the function may ask, at "+a.address)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// expect lets the process answer an invocation.
func (a *runtimeAPI) expect(in *invocation) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current = in
}

// next waits for an invocation.
func (a *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	busy := a.current != nil
	a.mu.Unlock()
	if busy {
		refuseRuntime(w, http.StatusForbidden, "InvalidStateTransition",
			"the process must answer the invocation that it has before it asks for another one")
		return
	}
	take := make(chan *invocation)
	select {
	case a.process.next <- ask{take, r.Context().Done()}:
	case <-r.Context().Done():
		return
	case <-a.process.ended:
		return
	}
	select {
	case in := <-take:
		a.expect(in)
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Content-Length", strconv.Itoa(len(in.payload)))
		header.Set("Lambda-Runtime-Aws-Request-Id", in.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(in.deadline.UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", in.arn)
		id := strings.ReplaceAll(in.id, "-", "")
		header.Set("Lambda-Runtime-Trace-Id", fmt.Sprintf("Root=1-%08x-%s;Parent=%s;Sampled=0", in.begun.Unix(),
			id[:24], id[16:]))
		if in.context != "" {
			header.Set("Lambda-Runtime-Client-Context", in.context)
		}
		_, _ = w.Write(in.payload) // a process that has gone is noticed elsewhere
	case <-r.Context().Done():
	case <-a.process.ended:
	}
}

// response takes the result of the invocation.
func (a *runtimeAPI) response(w http.ResponseWriter, r *http.Request) { a.answer(w, r, false) }

// failure takes the error of the invocation.
func (a *runtimeAPI) failure(w http.ResponseWriter, r *http.Request) { a.answer(w, r, true) }

func (a *runtimeAPI) answer(w http.ResponseWriter, r *http.Request, failed bool) {
	a.mu.Lock()
	in := a.current
	if in == nil || in.id != r.PathValue("id") {
		a.mu.Unlock()
		refuseRuntime(w, http.StatusBadRequest, "InvalidRequestID", "Invalid request ID")
		return
	}
	a.current = nil
	a.mu.Unlock()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse+1))
	switch {
	case len(body) > maxResponse:
		_, _ = io.CopyN(io.Discard, r.Body, maxDropped) // so that the process can read the answer
		a.process.answers <- answer{failure("Function.ResponseSizeTooLarge", fmt.Sprintf("Response payload size exceeded "+
			"maximum allowed payload size (%d bytes).", maxResponse)), true}
		refuseRuntime(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			fmt.Sprintf("Exceeded maximum allowed payload size (%d bytes).", maxResponse))
		return
	case err != nil:
		a.expect(in) // the process has gone, or sends it again
		return
	case failed:
		body = errorOf(r, body)
	}
	a.process.answers <- answer{body, failed}
	accept(w)
}

// initError takes the error of a process that cannot start.
func (a *runtimeAPI) initError(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxResponse))
	if err != nil {
		refuseRuntime(w, http.StatusBadRequest, "InvalidRequest", err.Error())
		return
	}
	select {
	case a.process.failed <- errorOf(r, body):
		accept(w)
	default:
		refuseRuntime(w, http.StatusForbidden, "InvalidStateTransition", "the process has reported an error already")
	}
}

// errorOf returns the error that a process reports. A body that is not JSON is the message of the error.
func errorOf(r *http.Request, body []byte) []byte {
	if json.Valid(body) {
		return body
	}
	kind := r.Header.Get("Lambda-Runtime-Function-Error-Type")
	if kind == "" {
		kind = "Runtime.Unknown"
	}
	return failure(kind, string(body))
}

func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`) // as above
}

// refuseRuntime answers a request of a process with an error.
func refuseRuntime(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(failure(kind, message)) // as above
}
