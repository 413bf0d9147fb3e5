package cloudevents

import (
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ebbflow/ebb/internal/jsontext"
)

// required are the attributes that every event has.
var required = []string{"specversion", "id", "source", "type"}

// core are the attributes that are not extensions, and the members that contain data.
var core = map[string]bool{
	"specversion": true, "id": true, "source": true, "type": true, "subject": true, "time": true,
	"datacontenttype": true, "dataschema": true, "data": true, "data_base64": true,
}

// checkAttribute returns an error for an attribute that CloudEvents 1.0.2 does not allow, in its JSON form.
func checkAttribute(name string, value json.RawMessage) error {
	switch {
	case name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		return invalid("the attribute %.40q: names have lower-case letters a to z and digits only", name)
	case len(name) > maxName:
		return invalid("the attribute %.20s…: names have at most %d bytes", name, maxName)
	}
	switch value[0] {
	case '"':
	case '{', '[':
		return invalid("the attribute %s must be a string, an integer or a boolean, not an object or array", name)
	case 't', 'f':
		return checkExtension(name)
	default:
		if _, err := strconv.ParseInt(string(value), 10, 32); err != nil {
			return invalid("the attribute %s must be an integer of 32 bits, found %.20s", name, value)
		}
		return checkExtension(name)
	}
	text, err := jsontext.NewReader(value).String()
	if err != nil {
		return invalid("the attribute %s: %w", name, err)
	}
	return checkText(name, text)
}

// checkExtension returns an error for an extension that is not a string although it must be one.
func checkExtension(name string) error {
	if core[name] {
		return invalid("the attribute %s must be a string", name)
	}
	return nil
}

// checkText returns an error for an attribute that is not a valid string.
func checkText(name, text string) error {
	if len(text) > maxAttribute {
		return invalid("the attribute %s has %d bytes; %d is the most", name, len(text), maxAttribute)
	}
	if i := strings.IndexFunc(text, isForbidden); i >= 0 {
		return invalid("the attribute %s has a control character, a noncharacter or half a surrogate pair at byte %d",
			name, i)
	}
	if text == "" && core[name] {
		return invalid("the attribute %s is empty", name)
	}
	var wants string
	switch name {
	case "specversion":
		if text != "1.0" {
			return invalid("the attribute specversion is %.20q; only \"1.0\" is supported", text)
		}
	case "source":
		if !isURIReference(text) {
			wants = "a URI-reference, with other characters percent-encoded"
		}
	case "dataschema":
		if u, err := url.Parse(text); err != nil || !isURIReference(text) || !u.IsAbs() {
			wants = "a URI with a scheme"
		}
	case "time":
		if !isTime(text) {
			wants = "a time of RFC 3339, such as 2006-01-02T15:04:05Z"
		}
	case "datacontenttype":
		if media, _, err := mime.ParseMediaType(text); err != nil || !strings.Contains(media, "/") {
			wants = "a media type, such as application/json"
		}
	}
	if wants != "" {
		return invalid("the attribute %s is %.40q; want %s", name, text, wants)
	}
	return nil
}

// isForbidden reports whether CloudEvents forbid the character in a string: a control character, a noncharacter, or
// the replacement of a lone surrogate. Two ids with different lone surrogates would become equal.
func isForbidden(r rune) bool {
	return r == utf8.RuneError || r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
}

// isURIReference reports whether a text is a URI-reference of RFC 3986.
func isURIReference(text string) bool {
	const others = "-._~:/?#[]@!$&'()*+,;=%"
	for i := range len(text) {
		if c := text[i]; !isAlphanumeric(c) && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	if strings.Count(text, "#") > 1 {
		return false
	}
	u, err := url.Parse(text) // checks the percent signs of all but the query
	if err != nil {
		return false
	}
	_, err = url.PathUnescape(u.RawQuery)
	return err == nil
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isTime reports whether a text is a time of RFC 3339, which may have t and z in lower case.
func isTime(text string) bool {
	var t time.Time
	return t.UnmarshalText([]byte(strings.ToUpper(text))) == nil
}

// isBase64 reports whether a JSON value is a string of base64.
func isBase64(value json.RawMessage) bool {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return false
	}
	_, err := base64.StdEncoding.Strict().DecodeString(text)
	return err == nil && !strings.ContainsAny(text, "\r\n") // the decoder would ignore line breaks
}
