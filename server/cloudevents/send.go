package cloudevents

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/internal/redact"
	"github.com/ebbflow/ebb/internal/webclient"
	"github.com/ebbflow/ebb/storage"
)

// Sender sends the events in the outbox to the URL of a sink, in binary mode: attributes are headers, the data is
// the body. If the sink does not answer with 2xx, the engine retries the event, and finally parks it, see
// [engine.Engine.Dispatch]. An event has the same id each time. If the target of a message is itself a URL, the
// message goes there. A nil client means a client that follows up to three redirects and accepts 64 KiB of headers.
func Sender(client *http.Client, sink string) engine.Sender {
	if client == nil {
		client = webclient.Default()
	}
	return func(ctx context.Context, out storage.Outgoing) error {
		text := out.Body.JSON()
		if !json.Valid(text) {
			return invalid("the message is not JSON")
		}
		e, err := decode(text) // the sink decides whether the event is valid
		if err != nil {
			return err
		}
		to := sink
		if u, err := url.Parse(out.Target); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			to = out.Target
		}
		req, err := e.request(ctx, to)
		if err != nil {
			return err
		}
		answer, err := client.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }() // the body was read as far as needed
		if answer.StatusCode < 200 || answer.StatusCode > 299 {
			_, _ = io.CopyN(io.Discard, answer.Body, 1<<16) // so that the connection can be reused
			return fmt.Errorf("cloudevents: %s answers %s", redact.URL(to), answer.Status)
		}
		return nil
	}
}

// request returns the event as a request in binary mode.
func (e Event) request(ctx context.Context, to string) (*http.Request, error) {
	body, contentType := []byte(e["data"]), "application/json"
	if said := e.Attribute("datacontenttype"); said != "" {
		contentType = said
	}
	var text string
	switch {
	case e["data_base64"] != nil:
		var err error
		if body, err = base64.StdEncoding.DecodeString(e.Attribute("data_base64")); err != nil {
			return nil, fmt.Errorf("%w: data_base64: %w", ErrInvalid, err)
		}
	case strings.HasPrefix(contentType, "text/") && json.Unmarshal(e["data"], &text) == nil:
		body = []byte(text)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", contentType)
	}
	for name, value := range e {
		if name == "data" || name == "data_base64" || name == "datacontenttype" {
			continue
		}
		text := string(value) // a number or a boolean
		if strings.HasPrefix(text, `"`) {
			text = e.Attribute(name)
		}
		req.Header.Set("Ce-"+name, escape(text))
	}
	return req, nil
}

// escape encodes an attribute for a header: it percent-encodes spaces, double quotes, percent signs and all
// characters that are not printable ASCII.
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '"' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
