package workers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// Limits of the values in requests. A missing value has its default.
const (
	// MaxPolls is the maximum number of workers that wait for work at one handler.
	//
	//limit:workers workers that wait at one `ebb serve` | {}, and half of its connections, for {maxWait} each |
	//limit:and told to poll again
	MaxPolls = 2_000

	//limit:workers kinds of work in a request | {} of {maxName B}
	maxKinds = backend.MaxQueues
	//limit:workers name of a worker | {B}
	maxName = backend.MaxID
	//limit:workers message of a failure | {B}
	maxText     = 32 << 10
	maxWait     = time.Minute
	defaultWait = 30 * time.Second
	//limit:workers lease | 1 s to {}
	maxLease     = 12 * time.Hour
	defaultLease = 30 * time.Second
)

// Handler serves the requests of the package under /tasks/. When ctx ends, it tells waiting workers that it stops.
// It still accepts heartbeats and results. The program that mounts the handler decides which workers may work.
func Handler(ctx context.Context, store storage.Store) http.Handler {
	h := &handler{store: backend.Of(store), closing: ctx.Done()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tasks/poll", h.serve(h.poll))
	mux.HandleFunc("POST /tasks/{id}/heartbeat", h.serve(h.heartbeat))
	mux.HandleFunc("POST /tasks/{id}/complete", h.serve(h.complete))
	mux.HandleFunc("POST /tasks/{id}/fail", h.serve(h.fail))
	mux.HandleFunc("/tasks/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			problem(http.StatusMethodNotAllowed, "invalid", "workers ask by POST").Answer(w)
			return
		}
		problem(http.StatusNotFound, "not_found",
			"ask for /tasks/poll, or for heartbeat, complete or fail below /tasks/ID/").Answer(w)
	})
	return mux
}

type handler struct {
	store   backend.Store
	closing <-chan struct{}
	polls   atomic.Int64
}

// serve returns a handler that decodes a request and writes the answer; if the answer is nil, the body is empty.
func (h *handler) serve(answer func(ctx context.Context, r *http.Request, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := read(w, r)
		var said any
		if err == nil {
			said, err = answer(r.Context(), r, body)
		}
		switch {
		case err != nil:
			problemOf(err).Answer(w)
		case said == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(said) // if the worker has disconnected, its lease expires
		}
	}
}

// poll gives a worker a task.
func (h *handler) poll(ctx context.Context, r *http.Request, body []byte) (any, error) {
	var ask struct {
		Kinds  []string `json:"kinds"`
		Worker string   `json:"worker"`
		Wait   *float64 `json:"wait_seconds"`
		Lease  *float64 `json:"lease_seconds"`
	}
	if err := server.DecodeBody(body, &ask); err != nil {
		return nil, err
	}
	if len(ask.Kinds) == 0 || len(ask.Kinds) > maxKinds {
		return nil, invalid(`"kinds" names 1 to %d kinds of work`, maxKinds)
	}
	for _, kind := range ask.Kinds {
		if kind == "" || len(kind) > maxName {
			return nil, invalid(`a kind of work in "kinds" has 1 to %d bytes`, maxName)
		}
	}
	if len(ask.Worker) > maxName {
		return nil, invalid(`"worker" has at most %d bytes`, maxName)
	}
	wait, err := seconds("wait_seconds", ask.Wait, 0, defaultWait, maxWait)
	if err != nil {
		return nil, err
	}
	lease, err := seconds("lease_seconds", ask.Lease, time.Second, defaultLease, maxLease)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close() // so that the server can free the body while the worker waits
	defer h.polls.Add(-1)
	waiting := h.polls.Add(1) - 1
	end, ok := server.Poll(ctx)
	if ok {
		defer end()
	}
	if !ok || waiting >= MaxPolls {
		return nil, problem(http.StatusServiceUnavailable, "busy", "%d workers wait for work already; ask again", waiting)
	}
	if h.stops(ctx) {
		return nil, problem(http.StatusServiceUnavailable, "stopping",
			"this server is stopping and gives out no work; ask another server, or ask again")
	}
	request := storage.WorkRequest{Queues: ask.Kinds, Worker: ask.Worker, Lease: lease}
	work, err := engine.LeaseWork(ctx, h.store, request, wait, h.closing)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil //nolint:nilnil // there was nothing
	}
	if err != nil {
		return nil, err
	}
	if err := server.Found(ctx, false); err != nil {
		// If this fails, the next worker gets the work when the lease has expired.
		back := storage.Heartbeat{Take: work.Take, GiveBack: true}
		_, _ = h.store.KeepToken(context.WithoutCancel(ctx), work.Token, back)
		return nil, err
	}
	return taskOf(work, lease), nil
}

// stops reports whether the server is stopping. It delays the answer, because a worker that asks in a loop may have
// no other server to ask.
func (h *handler) stops(ctx context.Context) bool {
	select {
	case <-h.closing:
	default:
		return false
	}
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return true
}

// heartbeat renews a worker's lease, and stores what the worker reports.
func (h *handler) heartbeat(ctx context.Context, r *http.Request, body []byte) (any, error) {
	var ask struct {
		Lease    *float64        `json:"lease_seconds"`
		Progress float64         `json:"progress"`
		Details  json.RawMessage `json:"details"`
	}
	if err := server.DecodeBody(body, &ask); err != nil {
		return nil, err
	}
	lease, err := seconds("lease_seconds", ask.Lease, time.Second, defaultLease, maxLease)
	if err != nil {
		return nil, err
	}
	if !(ask.Progress >= 0 && ask.Progress <= 1) {
		return nil, invalid(`"progress" is 0 to 1`)
	}
	var details atom.Value
	if ask.Details != nil {
		if details = atom.FromJSON(ask.Details); len(details) > atom.MaxFailureDetails {
			return nil, invalid(`"details" has at most %d bytes`, atom.MaxFailureDetails)
		}
	}
	token, take, err := tokenOf(r.PathValue("id"))
	if err != nil {
		return nil, invalid("%v", err)
	}
	kept, err := h.store.KeepToken(ctx, token, storage.Heartbeat{
		Take: take, Lease: lease, Progress: ask.Progress, Details: details,
	})
	if err != nil {
		return nil, h.refused(ctx, token, take, err)
	}
	return struct {
		Lease  float64 `json:"lease_seconds"`
		GiveUp bool    `json:"give_up,omitempty"`
	}{lease.Seconds(), kept.GiveUp}, nil
}

// complete ends a task with its result.
func (h *handler) complete(ctx context.Context, r *http.Request, body []byte) (any, error) {
	var said struct {
		Result json.RawMessage `json:"result"`
	}
	if err := server.DecodeBody(body, &said); err != nil {
		return nil, err
	}
	result := atom.Null
	if said.Result != nil {
		result = atom.FromJSON(said.Result)
	}
	if len(result) > atom.MaxValue {
		return nil, problem(http.StatusRequestEntityTooLarge, "too_large", "a result has at most %d bytes", atom.MaxValue)
	}
	return h.end(ctx, r.PathValue("id"), result, nil)
}

// fail ends a task with a failure.
func (h *handler) fail(ctx context.Context, r *http.Request, body []byte) (any, error) {
	var said struct {
		Code      string          `json:"code"`
		Message   string          `json:"message"`
		Details   json.RawMessage `json:"details"`
		Retryable *bool           `json:"retryable"`
	}
	if err := server.DecodeBody(body, &said); err != nil {
		return nil, err
	}
	f := &atom.Failure{Code: said.Code, Message: said.Message, Final: said.Retryable != nil && !*said.Retryable}
	switch {
	case f.Code == "":
		f.Code = atom.CodeError
	case len(f.Code) > maxName || !utf8.ValidString(f.Code):
		return nil, invalid(`"code" has at most %d bytes`, maxName)
	}
	if len(f.Message) > maxText {
		return nil, invalid(`"message" has at most %d bytes`, maxText)
	}
	if said.Details != nil {
		if f.Details = atom.FromJSON(said.Details); len(f.Details) > atom.MaxFailureDetails {
			return nil, invalid(`"details" has at most %d bytes`, atom.MaxFailureDetails)
		}
	}
	return h.end(ctx, r.PathValue("id"), nil, f)
}

func (h *handler) end(ctx context.Context, id string, result atom.Value, f *atom.Failure) (any, error) {
	token, take, err := tokenOf(id)
	if err != nil {
		return nil, invalid("%v", err)
	}
	if f != nil {
		t, err := h.store.Token(ctx, token)
		if err != nil {
			return nil, err
		}
		f.Atom, f.Attempt = t.Path, t.Attempt
	}
	if _, err := h.store.EndToken(ctx, token, storage.TokenEnd{Take: take, Result: result, Failure: f}); err != nil {
		if again := h.said(ctx, token, take, result, f); again {
			return struct{}{}, nil
		}
		return nil, h.refused(ctx, token, take, err)
	}
	return struct{}{}, nil
}

// said reports whether the task has already ended as this worker says, because of an earlier request.
func (h *handler) said(ctx context.Context, token string, take int64, result atom.Value, f *atom.Failure) bool {
	t, err := h.store.Token(ctx, token)
	if err != nil || t.Take != take {
		return false
	}
	if f != nil {
		return t.State == storage.TokenFailed && t.Failure.Code == f.Code && t.Failure.Message == f.Message
	}
	return t.State == storage.TokenCompleted && string(t.Result) == string(result)
}

// refused returns the answer to a worker that may not end or extend the task.
func (h *handler) refused(ctx context.Context, token string, take int64, err error) error {
	if !errors.Is(err, storage.ErrGone) && !errors.Is(err, storage.ErrTaken) {
		return err
	}
	stop := func(code, format string, args ...any) error {
		return problem(http.StatusConflict, code, format+": stop working; Ebb records no result of this task", args...)
	}
	t, err := h.store.Token(ctx, token)
	switch {
	case err != nil:
		return err
	case t.State == storage.TokenGone || t.State == storage.TokenExpired:
		return stop("cancelled", "the task was cancelled or started again, and no run waits for it")
	case t.Take != take:
		return stop("lost", "your lease ran out, and the task was given to another worker, %q", t.Worker)
	case t.State == storage.TokenFailed:
		return stop("ended", "the task has ended, with %s", t.Failure.Code)
	default:
		return stop("ended", "the task has ended")
	}
}
