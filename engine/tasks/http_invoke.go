package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/asl/teststate"
	"github.com/ebbflow/ebb/internal/redact"
)

// httpInvoke is the resource of AWS's HTTP tasks.
const httpInvoke = "arn:aws:states:::http:invoke"

// A request is the body of an HTTP task. Its input names the endpoint and the request. It ignores the connection that
// AWS demands for authentication: headers identify the caller.
type request struct {
	client *http.Client
	allow  func(*url.URL) error // nil allows all URLs
}

// asking is the input of an HTTP task, by AWS's names.
type asking struct {
	Endpoint        string                     `json:"ApiEndpoint"`
	Method          string                     `json:"Method"`
	Headers         map[string]json.RawMessage `json:"Headers"` // each a text, a number, true or false, or several
	QueryParameters map[string]json.RawMessage `json:"QueryParameters"`
	RequestBody     json.RawMessage            `json:"RequestBody"`
	Transform       struct {
		RequestBodyEncoding    string `json:"RequestBodyEncoding"`
		RequestEncodingOptions struct {
			ArrayFormat string `json:"ArrayFormat"`
		} `json:"RequestEncodingOptions"`
	} `json:"Transform"`
}

// answered is the result of an HTTP task.
type answered struct {
	ResponseBody any                 `json:"ResponseBody"`
	Headers      map[string][]string `json:"Headers"`
	StatusCode   int                 `json:"StatusCode"`
	StatusText   string              `json:"StatusText"`
}

// Execute sends the request.
func (r request) Execute(ctx context.Context, in atom.Values) (atom.Value, error) {
	return r.ask(ctx, in, atom.IdempotencyKey(ctx))
}

// Revert sends the request under the revert's own idempotency key.
func (r request) Revert(ctx context.Context, in atom.Values, _ atom.Outcome[atom.Value]) (atom.Value, error) {
	return r.ask(ctx, in, atom.RevertKey(ctx))
}

// Reverts reports that Revert has an effect.
func (request) Reverts() bool { return true }

func (r request) ask(ctx context.Context, in atom.Values, key string) (atom.Value, error) {
	var a asking
	if err := json.Unmarshal(argument(in).JSON(), &a); err != nil {
		return nil, atom.Errorf("States.Runtime", "the Parameters or Arguments of an HTTP task: %w", err)
	}
	req, err := a.request(ctx)
	if err != nil {
		return nil, atom.Errorf("States.Runtime", "%w", err)
	}
	if req.Header.Get("Idempotency-Key") == "" {
		req.Header.Set("Idempotency-Key", key)
	}
	exchange := teststate.ExchangeIn(ctx)
	sent(exchange, req)
	answer, err := r.do(req)
	if refused, ok := errors.AsType[*atom.Failure](err); ok {
		return nil, refused
	}
	if err != nil {
		if err = broken(ctx, err); ctx.Err() == nil {
			err = atom.Errorf("States."+CodeSocket, "%s", atom.NewFailure("", 0, err).Message)
		}
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // everything needed was read
	body, err := io.ReadAll(io.LimitReader(answer.Body, atom.MaxValue+1))
	received(exchange, answer, body)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, atom.Errorf("States."+CodeSocket, "%w", err)
	case answer.StatusCode < 200 || answer.StatusCode > 299:
		return nil, atom.Errorf("States.Http.StatusCode."+strconv.Itoa(answer.StatusCode), "%s", begin(bytes.TrimSpace(body),
			maxCause))
	case len(body) > atom.MaxValue:
		return nil, atom.Errorf(atom.CodeTooLarge, "the answer of %s is larger than %d bytes", redact.URL(a.Endpoint),
			atom.MaxValue)
	}
	out := answered{Headers: answer.Header, StatusCode: answer.StatusCode, StatusText: http.StatusText(answer.StatusCode)}
	if out.ResponseBody = string(body); json.Valid(body) && strings.Contains(answer.Header.Get("Content-Type"), "json") {
		out.ResponseBody = json.RawMessage(body)
	}
	return atom.Encode(out)
}

// do makes a request, if it is allowed, and follows redirects that are allowed.
func (r request) do(req *http.Request) (*http.Response, error) {
	if r.allow == nil {
		return r.client.Do(req) //nolint:gosec // the operator's own definition names the URL
	}
	check := func(u *url.URL) error {
		if err := r.allow(u); err != nil {
			return &atom.Failure{
				Code:    "States.Permissions",
				Message: fmt.Sprintf("%s must not be called: %v", redact.URL(u.String()), err),
			}
		}
		return nil
	}
	if err := check(req.URL); err != nil {
		return nil, err
	}
	client := *r.client
	client.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		if err := check(to.URL); err != nil {
			return err
		}
		if r.client.CheckRedirect != nil {
			return r.client.CheckRedirect(to, via)
		}
		return nil
	}
	return client.Do(req) //nolint:gosec // allow has checked the URL, and checks those of redirects
}

// request builds the request.
func (a *asking) request(ctx context.Context) (*http.Request, error) {
	u, err := url.Parse(a.Endpoint)
	switch {
	case a.Endpoint == "" || a.Method == "":
		return nil, errors.New("an HTTP task needs ApiEndpoint and Method")
	case err != nil:
		return nil, fmt.Errorf("the ApiEndpoint %s is not a valid URL", redact.URL(a.Endpoint))
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("the ApiEndpoint %s is no URL such as https://example.org/book", redact.URL(a.Endpoint))
	}
	query := u.Query()
	for name, value := range a.QueryParameters {
		query[name] = texts(value)
	}
	u.RawQuery = query.Encode()
	body, kind, err := a.body()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, a.Method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for name, value := range a.Headers {
		req.Header[http.CanonicalHeaderKey(name)] = texts(value)
	}
	return req, nil
}

// body returns the request's body and its type.
func (a *asking) body() (body io.Reader, kind string, err error) {
	if a.RequestBody == nil {
		return http.NoBody, "", nil
	}
	if a.Transform.RequestBodyEncoding != "URL_ENCODED" {
		return bytes.NewReader(a.RequestBody), "application/json", nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(a.RequestBody, &object); err != nil {
		return nil, "", errors.New("a RequestBody that is to be URL_ENCODED must be an object")
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		pairs = append(pairs, encoded(name, object[name], a.Transform.RequestEncodingOptions.ArrayFormat)...)
	}
	return strings.NewReader(strings.Join(pairs, "&")), "application/x-www-form-urlencoded", nil
}

// encoded returns a member of a form. Arrays are written as the format says.
func encoded(name string, value json.RawMessage, format string) []string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || list == nil {
		return []string{url.QueryEscape(name) + "=" + url.QueryEscape(text(value))}
	}
	var pairs []string
	for i, element := range list {
		key := url.QueryEscape(name)
		switch format {
		case "BRACKETS":
			key += "[]"
		case "COMMAS":
			if i > 0 {
				pairs[0] += "," + url.QueryEscape(text(element))
				continue
			}
		case "REPEAT":
		default: // INDICES
			key += "[" + strconv.Itoa(i) + "]"
		}
		pairs = append(pairs, key+"="+url.QueryEscape(text(element)))
	}
	return pairs
}

// texts returns the values of a header or query parameter.
func texts(value json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || list == nil {
		return []string{text(value)}
	}
	out := make([]string, len(list))
	for i, element := range list {
		out[i] = text(element)
	}
	return out
}

// text returns a text unchanged, and any other value as JSON.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}
