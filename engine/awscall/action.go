package awscall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/webclient"
)

// codeParameters is the code of the failure of parameters that do not fit the service.
const codeParameters = "States.Runtime"

// An action is the body of a task.
type action struct {
	*Caller
	*integration

	of            *service
	own           http.Handler // nil if the endpoint has the service
	input, output *shape       // nil if there is none
}

// Execute calls the service.
func (a *action) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return a.call(ctx, in, atom.IdempotencyKey(ctx))
}

// Revert calls the service under the revert's own idempotency key.
func (a *action) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return a.call(ctx, in, atom.RevertKey(ctx))
}

// Reverts reports that Revert has an effect.
func (*action) Reverts() bool { return true }

func (a *action) call(ctx context.Context, in atom.Values, key string) (atom.Value, error) {
	given := in.Input()
	if given == nil {
		given = in.Object()
	}
	parameters, err := decoded(given.JSON())
	if err != nil {
		return nil, a.misfit(given, err)
	}
	w := writer{action: a, token: uuid.NewSHA1(uuid.NameSpaceURL, []byte(key)).String()}
	body, err := w.body(parameters)
	if err != nil {
		return nil, a.misfit(given, err)
	}
	r, err := a.request(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("awscall: %w", err)
	}
	answer, err := a.do(r, body)
	if err != nil {
		return nil, a.broken(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // everything needed was read
	text, err := io.ReadAll(io.LimitReader(answer.Body, atom.MaxValue+1))
	switch {
	case err != nil:
		return nil, a.broken(ctx, err)
	case len(text) > atom.MaxValue:
		return nil, atom.Errorf(atom.CodeTooLarge, "the answer of %s is larger than %d bytes", a.service, atom.MaxValue)
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return nil, a.refused(answer, text)
	}
	return a.result(answer, text)
}

// decoded returns JSON as a tree with numbers as [json.Number].
func decoded(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	err := d.Decode(&tree)
	return tree, err
}

// misfit returns the failure of parameters that do not fit the service.
func (a *action) misfit(given atom.Value, err error) error {
	what := "Parameters"
	const shown = 1000
	text := given.String()
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return atom.Errorf(codeParameters, "The %s '%s' could not be used to start the Task: [%w]", what, text, err)
}

// broken returns the failure of a request without a complete answer: the context's own failure if it has ended.
func (a *action) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the URL is the operator's
	}
	return atom.Errorf(a.errorPrefix(a.of)+codeClient, "Unable to execute HTTP request: %w", err)
}

// request returns the request with a body, without a signature.
func (a *action) request(ctx context.Context, body []byte) (*http.Request, error) {
	to := &url.URL{Scheme: "http", Host: "localhost", Path: "/"}
	if a.own == nil {
		to = a.Endpoint.JoinPath("/")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if a.of.protocol == "query" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	} else {
		r.Header.Set("Content-Type", "application/x-amz-json-"+a.of.jsonVersion)
		r.Header.Set("X-Amz-Target", a.of.target+"."+upperFirst(a.action))
	}
	if trace := atom.CurrentCall(ctx).Trace; trace != "" {
		r.Header.Set("Traceparent", trace)
	}
	return r, nil
}

// do makes a request.
func (a *action) do(r *http.Request, body []byte) (*http.Response, error) {
	if a.own != nil {
		return ownAnswer(a.own, r), nil
	}
	a.Credentials.Sign(r, body, a.Region, a.of.signing, time.Now())
	from := a.Client
	if from == nil {
		from = webclient.Default()
	}
	client := *from
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client.Do(r)
}

// ownAnswer returns the answer of a handler of this process.
func ownAnswer(h http.Handler, r *http.Request) *http.Response {
	w := &recorder{Response: http.Response{StatusCode: http.StatusOK, Header: http.Header{}}}
	r.RequestURI = r.URL.RequestURI()
	h.ServeHTTP(w, r)
	w.Body = io.NopCloser(&w.body)
	return &w.Response
}

// A recorder keeps an answer.
type recorder struct {
	http.Response

	body bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.Response.Header }

func (w *recorder) WriteHeader(status int) { w.StatusCode = status }

func (w *recorder) Write(text []byte) (int, error) { return w.body.Write(text) }
