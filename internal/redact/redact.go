// Package redact masks the secrets in URLs, data source names and headers when such a text comes in. Errors, logs and
// pages contain only the masked form. What a definition or a task declares to be secret, storage.Secrets masks.
//
//	redact.URL("https://bob:pw@example.org/a?token=t&page=2") // https://***@example.org/a?token=***&page=2
//	redact.Text(err.Error())                                  // the same for all URLs and secrets within a text
//
// Ebb cannot recognize a secret in the path of a URL. Put it into a header.
package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Mask replaces a secret.
const Mask = "***"

// URL masks the user and password in a text that is one URL. It also masks the values of parameters whose names suggest
// a secret. The URL need not be valid. All other text stays unchanged.
func URL(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text
	}
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if _, err := url.Parse(text); err != nil { // the password may contain a slash, so it may reach further
		at = strings.LastIndexByte(rest, '@')
	}
	if at >= 0 && rest[:at] != placeholder {
		rest = Mask + rest[at:]
	}
	path, parameters, found := cutAny(rest, "?#")
	if !found {
		return scheme + "://" + rest
	}
	return scheme + "://" + path + maskParameters(parameters)
}

// placeholder is the user and password in an example of a URL.
const placeholder = "USER:PASSWORD"

// cutAny cuts a text before the first of some characters.
func cutAny(text, chars string) (before, after string, found bool) {
	i := strings.IndexAny(text, chars)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i:], true
}

// maskParameters masks values in a query and a fragment.
func maskParameters(text string) string {
	var b strings.Builder
	for text != "" {
		b.WriteByte(text[0]) // separator before the parameter
		pair, rest, _ := cutAny(text[1:], "&;?#")
		name, value, _ := strings.Cut(pair, "=")
		b.WriteString(name)
		switch {
		case value != "" && isSecret(name):
			b.WriteString("=" + Mask)
		case len(name) < len(pair):
			b.WriteString("=" + value)
		}
		text = rest
	}
	return b.String()
}

// secretParts are parts of the names of parameters and headers that contain secrets. secretNames are whole names.
var (
	secretParts = []string{
		"token", "secret", "passw", "passphrase", "pwd", "auth", "credential", "signature", "apikey",
		"accesskey", "session", "cookie", "jwt",
	}
	secretNames = []string{"key", "sig", "pass", "code", "assertion", "sslkey"}
)

// isSecret reports whether a name suggests a secret.
func isSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
	return slices.Contains(secretNames, name) || slices.ContainsFunc(secretParts, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// Header reports whether the values of a header are secrets, such as those of Authorization, Cookie and X-Api-Key.
func Header(name string) bool { return isSecret(name) }

var (
	// quotedURL and bareURL find URLs in a text. A URL within quotes may contain blanks.
	quotedURL = regexp.MustCompile(`"[A-Za-z][A-Za-z0-9+.-]*://(?:[^"\\]|\\.)*"`)
	bareURL   = regexp.MustCompile("[A-Za-z][A-Za-z0-9+.-]*://[^\\s\"'<>`\\\\]+")
	// setting finds the password in a data source name of keys and values.
	setting = regexp.MustCompile(
		`(?i)\b((?:ssl)?password|passwd|pwd)(\s*=\s*)('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s&;,'"]+)`)
	// header finds the lines of such headers, and their form in a list.
	header = regexp.MustCompile(
		`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-(?:[a-z]+-)*(?:key|token|secret))("?\s*:\s*\[?"?)[^\r\n"\]]+`)
	bearer = regexp.MustCompile(`(?i)\b(bearer )[A-Za-z0-9._~+/=-]*[0-9][A-Za-z0-9._~+/=-]*`)
	// port finds what package net/url reports of a password that was not escaped.
	port = regexp.MustCompile(`(invalid (?:port|URL escape|userinfo|character) )("(?:[^"\\]|\\.)*")`)
)

// Text masks the secrets of all URLs, data source names and headers in a text.
func Text(text string) string {
	if strings.Contains(text, "://") {
		text = quotedURL.ReplaceAllStringFunc(text, func(quoted string) string {
			return `"` + URL(quoted[1:len(quoted)-1]) +
				`"`
		})
		text = bareURL.ReplaceAllStringFunc(text, URL)
		text = port.ReplaceAllString(text, "${1}"+Mask)
	}
	if !strings.ContainsAny(text, "=:") && !strings.Contains(text, " ") {
		return text
	}
	text = setting.ReplaceAllString(text, "${1}${2}"+Mask)
	text = header.ReplaceAllString(text, "${1}${2}"+Mask)
	return bearer.ReplaceAllString(text, "${1}"+Mask)
}
