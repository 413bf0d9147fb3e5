package cloudevents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/storage"
)

// Handler accepts events by POST. With ?run=ID they are for that run; otherwise each is for the runs that [Deliver]
// finds. It answers in JSON:
//
//	202 {"runs": ["order-1"]}   ids of the runs that received the events; may be empty
//	400 {"error": "…"}          an event is not valid, even if no run waits for it; the text names the attribute
//	404                         the run does not exist
//	405, 413, 415               another method, more than maxBody, an unknown form
//	408                         the body did not arrive in time
//	410                         the run has ended
//	429                         the inbox of a run is full; other runs have the events
//	503                         the store failed, or the server is busy; send the request again
//
// A start function starts runs for events that are not for one run, and returns their ids, which the answer has, too.
//
// Handler answers after it has stored the events. With ?run= it stores all events of a batch, or none. The program
// that mounts the handler decides which clients may send events, and how long a request may take.
func Handler(store storage.Store, start ...Start) http.Handler {
	return &handler{backend.Of(store), start}
}

// A Start starts runs for events, and returns their ids. It is called again with events that a client sends again.
type Start func(context.Context, []Event) (runs []string, err error)

type handler struct {
	store backend.Store
	start []Start
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		answer(w, http.StatusMethodNotAllowed, "events are sent by POST")
		return
	}
	run, err := addressee(r.URL.RawQuery)
	if err != nil {
		refuse(w, err)
		return
	}
	events, err := Read(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	runs := []string{run}
	if run != "" {
		err = Tell(r.Context(), h.store, run, events...)
	} else {
		runs, err = h.distribute(r.Context(), events)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	write(w, http.StatusAccepted, map[string]any{"runs": append([]string{}, runs...)})
}

// distribute delivers events to the runs that wait for them, and starts others.
func (h *handler) distribute(ctx context.Context, events []Event) ([]string, error) {
	runs, err := Deliver(ctx, h.store, events...)
	for _, start := range h.start {
		started, failed := start(ctx, events)
		runs, err = append(runs, started...), cmp.Or(err, failed)
	}
	return runs, err
}

// addressee returns the run that a query names; "" if it names none. It refuses an unknown parameter, because a
// misspelled one would send the events to all runs.
func addressee(query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", invalid("the query: %w", err)
	}
	for name := range values {
		if name != "run" {
			return "", invalid("the query parameter %.40q is not known; only run is", name)
		}
	}
	runs, named := values["run"]
	if !named {
		return "", nil
	}
	if len(runs) > 1 || runs[0] == "" {
		return "", invalid("the query parameter run must be there once, with the id of a run")
	}
	addressed := storage.Message{Run: runs[0]}
	return runs[0], backend.CheckMessage(&addressed)
}

// refuse answers with the status for an error.
func refuse(w http.ResponseWriter, err error) {
	status, reason := http.StatusServiceUnavailable,
		"the store did not answer, or the server is busy: send the request again"
	long, isLong := errors.AsType[*http.MaxBytesError](err)
	switch {
	case isLong:
		status, reason = http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", long.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, reason = http.StatusRequestTimeout, "the body did not arrive in time"
	case errors.Is(err, ErrMediaType):
		status, reason = http.StatusUnsupportedMediaType, err.Error()
	case errors.Is(err, ErrInvalid), errors.Is(err, storage.ErrInvalid):
		status, reason = http.StatusBadRequest, backend.Reason(err)
	case errors.Is(err, storage.ErrNotFound):
		status, reason = http.StatusNotFound, err.Error()
	case errors.Is(err, storage.ErrFull):
		status, reason = http.StatusTooManyRequests, err.Error()
	case errors.Is(err, storage.ErrEnded):
		status, reason = http.StatusGone, err.Error()
	default: // do not show the error: it may name the database
		w.Header().Set("Retry-After", "1")
	}
	answer(w, status, reason)
}

func answer(w http.ResponseWriter, status int, problem string) {
	write(w, status, map[string]any{"error": problem})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}
