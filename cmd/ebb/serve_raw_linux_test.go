package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestServeRawRequests sends what no client would, byte by byte, to a real server: each is
// refused with the reason, and the server answers others as before.
//
// Attack (HTTP server): About 60 raw requests: smuggling, odd codings, methods and URLs, upgrades, deep JSON, huge
// numbers, invalid text.
// Result: Each is refused once, with the reason.
// Also: `server/workers: FuzzRequest`.
func TestServeRawRequests(t *testing.T) { //nolint:tparallel // the server is looked at when all are done
	t.Parallel()
	v := newVictim(t, "steps.asl.json")
	file := filepath.Join(v.dir, "keys")
	if err := os.WriteFile(file, []byte("me "+rightKey+"\nworker "+workersKey+" tasks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, address := v.serves(t, "--keys", file)
	const auth = "Authorization: Bearer " + rightKey + "\r\n"
	const host = "Host: localhost\r\n" + auth + "Connection: close\r\n"
	task := func(path, body string) string {
		return "POST /tasks/" + path + " HTTP/1.1\r\n" + host + "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	}
	event := func(headers, body string) string {
		return "POST /events HTTP/1.1\r\n" + host + "Content-Type: application/cloudevents+json\r\n" + headers + "\r\n" + body
	}
	t.Run("all", func(t *testing.T) {
		for name, c := range map[string]struct {
			text   string
			status string // the first ones that are answered
			reason string
		}{
			"no host":                      {"GET /livez HTTP/1.1\r\n\r\n", "400", "missing required Host"},
			"two hosts":                    {"GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "400", ""},
			"another host":                 {"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n" + auth + "\r\n", "403", "evil.example"},
			"another host by URL":          {"GET http://evil.example/metrics HTTP/1.1\r\n" + host + "\r\n", "403", "evil.example"},
			"no host of an old client":     {"GET /metrics HTTP/1.0\r\n" + auth + "\r\n", "403", "is not served"},
			"health without a host":        {"GET /livez HTTP/1.0\r\n\r\n", "200", "ok"},
			"readiness without a host":     {"GET /readyz HTTP/1.0\r\n\r\n", "200", "ok"},
			"health of another host":       {"HEAD /readyz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "200", ""},
			"health by another URL":        {"GET http://evil.example/livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200", "ok"},
			"health that is posted":        {"POST /livez HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n", "403", "evil.example"},
			"health of an escaped path":    {"GET /livez/..%2fmetrics HTTP/1.0\r\n\r\n", "403", "is not served"},
			"an origin":                    {"GET /livez HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", "403", "Origin"},
			"a form":                       {"POST /events HTTP/1.1\r\n" + host + "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n", "415", "send JSON"},
			"no key":                       {"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "401", "a key is missing or wrong"},
			"another's key":                {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + workersKey + "\r\n\r\n", "403", "the key is for tasks"},
			"no path":                      {"GET /nothing HTTP/1.1\r\n" + host + "\r\n", "404", "/nothing"},
			"a path of workers":            {task("x/y", "{}"), "404", "/tasks/poll"},
			"a method":                     {"POST /livez HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", "405", "want GET"},
			"a method of events":           {"PUT /events HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", "405", "POST"},
			"a method of workers":          {"GET /tasks/poll HTTP/1.1\r\n" + host + "\r\n", "405", "POST"},
			"all options":                  {"OPTIONS * HTTP/1.1\r\n" + host + "\r\n", "404", "not served"},
			"a tunnel":                     {"CONNECT evil.example:1 HTTP/1.1\r\n" + host + "\r\n", "403", "evil.example"},
			"a tunnel to itself":           {"CONNECT localhost:1 HTTP/1.1\r\n" + host + "\r\n", "404", "not served"},
			"HTTP/2":                       {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "403", "not served"},
			"an upgrade":                   {"GET /livez HTTP/1.1\r\n" + host + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", "200", ""},
			"no HTTP":                      {"hello\r\n\r\n", "400", ""},
			"a NUL":                        {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", "400", ""},
			"a space in a name":            {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX : a\r\n\r\n", "400", ""},
			"200 headers":                  {"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: a\r\n", 200) + "\r\n", "431", "too many lines"},
			"4,000 headers":                {"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X:\r\n", 4000) + "\r\n", "431", "too many lines"},
			"a long header":                {"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", "431", ""},
			"a long line":                  {"GET /" + strings.Repeat("a", 64<<10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "431", ""},
			"two lengths":                  {event("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x"), "400", ""},
			"a length that is none":        {event("Content-Length: +2\r\n", "{}"), "400", ""},
			"a negative length":            {event("Content-Length: -1\r\n", "{}"), "400", ""},
			"a huge length":                {event("Content-Length: 9999999999999999999\r\n", "{}"), "400", ""},
			"a large length":               {event("Content-Length: 99999999999\r\n", "{}"), "413", "at most"},
			"a large length that expects":  {event("Expect: 100-continue\r\nContent-Length: 99999999999\r\n", "{}"), "413", "at most"},
			"an expectation":               {event("Expect: 200-ok\r\nContent-Length: 2\r\n", "{}"), "417", ""},
			"an unknown coding":            {event("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), "501", "transfer encoding"},
			"a coding twice":               {event("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), "501", "transfer encoding"},
			"a length and a coding":        {event("Content-Length: 100\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"), "400", "specversion is missing"},
			"a chunk that is none":         {event("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), "400", "the body"},
			"a huge chunk":                 {event("Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"), "400", "the body"},
			"a chunk of another length":    {event("Transfer-Encoding: chunked\r\n", "1\r\n{}\r\n0\r\n\r\n"), "400", "the body"},
			"a long chunk extension":       {event("Transfer-Encoding: chunked\r\n", "2;"+strings.Repeat("a", 20<<10)+"\r\n{}\r\n0\r\n\r\n"), "400", "the body"},
			"a compressed body":            {event("Content-Encoding: gzip\r\nContent-Length: 3\r\n", "\x1f\x8b\x08"), "415", "Content-Encoding"},
			"an empty event":               {event("Content-Length: 0\r\n", ""), "400", "not JSON"},
			"a worker's empty body":        {task("poll", ""), "400", "kinds"},
			"a worker's form":              {"POST /tasks/poll HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\n{}", "415", "application/json"},
			"a worker's nested body":       {task("poll", `{"kinds":`+strings.Repeat("[", 600)+strings.Repeat("]", 600)+"}"), "400", "nest at most 500"},
			"a worker's deeper body":       {task("a.1/complete", `{"result":`+strings.Repeat("[", 300_000)), "400", ""},
			"a worker's huge number":       {task("poll", `{"kinds":["a"],"wait_seconds":1e999}`), "400", "wait_seconds"},
			"a worker's long number":       {task("a.1/heartbeat", `{"lease_seconds":`+strings.Repeat("9", 100_000)+`}`), "400", "lease_seconds"},
			"a worker's bytes":             {task("a.1/complete", "{\"result\":\"\xff\"}"), "400", "not UTF-8"},
			"a worker's NUL":               {task("poll", `{"kinds":["a\u0000"],"wait_seconds":0}`), "400", "is not valid text"},
			"a token with a NUL":           {task("%00.1/heartbeat", "{}"), "400", "id of a task"},
			"a token that is no UTF-8":     {task("%ff.1/heartbeat", "{}"), "400", "id of a task"},
			"a long token":                 {task(strings.Repeat("a", 1000)+".1/heartbeat", "{}"), "400", "id of a task"},
			"a token that is not there":    {task("a.1/heartbeat", "{}"), "404", "no such task"},
			"a taking that overflows":      {task("a.99999999999999999999/heartbeat", "{}"), "400", "id of a task"},
			"a path that climbs":           {"GET /tasks/../metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + workersKey + "\r\n\r\n", "403", "the key is for"},
			"a path that climbs, hidden":   {"GET /tasks/%2e%2e/metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + workersKey + "\r\n\r\n", "403", "once it is unescaped"},
			"a key twice":                  {"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\n" + auth + "\r\n", "401", "a key is missing or wrong"},
			"a request after the close":    {"GET /livez HTTP/1.1\r\n" + host + "\r\nGET /metrics HTTP/1.1\r\n" + host + "\r\n", "200", ""},
			"a request in a length":        {event("Content-Length: 2\r\n", "{}GET /metrics HTTP/1.1\r\n"+host+"\r\n"), "400", "specversion is missing"},
			"a request in a refused body":  {"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", "401", "key"},
			"a request behind two codings": {event("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nGET /metrics HTTP/1.1\r\n"+host+"\r\n"), "400", "not JSON"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				answer, err := exchange(t.Context(), address, c.text)
				answer = strings.Replace(answer, "HTTP/1.0 ", "HTTP/1.1 ", 1) // to an old client
				if err != nil || !strings.HasPrefix(answer, "HTTP/1.1 "+c.status+" ") || !strings.Contains(answer, c.reason) || strings.Count(answer, "HTTP/1.1 ") != 1 {
					t.Errorf("answered %.500q, %v; want once, with %s and %q", answer, err, c.status, c.reason)
				}
				head, body, _ := strings.Cut(answer, "\r\n\r\n")
				if c.reason != "" && strings.Contains(head, "application/json") && !json.Valid([]byte(body)) && !strings.Contains(head, "chunked") {
					t.Errorf("the reason is not JSON: %q", body)
				}
				if c.status >= "400" && body == "" && c.status != "417" {
					t.Errorf("%s has no reason", c.status)
				}
			})
		}
	})
	probe(t, address)
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}
