package workers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/jsontext"
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
		return problem(http.StatusBadRequest, "invalid", "%v", err)
	case errors.Is(err, storage.ErrNotFound):
		return problem(http.StatusNotFound, "not_found", "there is no such task; its run may have been deleted")
	default:
		return problem(http.StatusServiceUnavailable, "store", "the store did not answer; ask again")
	}
}

func decode(body []byte, into any) error {
	switch {
	case len(body) == 0:
		return nil
	case !utf8.Valid(body):
		return invalid("the body is not UTF-8")
	case !json.Valid(body):
		return invalid("the body is not valid: %v", json.Unmarshal(body, new(json.RawMessage)))
	case jsontext.Depth(body) > maxNesting:
		return invalid("arrays and objects nest at most %d deep", maxNesting)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields() // a misspelled "result" would be a result of null
	if err := d.Decode(into); err != nil {
		return invalid("the body is not valid: %v", err)
	}
	return nil
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
