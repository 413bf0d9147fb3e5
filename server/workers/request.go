package workers

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// problem returns an error answer.
func problem(status int, code, format string, args ...any) *server.Problem {
	return &server.Problem{Status: status, Code: code, Text: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return problem(http.StatusBadRequest, "invalid", format, args...)
}

func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, problem(http.StatusUnsupportedMediaType, "media_type", "send JSON, with Content-Type: application/json")
	}
	return server.ReadBody(w, r)
}

// problemOf returns the error answer for an error.
func problemOf(err error) *server.Problem {
	if p, ok := errors.AsType[*server.Problem](err); ok {
		return p
	}
	switch {
	case errors.Is(err, storage.ErrInvalid):
		return problem(http.StatusBadRequest, "invalid", "%s", backend.Reason(err))
	case errors.Is(err, storage.ErrNotFound):
		return problem(http.StatusNotFound, "not_found", "there is no such task; its run may have been deleted")
	default:
		return problem(http.StatusServiceUnavailable, "store", "the store did not answer; ask again")
	}
}

// seconds returns a duration of a request.
func seconds(name string, asked *float64, least, otherwise, most time.Duration) (time.Duration, error) {
	if asked == nil {
		return otherwise, nil
	}
	if !(*asked >= least.Seconds() && *asked <= most.Seconds()) {
		return 0, invalid(`"%s" is %s to %s`, name, number(least), number(most))
	}
	return time.Duration(*asked * float64(time.Second)), nil
}

func number(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
