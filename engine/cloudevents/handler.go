package cloudevents

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ebbflow/ebb/storage"
)

// Store is what a [Handler] needs of a store.
type Store interface {
	Directory
	storage.Reader
}

// Handler takes in events by POST. With ?run=ID they are for that run; without,
// each is for the runs that [Deliver] finds. It answers, in JSON,
//
//	202 {"runs": ["order-1"]}   to whom the events went; perhaps to nobody
//	400 {"error": "…"}          for what is no event
//	404                         there is no such run
//	405, 413, 415               another method, more than [MaxBody], a form that is not known
//	410                         the run has ended
//	503                         the store failed; send it again
//
// It is answered when the events are stored. With ?run= all of a batch are, or
// none. Who may send events is for whoever mounts it to say.
func Handler(store Store) http.Handler { return &handler{store} }

type handler struct{ store Store }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		answer(w, http.StatusMethodNotAllowed, "events are sent by POST")
		return
	}
	events, err := Read(w, r)
	if err != nil {
		refuse(w, err)
		return
	}
	runs := []string{}
	if run := r.URL.Query().Get("run"); run != "" {
		runs = append(runs, run)
		err = h.tell(r, run, events)
	} else {
		for _, e := range events {
			var found []string
			if found, err = Deliver(r.Context(), h.store, e); err != nil {
				break
			}
			runs = append(runs, found...)
		}
	}
	if err != nil {
		refuse(w, err)
		return
	}
	write(w, http.StatusAccepted, map[string]any{"runs": runs})
}

var errEnded = errors.New("the run has ended")

func (h *handler) tell(r *http.Request, run string, events []Event) error {
	there, err := h.store.Run(r.Context(), run)
	if err == nil && there.State.Ended() {
		err = errEnded
	}
	if err != nil {
		return err
	}
	return Tell(r.Context(), h.store, run, events...)
}

// refuse answers with what an error means.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, ErrMediaType):
		status = http.StatusUnsupportedMediaType
	case errors.Is(err, ErrInvalid), errors.Is(err, storage.ErrInvalid):
		status = http.StatusBadRequest
	case errors.Is(err, storage.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, errEnded):
		status = http.StatusGone
	}
	answer(w, status, err.Error())
}

func answer(w http.ResponseWriter, status int, problem string) {
	write(w, status, map[string]any{"error": problem})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked may have gone
}
