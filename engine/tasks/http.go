package tasks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/webclient"
)

// A server is the body of an http: or https: task.
type server struct {
	url    string
	shown  string // the URL without its secrets, for errors
	client *http.Client
}

func (r *Registry) server(resource string) (atom.Body, error) {
	u, err := url.Parse(resource)
	if err != nil {
		return nil, fmt.Errorf("tasks: %s is not a valid URL: escape special characters in it", redact.URL(resource))
	}
	if u.Host == "" {
		return nil, fmt.Errorf("tasks: %s names no host (such as https://example.org/book)", redact.URL(resource))
	}
	return &server{url: resource, shown: redact.URL(resource), client: r.http()}, nil
}

// http returns the client for servers.
func (r *Registry) http() *http.Client {
	if r.Client == nil {
		return webclient.Default()
	}
	return r.Client
}

// Execute sends the request.
func (s *server) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return s.post(ctx, in, atom.IdempotencyKey(ctx))
}

// Revert sends the request under the revert's own idempotency key.
func (s *server) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return s.post(ctx, in, atom.RevertKey(ctx))
}

// Reverts reports that Revert has an effect.
func (s *server) Reverts() bool { return true }

// post sends the input. key belongs to the request: the undo of a booking is another request than the booking, so a
// server must not treat it as a repetition.
func (s *server) post(ctx context.Context, in atom.Values, key string) (atom.Value, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(argument(in).JSON()))
	if err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	call := atom.CurrentCall(ctx)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("Ebb-Run", url.PathEscape(call.Run))
	req.Header.Set("Ebb-Path", url.PathEscape(call.Path))
	req.Header.Set("Ebb-Attempt", strconv.Itoa(call.Attempt))
	if call.Trace != "" {
		req.Header.Set("Traceparent", call.Trace)
	}
	answer, err := s.client.Do(req)
	if err != nil {
		return nil, broken(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // everything needed was read
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, maxCause+1)) // the part that came is still useful
		return nil, atom.Errorf("Http.StatusCode."+strconv.Itoa(answer.StatusCode), "%s", begin(bytes.TrimSpace(body),
			maxCause))
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, atom.MaxValue+1))
	if err != nil {
		return nil, broken(ctx, err)
	}
	if len(body) > atom.MaxValue {
		return nil, atom.Errorf(atom.CodeTooLarge, "the answer of %s is larger than %d bytes", s.shown, atom.MaxValue)
	}
	return result(body, "the answer of "+s.shown)
}

// broken returns the failure of a request without a complete answer: the context's own failure if it has ended.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the reader of the failure knows the method and URL
	}
	if strings.Contains(err.Error(), "Location header") { // whose text it has, and parts of that
		return atom.Errorf(CodeSocket, "the server redirects to what is not a valid URL")
	}
	return atom.Errorf(CodeSocket, "%w", err)
}
