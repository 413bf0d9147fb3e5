package webclient_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/internal/webclient"
)

// TestLargeHeads: an answer with a too large head, of any form, is refused before it is in memory.
//
// Attack (Answers of other servers): Headers, status lines or redirects of 9 MB, or endless 1xx answers, over HTTP/1.1
// and 2.
// Result: Bounded.
// Also: `TestLargeHeadsOverHTTP2`.
func TestLargeHeads(t *testing.T) {
	t.Parallel()
	const large = 2 * webclient.MaxHead
	for name, head := range map[string]string{
		"many headers":   "HTTP/1.1 200 OK\r\n" + strings.Repeat("a:\r\n", large/4) + "Content-Length: 0\r\n\r\n",
		"a long header":  "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", large) + "\r\nContent-Length: 0\r\n\r\n",
		"a long status":  "HTTP/1.1 200 " + strings.Repeat("b", large) + "\r\nContent-Length: 0\r\n\r\n",
		"no head at all": strings.Repeat("b", large),
		"a long location": "HTTP/1.1 302 Found\r\nLocation: /" + strings.Repeat("b", large) +
			"\r\nContent-Length: 0\r\n\r\n",
		"answers before": strings.Repeat("HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", large/30) +
			"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"a long redirect": "HTTP/1.1 302 Found\r\n" + strings.Repeat("Set-Cookie: a=b\r\n", large/17) +
			"Location: /\r\nContent-Length: 0\r\n\r\n",
		"of usual lengths": "HTTP/1.1 200 OK\r\n" + strings.Repeat("Set-Cookie: a=b\r\n", 1000) + "Content-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ask(t, serve(t, head))
			if (err == nil) != (name == "of usual lengths") {
				t.Errorf("the answer gives %.100v", err)
			}
		})
	}
}

// TestLargeHeadsOverHTTP2: the same holds for a server that speaks HTTP/2.
func TestLargeHeadsOverHTTP2(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range webclient.MaxHead / 20 {
			w.Header().Set(fmt.Sprintf("A%d", i), strings.Repeat("b", 20))
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	c := webclient.Bounded(s.Client().Transport)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.RoundTrip(req)
	if err == nil {
		_ = answer.Body.Close()
		t.Errorf("%s with %d headers is taken", answer.Proto, len(answer.Header))
	}
}

// serve sends the same bytes on each connection.
func serve(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := conn.Read(make([]byte, 1<<16)); err == nil {
					_, _ = conn.Write([]byte(answer)) // the client may have closed the connection
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

func ask(t *testing.T, url string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := webclient.Default().Do(req)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
