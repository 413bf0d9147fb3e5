package server

import (
	"encoding/json"
	"net/http"
)

// A Problem is an error answer of the server. It is sent as JSON.
//
//nolint:errname // it is an answer that is also an error
type Problem struct {
	Status int    `json:"-"`       // HTTP status
	Code   string `json:"error"`   // code for programs
	Text   string `json:"message"` // the problem and how to fix it
}

// Error returns the text.
func (p *Problem) Error() string { return p.Text }

// Answer answers a request with the problem. If the problem is temporary, it tells the client to retry after a
// second.
func (p *Problem) Answer(w http.ResponseWriter) {
	if p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client may have disconnected
}
