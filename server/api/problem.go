package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/runfilter"
	"github.com/ebbflow/ebb/jobs"
	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/storage"
)

// A Problem is an error answer, see RFC 9457.
//
//nolint:errname // it is an answer that is also an error
type Problem struct {
	Title  string `json:"title"`            // text of the status
	Status int    `json:"status"`           // HTTP status
	Code   string `json:"code"`             // code for programs
	Detail string `json:"detail"`           // the problem and how to fix it
	Column int    `json:"column,omitempty"` // of a filter: character at which the problem begins, from 1
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

func problem(status int, code, format string, args ...any) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

func (p *Problem) answer(w http.ResponseWriter) {
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may have gone
}

// problemOf returns the answer for an error.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if bad, ok := errors.AsType[*runfilter.Error](err); ok {
		p := problem(http.StatusBadRequest, "filter", "%v", bad)
		p.Column = bad.Column
		return p
	}
	if p, ok := errors.AsType[*server.Problem](err); ok {
		return problem(p.Status, p.Code, "%s", p.Text)
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return problem(http.StatusNotFound, "not_found", "%v", err)
	case errors.Is(err, engine.ErrRefused), errors.Is(err, jobs.ErrRefused), errors.Is(err, storage.ErrFenced),
		errors.Is(err, storage.ErrEnded), errors.Is(err, storage.ErrJobDiffers):
		return problem(http.StatusConflict, "refused", "%v", err)
	case errors.Is(err, storage.ErrGone):
		return problem(http.StatusConflict, "gone", "the token is no longer open: it was used, or its attempt is over")
	case errors.Is(err, storage.ErrFull):
		return problem(http.StatusTooManyRequests, "full", "%v", err)
	case errors.Is(err, storage.ErrConflict):
		return problem(http.StatusConflict, "in_flight",
			"another request with this Idempotency-Key is at work: send it again")
	case errors.Is(err, atom.ErrValueTooLarge):
		return problem(http.StatusRequestEntityTooLarge, "too_large", "%v", err)
	case errors.Is(err, storage.ErrInvalid):
		return problem(http.StatusBadRequest, "invalid", "%s", backend.Reason(err))
	default:
		return problem(http.StatusServiceUnavailable, "store", "the store did not answer; ask again")
	}
}
