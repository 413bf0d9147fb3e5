package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// maxNesting is how deep arrays and objects nest in a body.
//
//limit:http nesting of JSON | {} | 400
const maxNesting = 500

// DecodeBody decodes a body in JSON, which may be empty. It refuses members that are not known, as a misspelled
// "result" would be a result of null, and members that are there twice: programs differ in which one counts. Its error
// is a [*Problem].
func DecodeBody(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	invalid := func(format string, args ...any) error {
		return &Problem{http.StatusBadRequest, "invalid", fmt.Sprintf(format, args...)}
	}
	switch {
	case !utf8.Valid(body):
		return invalid("the body is not UTF-8")
	case !json.Valid(body):
		return invalid("the body is not valid: %v", json.Unmarshal(body, new(json.RawMessage)))
	case jsontext.Depth(body) > maxNesting:
		return invalid("arrays and objects nest at most %d deep", maxNesting)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalid("the body is not valid: %v", err)
	}
	if string(bytes.TrimSpace(body)) == "null" {
		return nil
	}
	seen := map[string]bool{}
	r := jsontext.NewReader(body)
	return r.Members(func(name string) error {
		r.Skip()
		name = strings.ToLower(name) // as the decoder compares names
		if seen[name] {
			return invalid("the body has %s twice", name)
		}
		seen[name] = true
		return nil
	})
}
