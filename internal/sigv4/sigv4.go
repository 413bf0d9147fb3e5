// Package sigv4 computes signatures of requests to services of AWS (Signature Version 4). A server compares them with
// the signatures of its clients, and a client signs its requests.
package sigv4

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The texts and the layout that signatures contain.
const (
	Algorithm  = "AWS4-HMAC-SHA256" // Algorithm is the name of the only algorithm.
	Terminator = "aws4_request"     // Terminator is the end of the scope of a key.
	Time       = "20060102T150405Z" // Time is the layout of times: ISO 8601, as short as it can be.
)

// Hash returns the hash of a body or of a canonical request, as signatures contain it.
func Hash(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// Signature returns the signature of a request: of the headers with the given names (in lower case, in order), and of
// the body with the given hash. The scope is what the key is derived for: date/region/service/[Terminator].
func Signature(r *http.Request, signed []string, bodyHash, date, scope, secret string) string {
	const size = 1024
	canonical := Hash(AppendCanonical(make([]byte, 0, size), r, signed, bodyHash))
	text := []byte(Algorithm + "\n" + date + "\n" + scope + "\n" + canonical)
	return hex.EncodeToString(keyed(signingKey(secret, scope), text))
}

// signingKey derives the key for a scope from a secret.
func signingKey(secret, scope string) []byte {
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		key = keyed(key, []byte(part))
	}
	return key
}

func keyed(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(text) // never fails
	return mac.Sum(nil)
}

// Credentials are an access key of AWS.
type Credentials struct {
	AccessKey, Secret string
	Session           string // token of a temporary key; "" for other keys
}

// Sign signs a request and its body for a service in a region, with all headers of the request. The caller must not
// change the request afterwards.
func (c *Credentials) Sign(r *http.Request, body []byte, region, service string, now time.Time) {
	date := now.UTC().Format(Time)
	r.Header.Set("X-Amz-Date", date)
	if c.Session != "" {
		r.Header.Set("X-Amz-Security-Token", c.Session)
	}
	r.Host = cmp.Or(r.Host, r.URL.Host)
	signed := []string{"host"}
	for name := range r.Header {
		signed = append(signed, strings.ToLower(name))
	}
	slices.Sort(signed)
	scope := strings.Join([]string{date[:len("20060102")], region, service, Terminator}, "/")
	r.Header.Set("Authorization", Algorithm+" Credential="+c.AccessKey+"/"+scope+
		", SignedHeaders="+strings.Join(signed, ";")+
		", Signature="+Signature(r, signed, Hash(body), date, scope, c.Secret))
}
