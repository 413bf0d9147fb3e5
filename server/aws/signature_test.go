package aws

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ebbflow/ebb/internal/sigv4"
)

// The credentials and the time of AWS's examples.
const (
	exampleKey    = "AKIDEXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	exampleDate   = "20150830T123600Z"
)

// TestPublishedSignatures verifies requests that AWS published with their signatures: its test suite for Signature
// Version 4, and the request of its User Guide.
//
// Guarantee (AWS's protocol): Requests that AWS published with signatures are accepted, and refused with another body.
func TestPublishedSignatures(t *testing.T) {
	t.Parallel()
	const service, iam = "20150830/us-east-1/service/aws4_request", "20150830/us-east-1/iam/aws4_request"
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, c := range map[string]struct {
		method, url string
		header      http.Header
		body, scope string
		signed      string
		signature   string
	}{
		"get-vanilla": {
			"GET", "/", nil, "", service, "host;x-amz-date",
			"5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		},
		"post-vanilla": {
			"POST", "/", nil, "", service, "host;x-amz-date",
			"5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
		},
		"get-vanilla-query-order-key-case": {
			"GET", "/?Param2=value2&Param1=value1", nil, "", service, "host;x-amz-date",
			"b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
		},
		"get-header-key-duplicate": {
			"GET", "/",
			http.Header{"My-Header1": {"value2", "value2", "value1"}},
			"", service, "host;my-header1;x-amz-date",
			"c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
		},
		"get-header-value-trim": {
			"GET", "/",
			http.Header{"My-Header1": {" value1"}, "My-Header2": {` "a   b   c"`}},
			"", service,
			"host;my-header1;my-header2;x-amz-date",
			"acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
		},
		"post-x-www-form-urlencoded": {
			"POST", "/", form, "Param1=value1", service, "content-type;host;x-amz-date",
			"ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
		},
		"User Guide": {
			"GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
			http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}},
			"", iam,
			"content-type;host;x-amz-date", "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
		},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.url, strings.NewReader(c.body))
		maps.Copy(r.Header, c.header)
		if r.URL.Host == "" {
			r.Host = "example.amazonaws.com"
		}
		r.Header.Set("X-Amz-Date", exampleDate)
		is := claim{secret: exampleSecret, scope: c.scope, date: exampleDate, signed: strings.Split(c.signed, ";"), signature: c.signature}
		if err := is.verify(r, []byte(c.body)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, sigv4.AppendCanonical(nil, r, is.signed, sigv4.Hash([]byte(c.body))))
		}
		if is.verify(r, []byte(c.body+" ")) == nil {
			t.Errorf("%s: the signature is valid for another body", name)
		}
	}
}

// A signer signs requests as an SDK does, with code of its own.
type signer struct {
	key, secret, region, service string
	names                        []string // of the headers to sign, in order
	at                           time.Time
}

func (s signer) sign(r *http.Request, body string) {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	mac := func(key, text string) string {
		m := hmac.New(sha256.New, []byte(key))
		_, _ = m.Write([]byte(text))
		return string(m.Sum(nil))
	}
	date := s.at.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", date)
	headers := ""
	for _, name := range s.names {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		headers += name + ":" + value + "\n"
	}
	signed := strings.Join(s.names, ";")
	canonical := strings.Join([]string{"POST", "/", r.URL.Query().Encode(), headers, signed, hash(body)}, "\n")
	scope := strings.Join([]string{date[:8], s.region, s.service, "aws4_request"}, "/")
	key := mac(mac(mac(mac("AWS4"+s.secret, date[:8]), s.region), s.service), "aws4_request")
	signature := hex.EncodeToString([]byte(mac(key, strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hash(canonical)}, "\n"))))
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", s.key, scope, signed, signature))
}

// signing returns a handler that requires signatures, and a signer with its key.
func signing() (http.Handler, signer) {
	h := New(Options{Region: "eu-north-1"},
		&Service{Name: "states", Target: "T", Operations: map[string]Operation{"Create": Op(createShape, created)}})
	h.RequireSignatures(func(key string) (string, bool) { return exampleSecret, key == exampleKey })
	names := []string{"content-length", "content-type", "host", "x-amz-date", "x-amz-target"}
	return h, signer{exampleKey, exampleSecret, "eu-north-1", "states", names, time.Now()}
}

func created(_ context.Context, caller *Caller, _ *create) (*map[string]string, error) {
	return &map[string]string{"by": caller.AccessKey}, nil
}

const createBody = `{"name":"a","definition":"{}"}`

func request(ctx context.Context, body string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://sync-localhost:8083/", strings.NewReader(body))
	r.Header.Set("Content-Type", json10)
	r.Header.Set("X-Amz-Target", "T.Create")
	return r
}

// TestSignatures sends requests with signatures that are right, missing, unknown, expired, wrong and incomplete.
//
// Attack (AWS clients): Signatures that are missing, in the query, incomplete, expired, for another region, service,
// operation, host, query or body, or by another secret.
// Result: Refused as AWS does. Without a valid key ID, date and scope, the body is not read.
// Also: `TestBodyOfAnother`, `FuzzAuthorization`.
func TestSignatures(t *testing.T) {
	t.Parallel()
	const mismatch = "The request signature we calculated does not match the signature you provided. " +
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	query := func(text string) func(*http.Request) { return func(r *http.Request) { r.URL.RawQuery = text } }
	replace := func(old, with string) func(*http.Request) {
		return func(r *http.Request) {
			header := strings.ReplaceAll(r.Header.Get("Authorization"), old, with)
			r.Header.Set("Authorization", header)
		}
	}
	for name, c := range map[string]struct {
		before func(*signer)
		after  func(*http.Request)
		code   string // "" means it is accepted
		says   string // its beginning
	}{
		"right":                {nil, nil, "", ""},
		"query":                {nil, query(""), "", ""},
		"other headers":        {nil, header("User-Agent", "x"), "", ""},
		"session token":        {nil, header("X-Amz-Security-Token", "x"), "", ""},
		"no spaces":            {nil, replace(", ", ","), "", ""},
		"content not signed":   {func(s *signer) { s.names = s.names[2:] }, nil, "", ""}, // as the SDK for PHP
		"hash":                 {nil, header("X-Amz-Content-Sha256", sigv4.Hash([]byte(createBody))), "", ""},
		"clock at the bound":   {func(s *signer) { s.at = s.at.Add(-MaxSkew) }, nil, "", ""},
		"fast clock, as bound": {func(s *signer) { s.at = s.at.Add(MaxSkew) }, nil, "", ""},

		"no signature": {nil, func(r *http.Request) { r.Header.Del("Authorization") }, codeMissingToken, "Missing Authentication Token"},
		"in the query": {nil, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d"
		}, codeMissingToken, "Missing Authentication Token"},
		"twice": {nil, query("X-Amz-Algorithm=x"), codeInvalid, "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."},
		"bearer": {nil, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+exampleSecret)
			r.Header.Del("X-Amz-Date")
		}, codeIncomplete, "Authorization header requires 'Credential' parameter. Authorization header requires 'Signature' parameter. " +
			"Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. " +
			"(Hashed with SHA-256 and encoded with Base64) Authorization="},
		"no equal sign":  {nil, replace("Signature=", "Signature"), codeIncomplete, "'Signature"},
		"empty part":     {nil, replace("Credential="+exampleKey, "Credential=,"+exampleKey+"="), codeIncomplete, "Authorization header requires 'Credential' parameter. (Hashed"},
		"odd date":       {nil, header("X-Amz-Date", "201"), codeIncomplete, "Date must be in ISO-8601 'basic format'. Got '201'. See http://en.wikipedia.org/wiki/ISO_8601"},
		"algorithm":      {nil, replace("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), codeIncomplete, "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1' (only AWS4-HMAC-SHA256 for now). "},
		"short scope":    {nil, replace("/states/", "/"), codeIncomplete, "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got 'AKIDEXAMPLE/20000101/eu-north-1/aws4_request'"},
		"expired":        {func(s *signer) { s.at = s.at.Add(-MaxSkew - time.Second) }, nil, codeInvalid, "Signature expired: 19991231T235459Z is now earlier than 19991231T235500Z (20000101T000000Z - 5 min.)"},
		"fast clock":     {func(s *signer) { s.at = s.at.Add(MaxSkew + time.Second) }, nil, codeInvalid, "Signature not yet current: 20000101T000501Z is still later than 20000101T000500Z (20000101T000000Z + 5 min.)"},
		"host unsigned":  {func(s *signer) { s.names = []string{"x-amz-date", "x-amz-target"} }, nil, codeInvalid, "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."},
		"date unsigned":  {func(s *signer) { s.names = []string{"host", "x-amz-target"} }, nil, codeInvalid, "'x-amz-date' must be a 'SignedHeader'"},
		"other unsigned": {func(s *signer) { s.names = []string{"host", "x-amz-date"} }, nil, codeInvalid, "'x-amz-target' must be a 'SignedHeader'"},
		"scope": {
			func(s *signer) { s.region, s.service = "us-east-1", "swf" }, replace("aws4_request", "aws5"), codeInvalid,
			"Credential should be scoped to a valid region, not 'us-east-1'. Credential should be scoped to correct service: 'states'. " +
				"Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5'. ",
		},
		"day": {
			nil, replace("20000101", "20000102"), codeInvalid,
			"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20000102' != '20000101', from '20000101T000000Z'.",
		},
		"unknown key":     {func(s *signer) { s.key = "AKIDEXAMPLF" }, nil, codeUnrecognized, "The security token included in the request is invalid."},
		"wrong secret":    {func(s *signer) { s.secret += "x" }, nil, codeInvalid, mismatch},
		"other operation": {nil, header("X-Amz-Target", "T.Create "), codeUnknownOperation, ""},
		"other host":      {nil, func(r *http.Request) { r.Host = "localhost:8083" }, codeInvalid, mismatch},
		"other query":     {nil, query("x=y"), codeInvalid, mismatch},
		"no hash":         {nil, header("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"), codeInvalid, mismatch},
		"other hash":      {nil, header("X-Amz-Content-Sha256", sigv4.Hash(nil)), codeInvalid, mismatch},
		"other date":      {nil, header("X-Amz-Date", "20000101T000001Z"), codeInvalid, mismatch},
		"longer":          {nil, replace("Signature=", "Signature=0"), codeInvalid, mismatch},
		"other length":    {nil, func(r *http.Request) { r.ContentLength = -1 }, codeInvalid, mismatch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, by := signing()
				if c.before != nil {
					c.before(&by)
				}
				r := request(t.Context(), createBody)
				by.sign(r, createBody)
				if c.after != nil {
					c.after(r)
				}
				status, body := answered(h, r)
				if c.code == "" {
					if status != http.StatusOK || body["by"] != exampleKey {
						t.Errorf("%d %v", status, body)
					}
					return
				}
				if says, _ := body["message"].(string); status != http.StatusBadRequest || body["__type"] != c.code || !strings.HasPrefix(says, c.says) || strings.Contains(says, exampleSecret) {
					t.Errorf("%d %v, want %s: %s", status, body, c.code, c.says)
				}
			})
		})
	}
}

// answered returns the answer of a handler.
func answered(h http.Handler, r *http.Request) (status int, body map[string]any) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	_ = json.Unmarshal(w.Body.Bytes(), &body) // what is not JSON has no members
	return w.Code, body
}

// TestUnsigned: without keys, each signature is accepted, and none is needed.
func TestUnsigned(t *testing.T) {
	t.Parallel()
	h := New(Options{}, &Service{Target: "T", Operations: map[string]Operation{"Create": Op(createShape, created)}})
	for _, header := range []string{"", "Bearer x", "AWS4-HMAC-SHA256 Credential=x/y, Signature=z"} {
		r := request(t.Context(), createBody)
		r.Header.Set("Authorization", header)
		if status, body := answered(h, r); status != http.StatusOK || body["by"] != "" {
			t.Errorf("%q: %d %v", header, status, body)
		}
	}
}

// TestBodyOfAnother: a signature is for one body, and the body is not read without a key.
func TestBodyOfAnother(t *testing.T) {
	t.Parallel()
	h, by := signing()
	r := request(t.Context(), createBody)
	by.sign(r, strings.ToUpper(createBody))
	if status, body := answered(h, r); status != http.StatusBadRequest || body["__type"] != codeInvalid {
		t.Errorf("%d %v", status, body)
	}
	r = request(t.Context(), createBody)
	by.key = "other"
	by.sign(r, createBody)
	r.Body = unread{t}
	if status, body := answered(h, r); status != http.StatusBadRequest || body["__type"] != codeUnrecognized {
		t.Errorf("%d %v", status, body)
	}
}

// unread is a body that the server must not read.
type unread struct{ t *testing.T }

func (b unread) Read([]byte) (int, error) {
	b.t.Error("the body is read")
	return 0, http.ErrBodyReadAfterClose
}
func (unread) Close() error { return nil }

// FuzzAuthorization: no request without the secret is accepted, for any header.
func FuzzAuthorization(f *testing.F) {
	h, by := signing()
	r := request(f.Context(), createBody)
	by.secret = "other"
	by.sign(r, createBody)
	f.Add(r.Header.Get("Authorization"), r.Header.Get("X-Amz-Date"), "")
	f.Add("Bearer x", "20150830T123600Z", "a=%zz&&b&a=%20+")
	f.Add("AWS4-HMAC-SHA256 Credential=a/b/c/d/e,SignedHeaders=;;,Signature==", "", "X-Amz-Algorithm")
	f.Fuzz(func(t *testing.T, header, date, query string) {
		r := request(t.Context(), createBody)
		r.Header.Set("Authorization", header)
		r.Header.Set("X-Amz-Date", date)
		r.URL.RawQuery = query
		_ = sigv4.AppendCanonical(nil, r, strings.Split(header, ";"), "")
		if status, body := answered(h, r); status != http.StatusBadRequest {
			t.Errorf("%q at %q: %d %v", header, date, status, body)
		}
	})
}

// FuzzToken: no token that was not sealed opens.
func FuzzToken(f *testing.F) {
	tokens, err := NewTokens([]byte("0123456789abcdef"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(tokens.Seal([]byte("place"), "a")+"A", "b")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, token, bound string) {
		if place, err := tokens.Open(token, bound); err == nil {
			t.Errorf("%q is for %q", token, place)
		}
		if place, err := tokens.Open(tokens.Seal([]byte(token), bound), bound); err != nil || string(place) != token {
			t.Errorf("%q became %q: %v", token, place, err)
		}
	})
}

// FuzzDecode: no body makes the decoder panic, and every accepted body satisfies the constraints.
func FuzzDecode(f *testing.F) {
	b := bind[create](createShape)
	f.Add([]byte(createBody))
	f.Add([]byte(`{"name":"b","definition":"x","maxResults":1e400,"tags":[null,{"key":"k","key":null}],"logging":{"level":"ALL"},"since":-1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in create
		if err := b.decode(body, &in); err != nil {
			if len(err.Error()) > 100*len(body)+1000 {
				t.Errorf("an error of %d bytes for a body of %d", len(err.Error()), len(body))
			}
			return
		}
		if !json.Valid(body) || in.Name == "" || in.Definition == "" || len(in.Tags) > 2 || in.Max != nil && *in.Max > 1000 {
			t.Errorf("%q is accepted as %+v", body, in)
		}
	})
}

// BenchmarkRequest decodes, validates and verifies a request of 1 KiB.
func BenchmarkRequest(b *testing.B) {
	h, by := signing()
	body := `{"name":"a","definition":"{}","other":"` + strings.Repeat("x", 1<<10) + `"}`
	r := request(b.Context(), body)
	by.sign(r, body)
	reader := strings.NewReader("")
	r.Body = readCloser{reader}
	for b.Loop() {
		reader.Reset(body)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
	b.ReportAllocs()
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
