package webscope_test

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/webscope"
)

// attempts are URLs, with whether a scope below https://example.org/apis/ allows them.
var attempts = map[string]bool{
	"https://example.org/apis":                            true,
	"https://example.org/apis/shop.json":                  true,
	"https://EXAMPLE.org:443/apis/a%20b/c":                true,
	"https://example.org/apis/gr%C3%B6%C3%9Fe?q=../..%2f": true,
	"https://example.org/apis/a;v=1/b":                    true,
	"https://example.org/apis//x":                         true,
	"HTTPS://example.org/apis/x#f":                        true,

	"https://example.org/apisx":                      false,
	"https://example.org/":                           false,
	"https://example.org/APIS/x":                     false,
	"http://example.org/apis/x":                      false,
	"https://example.org:8443/apis/x":                false,
	"https://example.org:/apis/x":                    false,
	"https://example.org:0443/apis/x":                false,
	"https://example.org./apis/x":                    false,
	"https://sub.example.org/apis/x":                 false,
	"https://example.org.evil.net/apis/x":            false,
	"https://u:p@example.org/apis/x":                 false,
	"https://example.org@evil.net/apis/x":            false,
	"https://example.org%2eevil.net/apis/x":          false,
	"https://ex\u0430mple.org/apis/x":                false,
	"https://example\uff0eorg/apis/x":                false,
	"https://example.org/apis/../secret":             false,
	"https://example.org/apis/./x":                   false,
	"https://example.org/apis/%2e%2e/secret":         false,
	"https://example.org/apis/%2E./secret":           false,
	"https://example.org/apis/%252e%252e/secret":     false,
	"https://example.org/apis/%25252e%25252e/secret": false,
	"https://example.org/apis/..%2fsecret":           false,
	"https://example.org/apis/..%5csecret":           false,
	`https://example.org/apis/..\secret`:             false,
	"https://example.org/apis/..;/secret":            false,
	"https://example.org/apis/..;v=1/secret":         false,
	"https://example.org/apis/..%3b/secret":          false,
	"https://example.org/apis/%c0%ae%c0%ae/secret":   false,
	"https://example.org/apis/%ef%bc%8e%ef%bc%8e/x":  false,
	"https://example.org/apis/\u2025/x":              false,
	"https://example.org/apis/.../x":                 false,
	"https://example.org/apis/..%20/x":               false,
	"https://example.org/apis/a%00":                  false,
	"https://example.org/apis/a%0d%0aX:y":            false,
	"https://example.org/apis%2fx":                   false,
	"https://example.org//apis/x":                    false,
	"https:example.org/apis/x":                       false,
	"//example.org/apis/x":                           false,
	"file:///apis/x":                                 false,
}

// Attack (Documents and URLs): URLs that decode to `..` once or twice, `..\`, `..;`, odd UTF-8, other hosts, ports and
// address forms.
// Result: Refused.
// Also: `TestAddresses`, `FuzzAllows`.
func TestAllows(t *testing.T) {
	t.Parallel()
	scope, err := webscope.Parse("https://example.org/apis/")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range attempts {
		u, err := url.Parse(text)
		if err == nil {
			err = scope.Allows(u)
		}
		if (err == nil) != want {
			t.Errorf("%s: %v; allowed is %t", text, err, want)
		}
	}
	if u, _ := url.Parse("https://other.org/apis/x"); !errors.Is(scope.Allows(u), webscope.ErrOutside) {
		t.Error("another host is not said to be elsewhere")
	}
}

// TestAddresses: an address is allowed in its usual form only, and only by itself.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow, ask string
		want       bool
	}{
		{"http://127.0.0.1/", "http://127.0.0.1:80/x", true},
		{"http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080/x", true},
		{"http://127.0.0.1/", "http://2130706433/x", false},
		{"http://127.0.0.1/", "http://0x7f000001/x", false},
		{"http://127.0.0.1/", "http://0x7f.0.0.1/x", false},
		{"http://127.0.0.1/", "http://0177.0.0.1/x", false},
		{"http://127.0.0.1/", "http://127.1/x", false},
		{"http://127.0.0.1/", "http://[::ffff:127.0.0.1]/x", false},
		{"http://[fe80::1]/", "http://[fe80::1%25eth0]/x", false},
	} {
		scope, err := webscope.Parse(c.allow)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(c.ask)
		if err != nil {
			t.Fatal(err)
		}
		if err := scope.Allows(u); (err == nil) != c.want {
			t.Errorf("%s below %s: %v; allowed is %t", c.ask, c.allow, err, c.want)
		}
	}
	for _, text := range []string{
		"", "example.org", "ftp://h/", "https://", "https://u:hunter2@h/",
		"https://h/?q=hunter2", "https://h/#x", "https://h:hunter2/", "https://h/%2e%2e/", "https://127.1/",
	} {
		if _, err := webscope.Parse(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q may be a scope, or its error tells a secret: %v", text, err)
		}
	}
}

// FuzzAllows: an allowed URL is sent to the intended host. Its path stays below the scope, however often a server
// decodes it, and whichever characters it takes for a slash, a dot or a parameter.
func FuzzAllows(f *testing.F) {
	for text := range attempts {
		f.Add(text)
	}
	scope, err := webscope.Parse("https://example.org/apis/")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil || scope.Allows(u) != nil {
			return
		}
		req := &http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}
		var wire bytes.Buffer
		if err := req.Write(&wire); err != nil {
			return // it stays inside
		}
		got, err := http.ReadRequest(bufio.NewReader(&wire))
		if err != nil {
			t.Fatalf("%q is sent as what is no request: %v", text, err)
		}
		if host, _, _ := strings.Cut(strings.ToLower(got.Host), ":"); host != "example.org" || u.Scheme != "https" ||
			req.URL.User != nil {
			t.Fatalf("%q is sent to %s", text, got.Host)
		}
		sent, _, _ := strings.Cut(got.RequestURI, "?")
		for range 4 {
			for _, seen := range []string{sent, strings.ReplaceAll(sent, `\`, "/"), withoutParameters(sent)} {
				if at := path.Clean("/" + seen); at != "/apis" && !strings.HasPrefix(at, "/apis/") {
					t.Fatalf("%q is sent as %s, which is %s to some", text, got.RequestURI, at)
				}
			}
			next, err := url.PathUnescape(sent)
			if err != nil {
				break
			}
			sent = next
		}
	})
}

func withoutParameters(sent string) string {
	parts := strings.Split(sent, "/")
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], ";")
	}
	return strings.Join(parts, "/")
}
