package cloudevents

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
)

// The media types of events that are wholly in the body.
const (
	structured = "application/cloudevents+json"
	batched    = "application/cloudevents-batch+json"
)

// ErrMediaType is wrapped by the error for a request that carries events in no form
// that is known.
var ErrMediaType = errors.New("cloudevents: the form is not known")

// MaxBody is how long the body of a request may be, in bytes.
const MaxBody = atom.MaxValue

// Read reads the events that a request carries: in structured mode, as a batch, or
// in binary mode, where the attributes are headers. The error wraps [ErrInvalid] or
// [ErrMediaType], or is *[http.MaxBytesError].
func Read(w http.ResponseWriter, r *http.Request) ([]Event, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err != nil {
		return nil, err
	}
	header := r.Header.Get("Content-Type")
	media := ""
	if header != "" {
		if media, _, err = mime.ParseMediaType(header); err != nil {
			return nil, fmt.Errorf("%w: Content-Type: %w", ErrMediaType, err)
		}
	}
	switch {
	case media == structured:
		e, err := Parse(body)
		return []Event{e}, err
	case media == batched:
		return ParseBatch(body)
	case strings.HasPrefix(media, "application/cloudevents"):
		return nil, fmt.Errorf("%w: %s; %s and %s are, and binary mode", ErrMediaType, media, structured, batched)
	case r.Header.Get("Ce-Specversion") == "":
		return nil, fmt.Errorf("%w: neither is the Content-Type %s, nor is there a header ce-specversion", ErrMediaType, structured)
	}
	e, err := binary(r.Header, media, header, body)
	return []Event{e}, err
}

// binary makes an event of headers and a body.
func binary(headers http.Header, media, contentType string, body []byte) (Event, error) {
	e := Event{}
	for name, values := range headers {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok {
			continue
		}
		if attribute == "data" || attribute == "data_base64" || attribute == "datacontenttype" || len(values) != 1 {
			return nil, fmt.Errorf("%w: the header %s", ErrInvalid, name)
		}
		text, err := url.PathUnescape(values[0])
		if err != nil || !utf8.ValidString(text) {
			return nil, fmt.Errorf("%w: the header %s is badly encoded", ErrInvalid, name)
		}
		e[attribute] = quote(text)
	}
	if contentType != "" {
		e["datacontenttype"] = quote(contentType)
	}
	switch isJSON := media == "" || media == "application/json" || strings.HasSuffix(media, "+json"); {
	case len(body) == 0:
	case isJSON && json.Valid(body):
		e["data"] = body
	case isJSON:
		return nil, fmt.Errorf("%w: the data is said to be JSON, and is not", ErrInvalid)
	case strings.HasPrefix(media, "text/") && utf8.Valid(body):
		e["data"] = quote(string(body))
	default:
		e["data_base64"] = quote(base64.StdEncoding.EncodeToString(body))
	}
	return e, e.check()
}

func quote(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil {
		return nil // a text can always be written
	}
	return out
}
