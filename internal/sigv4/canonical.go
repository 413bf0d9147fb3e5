package sigv4

import (
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// AppendCanonical appends the form of a request that both sides sign: the same whatever proxies and libraries do to
// spelling. See "Create a signed AWS API request" in the User Guide of AWS IAM.
func AppendCanonical(b []byte, r *http.Request, signed []string, bodyHash string) []byte {
	b = append(b, r.Method...)
	b = append(b, '\n')
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	b = appendEscaped(b, path, '/') // of the path as it was sent, so escapes are escaped again
	b = append(b, '\n')
	b = append(b, canonicalQuery(r.URL.RawQuery)...)
	b = append(b, '\n')
	for _, name := range signed {
		b = append(b, name...)
		b = append(b, ':')
		b = appendHeader(b, r, name)
		b = append(b, '\n')
	}
	b = append(b, '\n')
	for i, name := range signed {
		if i > 0 {
			b = append(b, ';')
		}
		b = append(b, name...)
	}
	b = append(b, '\n')
	return append(b, bodyHash...)
}

// appendHeader appends the values of a header, without insignificant spaces. Package net/http stores two headers
// elsewhere.
func appendHeader(b []byte, r *http.Request, name string) []byte {
	switch name {
	case "host":
		return append(b, r.Host...)
	case "content-length":
		return strconv.AppendInt(b, r.ContentLength, 10)
	}
	for i, value := range r.Header[textproto.CanonicalMIMEHeaderKey(name)] {
		if i > 0 {
			b = append(b, ',')
		}
		for j, word := range strings.Fields(value) {
			if j > 0 {
				b = append(b, ' ')
			}
			b = append(b, word...)
		}
	}
	return b
}

// canonicalQuery returns the parameters of a query in order, with all possible characters escaped.
func canonicalQuery(query string) string {
	if query == "" {
		return ""
	}
	type parameter struct{ name, value string }
	var all []parameter
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		all = append(all, parameter{reescaped(name), reescaped(value)})
	}
	slices.SortFunc(all, func(a, b parameter) int {
		if order := strings.Compare(a.name, b.name); order != 0 {
			return order
		}
		return strings.Compare(a.value, b.value)
	})
	var text strings.Builder
	for i, p := range all {
		if i > 0 {
			text.WriteByte('&')
		}
		text.WriteString(p.name + "=" + p.value)
	}
	return text.String()
}

// reescaped returns a part of a URL with all possible characters escaped.
func reescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return string(appendEscaped(nil, text, '-'))
}

// appendEscaped appends a text for a URL. It keeps a-z, A-Z, 0-9, "-", "_", ".", "~" and one more character.
func appendEscaped(b []byte, text string, keep byte) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.~", c) >= 0, c == keep:
			b = append(b, c)
		default:
			b = append(b, '%', digits[c>>4], digits[c&0xf])
		}
	}
	return b
}
