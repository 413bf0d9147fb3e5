package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

// TestSecretsInURLsAreNotShown runs tasks whose URLs contain secrets, and which fail in all ways of servers and
// networks. No command that shows the runs shows the secrets, nor do errors about flags and databases.
//
// Attack (Answers of other servers): A redirect to another server, to read headers or the URL.
// Result: Ebb sends no `Referer` and no headers named like secrets. Open: an event itself goes there.
// Also: ; events use the same client.
//
// Attack (Output and secrets): Secrets in URLs, answers, redirects, DSNs, `--allow` or program arguments, on every
// command that reports on runs.
// Result: Ebb masks failures and all of standard error. Open: secrets in a URL's path; inputs and results that are not
// declared secret.
// Also: `internal/redact: FuzzSecret`.
func TestSecretsInURLsAreNotShown(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), secret) {
				t.Errorf("another server gets %s: %s", name, values)
			}
		}
		_, _ = io.WriteString(w, "1")
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			_, _ = io.WriteString(w, "no JSON")
		case "/refused":
			http.Error(w, "https://u:"+secret+"@h/ is not for you\nAuthorization: Bearer "+secret, http.StatusForbidden)
		case "/location":
			w.Header().Set("Location", "http://u:"+secret+" x@h/")
			w.WriteHeader(http.StatusFound)
		case "/loop":
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		case "/elsewhere":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/cut":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	dsn := "sqlite:" + filepath.Join(dir, "ebb.db")
	for name, text := range map[string]string{
		"mapped.asl.json": `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"arn:aws:lambda:eu-west-1:123456789012:function:pay","End":true}}}`,
		"invoke.asl.json": `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"arn:aws:states:::http:invoke","Arguments":{
			"ApiEndpoint":"{% $states.input.to %}","Method":"POST","Headers":{"X-Api-Key":"hunter2","Authorization":"hunter2"}},"End":true,"QueryLanguage":"JSONata"}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := ""
	call := func(args ...string) int {
		var out bytes.Buffer
		status := execute(t.Context(), append([]string{"--log-level", "debug"}, args...), strings.NewReader(""), &out, &out)
		if strings.Contains(out.String(), secret) {
			t.Errorf("ebb %s tells the secret:\n%s", strings.Join(args, " "), out.String())
		}
		all += out.String()
		return status
	}
	at := strings.Replace(server.URL, "http://", "http://u:"+secret+"@", 1)
	for i, to := range []string{
		at + "/text?token=" + secret, at + "/refused", at + "/location", at + "/loop?sig=" + secret, at + "/elsewhere?token=" + secret, at + "/cut",
		"http://u:" + secret + "@127.0.0.1:1/?token=" + secret, "http://u:" + secret + "/x@h/", "http://u:" + secret + " x@h/", "htps://u:" + secret + "@h/",
		"exec:./gone --password " + secret, "exec:'./gone " + secret, "openapi:https://u:" + secret + "@h/a.json#op",
	} {
		id := string(rune('a' + i))
		call("run", "--dsn", dsn, "--id", id, "--task", "arn:aws:lambda:eu-west-1:123456789012:function:pay="+to, filepath.Join(dir, "mapped.asl.json"))
		for _, args := range [][]string{{"show"}, {"history"}, {"why"}} {
			call(append(args, id, "--dsn", dsn)...)
			call(append(args, id, "--dsn", dsn, "-o", "json")...)
		}
	}
	call("list", "--dsn", dsn)
	call("list", "--dsn", dsn, "-o", "json")
	// Its input is the run's own, and shown. Only other servers must not get what its headers hold.
	var out bytes.Buffer
	status := execute(t.Context(), []string{"run", "--dsn", dsn, "--input", `{"to":"` + server.URL + `/elsewhere"}`, filepath.Join(dir, "invoke.asl.json")}, nil, &out, &out)
	if status != exit.Success {
		t.Errorf("the other server is not asked: %s", out.String())
	}
	for _, bad := range []string{
		"postgres://u:" + secret + "@127.0.0.1:1/db", "postgres://u:" + secret + "/x@h/db", "postgres://u:" + secret + "%zz@h/db", "postgres://h/db?password=" + secret + "&sslmode=x",
		"host=h password=" + secret, "sqlite:postgres://u:" + secret + "@h/db", "sqlite:host=h password=" + secret, "file:x?_auth_pass=" + secret, "POSTGRES://u:" + secret + "@h/db",
		"mysql://u:" + secret + "@h/db",
	} {
		for _, args := range [][]string{{"list"}, {"doctor"}, {"migrate", "status"}} {
			if call(append(args, "--dsn", bad)...) == exit.Success {
				t.Errorf("ebb %v works with %s", args, bad)
			}
		}
	}
	for _, args := range [][]string{{"run", "--task", "https://u:" + secret + "@h/", "x"}, {"list", "--dsn", dsn, "--allow", "https://u:" + secret + "@h/"}} {
		call(args...)
	}
	for _, want := range []string{"http://***@", "is no JSON", "the server redirects to what is not a valid URL", "more than 3 redirects", "connection refused", "***@h/", "there is no program"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q", want)
		}
	}
}
