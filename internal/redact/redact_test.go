package redact_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/redact"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://example.org/a?page=2#top":               "https://example.org/a?page=2#top",
		"https://bob:pw@example.org/a?token=t&page=2":    "https://***@example.org/a?token=***&page=2",
		"https://sk_live_1@example.org":                  "https://***@example.org",
		"https://h/@bob?X-Amz-Signature=s&api_key=k&q=1": "https://h/@bob?X-Amz-Signature=***&api_key=***&q=1",
		"https://h/?%74oken=t;sig=s#access_token=t":      "https://h/?%74oken=***;sig=***#access_token=***",
		"postgres://u:p/w@h:5432/db?password=p&schema=s": "postgres://***@h:5432/db?password=***&schema=s",
		"postgres://u:p@ss@h/db":                         "postgres://***@h/db",
		"https://u:p w@h/":                               "https://***@h/",
		"exec:./pay.sh":                                  "exec:./pay.sh",
		"":                                               "",
	} {
		if got := redact.URL(given); got != want {
			t.Errorf("%s becomes %s; want %s", given, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`Post "https://u:hunter2@h/x": EOF`:                                       `Post "https://***@h/x": EOF`,
		`parse "https://u:hunter2 x@h": invalid character " " in host name`:       `parse "https://***@h": invalid character *** in host name`,
		`parse "http://u:hunter2/x@h": invalid port ":hunter2" after host`:        `parse "http://***@h": invalid port *** after host`,
		"host=h user=u password=hunter2 dbname=d":                                 "host=h user=u password=*** dbname=d",
		"password = 'hunter2 x' sslmode=off":                                      "password = *** sslmode=off",
		"Authorization: Bearer hunter2\nAccept: */*":                              "Authorization: ***\nAccept: */*",
		`map[Cookie:[a=hunter2] Accept:[*/*]]`:                                    `map[Cookie:[***] Accept:[*/*]]`,
		`{"X-Api-Key":"hunter2","a":1}`:                                           `{"X-Api-Key":"***","a":1}`,
		"curl: (6) bearer hunter2":                                                "curl: (6) bearer ***",
		"no bearer of news, no authorization, the password is wrong: try another": "no bearer of news, no authorization, the password is wrong: try another",
	} {
		if got := redact.Text(given); got != want {
			t.Errorf("%s becomes %s; want %s", given, got, want)
		}
	}
}

// FuzzSecret: any password is masked in the URL, in an error of package net/url, and as a parameter.
func FuzzSecret(f *testing.F) {
	for _, seed := range []string{"p", "p@q", "a/b", "a?b", "a#b", "%", "a b", `"`, "://", "\x00", "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, part string) {
		secret := "hunter2" + strings.ReplaceAll(part, "hunter2", "") + "hunter2"
		escaped := (&url.URL{Scheme: "https", Host: "h", User: url.UserPassword("u", secret), RawQuery: url.Values{"token": {
			secret,
		}}.Encode()}).String()
		for _, text := range []string{
			redact.URL(escaped), redact.Text(fmt.Sprintf("Get %q: EOF", escaped)),
			redact.Text("failed: " + escaped),
		} {
			if strings.Contains(text, "hunter2") {
				t.Errorf("%q is told by %q", secret, text)
			}
		}
		raw := "postgres://u:" + secret + "@h/db"
		if _, err := url.Parse(raw); err != nil && strings.Contains(redact.URL(raw), "hunter2") {
			t.Errorf("%q becomes %q", raw, redact.URL(raw))
		}
	})
}
