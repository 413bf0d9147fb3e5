package cloudevents

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/atom"
)

// The media types of events that are wholly in the body.
const (
	structured = "application/cloudevents+json"
	batched    = "application/cloudevents-batch+json"
)

// ErrMediaType is wrapped by the error for a request whose form of events is unknown.
var ErrMediaType = errors.New("cloudevents: the form is not known")

// maxBody is the maximum size of a request body in bytes.
const maxBody = atom.MaxValue

// Read decodes the events of a request: in structured mode, as a batch, or in binary mode, where the attributes are
// headers. It checks each event by CloudEvents 1.0.2. The error wraps [ErrInvalid] or [ErrMediaType], or is
// *[http.MaxBytesError]. If the body does not arrive in time, the error is [os.ErrDeadlineExceeded].
func Read(w http.ResponseWriter, r *http.Request) ([]Event, error) {
	media, header, err := mediaOf(r.Header)
	if err != nil {
		return nil, err
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	var e Event
	switch media {
	case structured:
		e, err = Parse(body)
	case batched:
		return parseBatch(body)
	default:
		e, err = binary(r.Header, media, header, body)
	}
	if err != nil {
		return nil, err
	}
	return []Event{e}, nil
}

// mediaOf returns the media type of a request in a known form, and its header.
func mediaOf(headers http.Header) (media, header string, err error) {
	unknown := func(format string, args ...any) (string, string, error) {
		return "", "", fmt.Errorf("%w: %w", ErrMediaType, fmt.Errorf(format, args...))
	}
	if coding := strings.Join(headers.Values("Content-Encoding"), ", "); coding != "" &&
		!strings.EqualFold(coding, "identity") {
		return unknown("Content-Encoding %.40q: send the body as it is", coding)
	}
	types := headers.Values("Content-Type")
	if len(types) > 1 {
		return unknown("there are %d headers Content-Type", len(types))
	}
	var params map[string]string
	if header = strings.Join(types, ""); header != "" {
		if media, params, err = mime.ParseMediaType(header); err != nil {
			return unknown("Content-Type: %w", err)
		}
	}
	switch {
	case media == structured, media == batched:
		if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
			return unknown("charset %.40q: events in JSON are UTF-8", charset)
		}
	case strings.HasPrefix(media, "application/cloudevents"):
		return unknown("%.60s; use %s, %s or binary mode", media, structured, batched)
	case headers.Get("Ce-Specversion") == "":
		return unknown("neither is the Content-Type %s, nor is there a header ce-specversion", structured)
	}
	return media, header, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch {
	case err == nil, errors.As(err, new(*http.MaxBytesError)),
		errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return body, err
	}
	return nil, invalid("the body: %w", err) // cut off, or the chunks are wrong
}

// binary builds an event from headers and a body.
func binary(headers http.Header, media, contentType string, body []byte) (Event, error) {
	e := Event{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		attribute, ok := strings.CutPrefix(strings.ToLower(name), "ce-")
		if !ok {
			continue
		}
		if len(e) == maxAttributes {
			return nil, invalid("an event has at most %d attributes", maxAttributes)
		}
		switch {
		case attribute == "data" || attribute == "data_base64" || attribute == "datacontenttype":
			return nil, invalid("the header %s: that is not sent as a header", name)
		case len(headers[name]) != 1:
			return nil, invalid("the header %.40s is there %d times", name, len(headers[name]))
		}
		text, err := url.PathUnescape(unquote(headers[name][0]))
		if err != nil || !utf8.ValidString(text) {
			return nil, invalid("the header %.40s is not percent-encoded UTF-8", name)
		}
		e[attribute] = quote(text)
	}
	if contentType != "" {
		e["datacontenttype"] = quote(contentType)
	}
	switch isJSON := media == "" || media == "application/json" || strings.HasSuffix(media, "+json"); {
	case len(body) == 0:
	case isJSON:
		if err := checkJSON(body, maxNesting-1); err != nil {
			return nil, fmt.Errorf("%w, which the Content-Type says the data is", err)
		}
		e["data"] = body
	case strings.HasPrefix(media, "text/") && utf8.Valid(body):
		e["data"] = quote(string(body))
	default:
		e["data_base64"] = quote(base64.StdEncoding.EncodeToString(body))
	}
	return e, e.check()
}

// unquote decodes a quoted string of a header, and returns other texts unchanged.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i+1 < len(text)-1 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func quote(text string) json.RawMessage {
	out, err := json.Marshal(text)
	if err != nil {
		return nil // encoding a string cannot fail
	}
	return out
}
