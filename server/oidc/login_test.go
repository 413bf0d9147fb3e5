package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ebbflow/ebb/server"
	"github.com/ebbflow/ebb/server/console"
	"github.com/ebbflow/ebb/server/oidc"
	"github.com/ebbflow/ebb/storage/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onCall lets in people with an address, and lets those on call operate.
func onCall(p oidc.Person) (server.Caller, bool) {
	return server.Caller{Name: p.Email, Operate: slices.Contains(p.Groups, "on-call")}, p.Email != ""
}

// A site is a program that serves pages below /ebb/, which say who reads them.
type site struct {
	t   *testing.T
	web *httptest.Server
}

func newSite(t *testing.T, p *provider, change ...func(*oidc.Options)) *site {
	t.Helper()
	s := &site{t: t}
	s.web = httptest.NewUnstartedServer(nil)
	options := oidc.Options{
		Issuer: p.web.URL, Client: client, Secret: secret, Caller: onCall,
		Callback: "http://" + s.web.Listener.Addr().String() + "/ebb/callback",
	}
	for _, f := range change {
		f(&options)
	}
	login, err := oidc.New(options)
	if err != nil {
		t.Fatal(err)
	}
	s.web.Config.Handler = login.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := server.CallerOf(r.Context())
		_, _ = fmt.Fprintf(w, "%s of %s, operate: %t", r.URL.RequestURI(), caller.Name, caller.Operate)
	}))
	s.web.Start()
	t.Cleanup(s.web.Close)
	return s
}

// A browser keeps cookies and follows redirects.
func (s *site) browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.web.Client().CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: s.web.Client().Transport}
}

// ask sends a request as a browser does, and returns the answer.
func (s *site) ask(c *http.Client, method, address string, header ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,*/*")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := c.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text))
}

// TestLogin: who opens a page is sent to the provider, and gets to that page. The provider is asked once for a session,
// and again after a logout. Its groups decide who may operate.
func TestLogin(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := newSite(t, p)
	ann := s.browser()
	for _, page := range []string{"/ebb/run?id=a%20b&tab=undo", "/ebb/jobs"} {
		if status, text := s.ask(ann, http.MethodGet, s.web.URL+page); status != http.StatusOK || text != page+" of ann@example.org, operate: true" {
			t.Errorf("%s: %d %s", page, status, text)
		}
	}
	if p.asked != 1 {
		t.Errorf("the provider was asked %d times for one session", p.asked)
	}
	if status, text := s.ask(ann, http.MethodPost, s.web.URL+"/ebb/logout"); status != http.StatusOK || !strings.Contains(text, "logged out") {
		t.Errorf("logout: %d %s", status, text)
	}
	p.claims["groups"] = []string{"sales"}
	if _, text := s.ask(ann, http.MethodGet, s.web.URL+"/ebb/jobs"); text != "/ebb/jobs of ann@example.org, operate: false" || p.asked != 2 {
		t.Errorf("after the logout: %s, asked %d times", text, p.asked)
	}
}

// TestWithoutLogin: scripts and programs without a session get 401, and no page of another site can change something or
// choose where a login ends.
func TestWithoutLogin(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := newSite(t, p)
	ann := s.browser()
	if status, _ := s.ask(ann, http.MethodGet, s.web.URL+"/ebb/events", "Accept", "text/event-stream"); status != http.StatusUnauthorized {
		t.Errorf("a stream without a login: %d", status)
	}
	if status, _ := s.ask(ann, http.MethodPost, s.web.URL+"/ebb/command"); status != http.StatusUnauthorized {
		t.Errorf("a command without a login: %d", status)
	}
	for _, page := range []string{"//evil.example.org/ebb/", "/elsewhere", "/ebb/" + strings.Repeat("x", 3000)} {
		if _, text := s.ask(s.browser(), http.MethodGet, s.web.URL+page); text != "/ebb/ of ann@example.org, operate: true" {
			t.Errorf("%.30s: the login ends at %.80s", page, text)
		}
	}
	if _, text := s.ask(ann, http.MethodGet, s.web.URL+"/ebb/"); !strings.Contains(text, "ann") {
		t.Fatal(text)
	}
	for _, path := range []string{"/ebb/command", "/ebb/logout"} {
		if status, _ := s.ask(ann, http.MethodPost, s.web.URL+path, "Origin", "https://evil.example.org"); status != http.StatusForbidden {
			t.Errorf("%s from another site: %d", path, status)
		}
	}
	if status, text := s.ask(ann, http.MethodPost, s.web.URL+"/ebb/command", "Origin", s.web.URL); status != http.StatusOK || !strings.Contains(text, "ann") {
		t.Errorf("an own form: %d %s", status, text)
	}
}

// TestForged: no client enters with an answer that the provider did not give to this login, or with a cookie that the
// program did not make. No answer tells the reason, or a token.
//
// Attack (Keys, certificates and settings): Login with OpenID Connect: ID tokens that are forged, expired, or for
// another login, program or provider; codes and cookies of another; a page of another site as its end.
// Result: Refused. Only the log has the reason.
// Also: `TestCallback`, `TestWithoutLogin`, `FuzzCookie`.
func TestForged(t *testing.T) {
	t.Parallel()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(*provider){
		"other signature":   func(p *provider) { p.sign = stranger },
		"other nonce":       func(p *provider) { p.change = func(c map[string]any) { c["nonce"] = "x" } },
		"no nonce":          func(p *provider) { p.change = func(c map[string]any) { delete(c, "nonce") } },
		"other audience":    func(p *provider) { p.change = func(c map[string]any) { c["aud"] = "shop" } },
		"other issuer":      func(p *provider) { p.change = func(c map[string]any) { c["iss"] = "https://evil.example.org" } },
		"expired":           func(p *provider) { p.change = func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() } },
		"claims of a type":  func(p *provider) { p.claims["groups"] = 7 },
		"no ID token":       func(p *provider) { p.token = says(`{"access_token":"x","token_type":"Bearer"}`) },
		"no JSON":           func(p *provider) { p.token = says(`<html>`) },
		"far too long":      func(p *provider) { p.token = says(strings.Repeat(" ", 2<<20)) },
		"unverified email":  func(p *provider) { p.claims["email_verified"] = false },
		"email not claimed": func(p *provider) { delete(p.claims, "email") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			forge(p)
			s := newSite(t, p)
			status, text := s.ask(s.browser(), http.MethodGet, s.web.URL+"/ebb/jobs")
			if status != http.StatusBadGateway && status != http.StatusForbidden || strings.Contains(text, "ey") {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

func says(text string) func(http.ResponseWriter) bool {
	return func(w http.ResponseWriter) bool {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text) // the client may stop reading
		return true
	}
}

// TestCallback: the address to which the provider sends people lets in only a client that began the login here.
func TestCallback(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	s := newSite(t, p)
	begin := func(c *http.Client) url.Values { // stops at the provider
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.web.URL+"/ebb/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close() // it has none
		to, err := answer.Location()
		if err != nil {
			t.Fatal(err)
		}
		return to.Query()
	}
	code := func(begun url.Values) string {
		p.mu.Lock()
		defer p.mu.Unlock()
		code := rand.Text()
		p.codes[code] = begun
		return code
	}
	ann, eve := s.browser(), s.browser()
	anns := begin(ann)
	begin(eve)
	for name, c := range map[string]struct {
		by     *http.Client
		query  url.Values
		status int
	}{
		"no cookie":        {s.browser(), url.Values{"code": {code(anns)}, "state": {anns.Get("state")}}, http.StatusBadRequest},
		"login of another": {eve, url.Values{"code": {code(anns)}, "state": {anns.Get("state")}}, http.StatusBadRequest},
	} {
		if status, text := s.ask(c.by, http.MethodGet, s.web.URL+"/ebb/callback?"+c.query.Encode()); status != c.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	eves := begin(eve) // the attempt ended her login
	injected := url.Values{"code": {code(anns)}, "state": {eves.Get("state")}}
	if status, text := s.ask(eve, http.MethodGet, s.web.URL+"/ebb/callback?"+injected.Encode()); status != http.StatusBadGateway {
		t.Errorf("the code of another, for which she has no verifier: %d %s", status, text)
	}
	denied := url.Values{"error": {"access_denied\n<b>"}, "state": {anns.Get("state")}}
	if status, text := s.ask(ann, http.MethodGet, s.web.URL+"/ebb/callback?"+denied.Encode()); status != http.StatusForbidden {
		t.Errorf("refused by the provider: %d %s", status, text)
	}
	if status, _ := s.ask(ann, http.MethodPost, s.web.URL+"/ebb/callback"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

// TestProviderComesBack: the program starts, and answers, while the provider does not.
func TestProviderComesBack(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	down := true
	s := newSite(t, p, func(o *oidc.Options) {
		o.HTTP = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if down {
				return nil, fmt.Errorf("no route to %s", r.URL.Host)
			}
			return http.DefaultTransport.RoundTrip(r)
		})}
	})
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	if status, text := s.ask(s.browser(), http.MethodGet, s.web.URL+"/ebb/"); status != http.StatusBadGateway || strings.Contains(text, "route") {
		t.Errorf("%d %s", status, text)
	}
	down = false
	if status, text := s.ask(s.browser(), http.MethodGet, s.web.URL+"/ebb/"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// TestOptions: each wrong option is named, with what it should be.
func TestOptions(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*oidc.Options){
		"Options.Issuer":   func(o *oidc.Options) { o.Issuer = "http://login.example.org" },
		"Options.Callback": func(o *oidc.Options) { o.Callback = "http://ops.example.org/ebb/callback" },
		"ends with a name": func(o *oidc.Options) { o.Callback = "https://ops.example.org/ebb/" },
		"Options.Client":   func(o *oidc.Options) { o.Client = "" },
		"Options.Caller":   func(o *oidc.Options) { o.Caller = nil },
		"Options.Key":      func(o *oidc.Options) { o.Key = []byte("short") },
		"Options.Session":  func(o *oidc.Options) { o.Session = -time.Second },
		"":                 func(*oidc.Options) {},
	} {
		o := oidc.Options{Issuer: "https://login.example.org", Client: "ebb", Callback: "https://ops.example.org/ebb/callback", Caller: onCall}
		change(&o)
		_, err := oidc.New(o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestConsole: a person who may operate sees the console, and its form to log out.
func TestConsole(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	store := memstore.New()
	t.Cleanup(func() { _ = store.Close() })
	web := httptest.NewUnstartedServer(nil)
	login, err := oidc.New(oidc.Options{
		Issuer: p.web.URL, Client: client, Secret: secret, Caller: onCall,
		Callback: "http://" + web.Listener.Addr().String() + "/ebb/callback",
	})
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = login.Guard(console.New(store, console.Options{}))
	web.Start()
	t.Cleanup(web.Close)
	s := &site{t, web}
	status, text := s.ask(s.browser(), http.MethodGet, web.URL+"/ebb/runs")
	if status != http.StatusOK || !strings.Contains(text, "ann@example.org") || !strings.Contains(text, `action="logout"`) {
		t.Errorf("%d %s", status, text)
	}
}
