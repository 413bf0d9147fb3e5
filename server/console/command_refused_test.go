package console_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/server"
)

// TestViewer: a caller who may only read sees no form and no token, and sends nothing.
func TestViewer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	forms := d.buttons()
	tokens, err := d.store.RunTokens(t.Context(), "open")
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	d.caller = server.Caller{Name: "eve"}
	if got := d.buttons(); len(got) != 0 {
		t.Errorf("there are forms: %v", got)
	}
	for _, page := range append(slices.Clone(desks), "audit", "audit?run=open", "run?id=open&view=history", "run?id=open&atom=pay") {
		if body := d.ask(http.MethodGet, page, nil).Body.String(); strings.Contains(body, tokens[0].ID) {
			t.Errorf("%s has the token", page)
		}
	}
	for _, all := range forms {
		if w := d.ask(http.MethodGet, all[0], nil); w.Code != http.StatusForbidden {
			t.Errorf("GET %s: %d", all[0], w.Code)
		}
		if w := d.ask(http.MethodPost, all[0], url.Values{"once": {"x"}}); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", all[0], w.Code)
		}
	}
}

// TestOtherSite: neither the pages nor the API accept a command from a page of another site, with any login of the
// program.
//
// Attack (Keys, certificates and settings): A console in a user's program: a command that a page of another site sends.
// Result: Refused by the pages and the API.
func TestOtherSite(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, from := range []string{"Origin https://evil.example.org", "Origin null", "Sec-Fetch-Site cross-site", "Sec-Fetch-Site same-site"} {
		for handler, address := range map[http.Handler]string{
			d.handler: "/console/command?of=run&do=cancel&id=open", d.commands: "/api/v1/runs/open/cancel",
		} {
			r := httptest.NewRequestWithContext(server.WithCaller(d.Context(), d.caller), http.MethodPost, address, strings.NewReader("{}"))
			name, value, _ := strings.Cut(from, " ")
			r.Header.Set(name, value)
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, r); w.Code != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s", address, from, w.Code, w.Body)
			}
		}
	}
	if n := d.traces(); n != 0 {
		t.Errorf("there are %d traces", n)
	}
}

// TestWrongForms: the message about a wrong form is beside the field, with the entered values. Nothing changes, but the
// history of a run says which command its state excludes.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for to, want := range map[string]string{
		"command?of=&do=jobs&f.flow=":                                  "flow is missing",
		"command?of=&do=jobs&f.version=x":                              "version: want a number",
		"command?of=&do=jobs&f.input={":                                "input: this is not JSON",
		"command?of=&do=limits&f.rate=fast":                            "want a number and a time",
		"command?of=&do=bulk&f.filter=stat:x&f.command=cancel":         "did you mean state?",
		"command?of=&do=bulk&f.filter=id:*&f.command=dance":            "want one of",
		"command?of=&do=bulk&f.command=cancel&pick=a&pick=b&f.filter=": "the filter does not say which runs to command",
		"command?of=run&do=cancel&id=none":                             "there is no run",
		"command?of=run&do=signal&id=open":                             "signal \"\" is empty",
		"command?of=run&do=resume&id=open":                             "it is not suspended",
		"command?of=run&do=cancel&id=open&f.reason=%ff":                "reason: this is not UTF-8",
		"command?of=run&do=cancel&id=done":                             "revert undoes what it did",
		"command?of=token&do=complete&id=none":                         "there is no such token",
		"command?of=schedule&do=pause&id=%00":                          "not UTF-8, or has a character of value 0",
		"command?of=job&do=cancel&id=..%2f..":                          "there is no job",
		"command?of=run&do=signal&id=a%20b%3Fc":                        "there is no run",
	} {
		q, err := url.ParseQuery(strings.TrimPrefix(to, "command?"))
		if err != nil {
			t.Fatal(err)
		}
		form := url.Values{"once": {"k"}, "f.name": {hostile}}
		for key := range q {
			if strings.HasPrefix(key, "f.") {
				form[key] = q[key]
			}
		}
		if q.Get("do") == "signal" && q.Get("id") == "open" {
			form.Del("f.name")
		}
		w := d.ask(http.MethodPost, to, form)
		body := html.UnescapeString(w.Body.String())
		if w.Code < http.StatusBadRequest || !strings.Contains(body, want) || strings.Contains(w.Body.String(), "<script>") {
			t.Errorf("%s: %d, want %q in\n%s", to, w.Code, want, body)
		}
	}
	if n := d.traces(); n != 2 { // the histories of two runs say that they refused a command
		t.Errorf("there are %d traces", n)
	}
	for _, to := range []string{"command", "command?of=run&do=dance&id=open", "command?do=cancel"} {
		if w := d.ask(http.MethodGet, to, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", to, w.Code)
		}
	}
}
