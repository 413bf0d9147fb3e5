package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	rightKey   = "0123456789abcdef0123456789abcdef"
	workersKey = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	wrongKey   = "0123456789abcdef0123456789abcdeX"
)

// TestDoor sends requests of clients that are authorized, and of clients that are not.
func TestDoor(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("prometheus "+rightKey+"\npython "+workersKey+" tasks events\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := Options{}
	kept := Options{Address: "localhost:8083", Keys: file}
	public := Options{Address: "0.0.0.0:8083", Keys: file, Hosts: []string{"ebb.example.org"}}
	for _, c := range []struct {
		at     Options
		url    string
		header string // "Name: value"
		want   int
	}{
		{home, "http://127.0.0.1:8083/metrics", "", http.StatusOK},
		{home, "http://localhost/metrics", "", http.StatusOK},
		{home, "http://[::1]:8083/metrics", "", http.StatusOK},
		{home, "http://LocalHost:8083/metrics", "", http.StatusOK},
		{home, "http://evil.example.org:8083/metrics", "", http.StatusForbidden},
		{home, "http://10.0.0.1:8083/metrics", "", http.StatusForbidden},
		{home, "http://localhost/metrics", "Origin: http://localhost", http.StatusForbidden},
		{home, "http://localhost/events", "Content-Type: text/plain", http.StatusUnsupportedMediaType},
		{home, "http://localhost/events", "Content-Type: application/x-www-form-urlencoded; charset=utf-8", http.StatusUnsupportedMediaType},
		{home, "http://localhost/events", "Content-Type: application/cloudevents+json", http.StatusOK},
		{kept, "http://localhost/metrics", "", http.StatusUnauthorized},
		{kept, "http://localhost/metrics", "Authorization: Bearer " + rightKey, http.StatusOK},
		{public, "http://10.0.0.1:8083/metrics", "Authorization: bearer " + rightKey, http.StatusOK},
		{public, "https://ebb.example.org/metrics", "Authorization: Bearer " + rightKey, http.StatusOK},
		{public, "https://Ebb.Example.org:443/metrics", "Authorization: Bearer " + rightKey, http.StatusOK},
		{public, "https://ebb.example.org/metrics", "Authorization: Bearer " + wrongKey, http.StatusUnauthorized},
		{public, "https://ebb.example.org/metrics", "Authorization: Basic " + rightKey, http.StatusUnauthorized},
		{public, "https://ebb.example.org/metrics", "Authorization: Bearer prometheus", http.StatusUnauthorized},
		{public, "https://ebb.example.org/metrics", "Authorization: Bearer ", http.StatusUnauthorized},
		{public, "https://evil.example.org/metrics", "Authorization: Bearer " + rightKey, http.StatusForbidden},
		{public, "https://ebb.example.org/tasks/next", "Authorization: Bearer " + workersKey, http.StatusOK},
		{public, "https://ebb.example.org/events?run=r", "Authorization: Bearer " + workersKey, http.StatusOK},
		{public, "https://ebb.example.org/metrics", "Authorization: Bearer " + workersKey, http.StatusForbidden},
		{public, "https://ebb.example.org/tasks/../metrics", "Authorization: Bearer " + workersKey, http.StatusForbidden},
		{public, "https://ebb.example.org/%74asks/..%2fmetrics", "Authorization: Bearer " + workersKey, http.StatusForbidden},
		{public, "https://ebb.example.org/", "Authorization: Bearer " + workersKey, http.StatusForbidden},
		{public, "http://10.0.0.1:8083/livez", "", http.StatusOK},
		{public, "http://10.0.0.1:8083/readyz", "", http.StatusOK},
		{public, "http://10.0.0.1:8083/livez/../metrics", "", http.StatusUnauthorized},
	} {
		s, err := New(c.at)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader("{}"))
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s of %s with %q: %d %s, want %d", c.url, c.at.Address, c.header, w.Code, w.Body, c.want)
		}
		if strings.Contains(w.Body.String(), wrongKey) {
			t.Errorf("the answer has the key in it: %s", w.Body)
		}
	}
}

// TestKeysOfRoot: a group may read a keys file that root owns, as systemd and Kubernetes
// provide it. A group may not read a keys file of any other user.
func TestKeysOfRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions tell nothing there")
	}
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("me "+rightKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	readable := func(mode os.FileMode) bool {
		t.Helper()
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, err := newKeyring(file, hclog.NewNullLogger())
		return err == nil
	}
	root := os.Geteuid() == 0
	if !readable(0o400) || readable(0o440) != root || readable(0o460) || readable(0o404) {
		t.Error("keys are refused, or not, against the rule")
	}
	if !root {
		return
	}
	const nobody = 65534
	if err := os.Chown(file, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if !readable(0o400) || readable(0o440) {
		t.Error("keys of another user are refused, or not, against the rule")
	}
}

// TestKeysChange: soon after a key is added to the file, its client may ask. Soon after
// a key is removed, its client may not. A file with an error changes nothing.
//
// Attack (Keys, certificates and settings): The same key twice in `--keys`, for different purposes.
// Result: Refused.
func TestKeysChange(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("a "+rightKey+" metrics", 0o600)
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		waiting, err := newKeyring(file, hclog.New(&hclog.LoggerOptions{Output: &said}))
		if err != nil {
			t.Fatal(err)
		}
		shows := func(key string) bool {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
			r.Header.Set("Authorization", "Bearer "+key)
			return waiting.of(r) != nil
		}
		right, other := "a "+rightKey+" metrics", "b "+workersKey+" metrics"
		aws := "AKIAIOSFODNN7EXAMPLE " + workersKey + " aws"
		for _, c := range []struct {
			text         string
			mode         os.FileMode
			right, other bool
			says         string
		}{
			{right, 0o600, true, false, ""},
			{other, 0o600, false, true, ""},
			{right + "\n" + other, 0o600, true, true, ""},
			{right + "\nb " + rightKey, 0o600, true, true, "keys:2: a and b have the same key"},
			{right + "\nb", 0o600, true, true, "keys:2: want a name and a key"},
			{right + "\nb " + workersKey + " task", 0o600, true, true, "is for task, which is not known (use aws, events, metrics, operate, tasks, view"},
			{"", 0o600, true, true, "the file has no keys"},
			{right, 0o644, true, true, "file permissions are too open"},
			{right, 0o600, true, false, ""},
			{right + "\nb " + workersKey, 0o600, true, true, "keys.unlimited: file=" + file + " names=[\"b\"]"},
			{right + "\n" + other, 0o600, true, true, ""},
			{aws + "\n" + right, 0o600, true, false, ""},
			{aws + "\n" + strings.ToUpper(aws), 0o600, true, false, "AWS, which is not known"},
			{aws + "\nAKIAIOSFODNN7EXAMPLE " + rightKey + " aws", 0o600, true, false, "keys:2: the access key AKIAIOSFODNN7EXAMPLE has two secrets"},
			{aws + "\nb " + workersKey, 0o600, true, false, "keys:2: AKIAIOSFODNN7EXAMPLE and b have the same key"},
			{aws + " tasks", 0o600, true, false, "is for aws and more"},
			{"me " + rightKey + " aws", 0o600, true, false, "is not the ID of an access key"},
		} {
			said.Reset()
			write(c.text, c.mode)
			time.Sleep(keysAge)
			if right, other := shows(rightKey), shows(workersKey); right != c.right || other != c.other {
				t.Errorf("with %q: %v, %v", c.text, right, other)
			}
			time.Sleep(keysAge)
			shows(rightKey)
			if text := said.String(); !strings.Contains(text, c.says) || strings.Count(text, "\n") > 1 || (text == "") != (c.says == "") || strings.Contains(text, rightKey) || strings.Contains(text, workersKey) {
				t.Errorf("with %q it says %q", c.text, text)
			}
		}
	})
}
