package oidc_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

const (
	client = "ebb"
	secret = "client secret"
)

// A provider is a small OpenID Connect provider, at which one person is logged in. Tests change what it sends.
type provider struct {
	t   *testing.T
	web *httptest.Server
	key *rsa.PrivateKey

	mu     sync.Mutex
	codes  map[string]url.Values // requests for a login, by code
	asked  int                   // logins
	claims map[string]any        // of the person
	change func(claims map[string]any)
	sign   *rsa.PrivateKey // signs ID tokens
	token  func(w http.ResponseWriter) bool
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, sign: key, codes: map[string]url.Values{}, claims: map[string]any{
		"sub": "42", "email": "ann@example.org", "email_verified": true, "name": "Ann", "groups": []string{"on-call"},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, map[string]any{
			"issuer": p.web.URL, "authorization_endpoint": p.web.URL + "/authorize", "token_endpoint": p.web.URL + "/token",
			"jwks_uri": p.web.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.exchange)
	p.web = httptest.NewServer(mux)
	t.Cleanup(p.web.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		p.t.Error(err)
	}
}

// authorize sends the browser back at once: the person is logged in, and agrees.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	code := rand.Text()
	p.codes[code] = q
	p.asked++
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// exchange gives an ID token for a code, once, to the client that began the login.
func (p *provider) exchange(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token != nil && p.token(w) {
		return
	}
	begun, known := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	id, password, basic := r.BasicAuth()
	if !basic {
		id, password = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	password, _ = url.QueryUnescape(password) // RFC 6749, section 2.3.1
	proof := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case !known, id != client, password != secret, begun.Get("code_challenge_method") != "S256",
		begun.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(proof[:]):
		w.WriteHeader(http.StatusBadRequest)
		p.answer(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{
		"iss": p.web.URL, "aud": client, "nonce": begun.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
	}
	maps.Copy(claims, p.claims)
	if p.change != nil {
		p.change(claims)
	}
	p.answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.signed(claims)})
}

// signed returns claims as a JWT (RFC 7519), signed with RS256.
func (p *provider) signed(claims map[string]any) string {
	text, err := json.Marshal(claims)
	if err != nil {
		p.t.Error(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	body := encode([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encode(text)
	sum := sha256.Sum256([]byte(body))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.sign, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Error(err)
	}
	return body + "." + encode(signature)
}
