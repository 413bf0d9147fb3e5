package cloudevents_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/states"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

const whole = `{"specversion":"1.0","id":"1","source":"shop","type":"order.paid","orderid":"7","data":{"sum":1.50}}`

// post sends a request with the given headers, name and value in turn.
func post(store backend.Store, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	cloudevents.Handler(store).ServeHTTP(w, r)
	return w
}

// TestHandler sends requests to one run, and checks the answers and the run's inbox.
func TestHandler(t *testing.T) {
	t.Parallel()
	const form = "application/cloudevents+json"
	binary := []string{"Ce-Specversion", "1.0", "Ce-Id", "2", "Ce-Source", "shop", "Ce-Type", "order.paid"}
	for name, c := range map[string]struct {
		target, body string
		headers      []string
		status       int
		want         string // in the answer, or the inbox
	}{
		"structured": {"/?run=r", whole, []string{"Content-Type", form + "; charset=utf-8"}, 202, `{"data":{"sum":1.50},"id":"1","orderid":"7","source":"shop","specversion":"1.0","type":"order.paid"}`},
		"batch":      {"/?run=r", "[" + whole + "]", []string{"Content-Type", "application/cloudevents-batch+json"}, 202, `"orderid":"7"`},
		"binary": {
			"/?run=r", `{"a":1}`, append([]string{"Content-Type", "application/json", "Ce-Who", "J%C3%B6rg%20%22x%22"}, binary...), 202,
			`{"data":{"a":1},"datacontenttype":"application/json","id":"2","source":"shop","specversion":"1.0","type":"order.paid","who":"Jörg \"x\""}`,
		},
		"binary text":      {"/?run=r", "hi", append([]string{"Content-Type", "text/plain"}, binary...), 202, `"data":"hi"`},
		"binary bytes":     {"/?run=r", "\xff\x00", append([]string{"Content-Type", "image/png"}, binary...), 202, `"data_base64":"/wA="`},
		"binary no data":   {"/?run=r", "", binary, 202, `{"id":"2"`},
		"no such run":      {"/?run=s", whole, []string{"Content-Type", form}, 404, `not found`},
		"it has ended":     {"/?run=over", whole, []string{"Content-Type", form}, 410, `has ended`},
		"nobody waits":     {"/", whole, []string{"Content-Type", form}, 202, `{"runs":[]}`},
		"no form":          {"/?run=r", whole, []string{"Content-Type", "application/json"}, 415, `neither`},
		"unknown form":     {"/?run=r", whole, []string{"Content-Type", "application/cloudevents+avro"}, 415, `avro`},
		"broken type":      {"/?run=r", whole, []string{"Content-Type", ";"}, 415, `Content-Type`},
		"no JSON":          {"/?run=r", "{", []string{"Content-Type", form}, 400, `not JSON: unexpected end`},
		"no id":            {"/?run=r", `{"specversion":"1.0","source":"s","type":"t"}`, []string{"Content-Type", form}, 400, `the attribute id is missing`},
		"another version":  {"/?run=r", strings.Replace(whole, "1.0", "0.3", 1), []string{"Content-Type", form}, 400, `0.3`},
		"an object":        {"/?run=r", strings.Replace(whole, `"7"`, `{}`, 1), []string{"Content-Type", form}, 400, `orderid must be a string`},
		"a strange name":   {"/?run=r", strings.Replace(whole, `orderid`, `order-id`, 1), []string{"Content-Type", form}, 400, `order-id`},
		"twice":            {"/?run=r", strings.Replace(whole, `"data"`, `"orderid":"8","data"`, 1), []string{"Content-Type", form}, 400, `twice`},
		"bad data":         {"/?run=r", "{", append([]string{"Content-Type", "application/json"}, binary...), 400, `which the Content-Type says the data is`},
		"bad header":       {"/?run=r", "", append([]string{"Ce-X", "%zz"}, binary...), 400, `not percent-encoded UTF-8`},
		"data as a header": {"/?run=r", "", append([]string{"Ce-Data", "x"}, binary...), 400, `Ce-Data`},
		"too long":         {"/?run=r", strings.Repeat(" ", atom.MaxValue+1), []string{"Content-Type", form}, 413, `more than 1048576 bytes`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			for _, run := range []storage.Run{{ID: "r", Flow: "f"}, {ID: "over", Flow: "f", State: states.FlowSuccess}} {
				if err := store.Create(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			var got string
			for range 2 { // the second one is a repetition
				answer := post(store, c.target, c.body, c.headers...)
				if answer.Code != c.status {
					t.Fatalf("answered %d %s; want %d", answer.Code, answer.Body, c.status)
				}
				got = answer.Body.String()
			}
			_, messages, err := store.Messages(t.Context(), "r", 0)
			if err != nil {
				t.Fatal(err)
			}
			if c.status == http.StatusAccepted && strings.Contains(c.target, "run=") {
				if len(messages) != 1 {
					t.Fatalf("there are %d messages; want 1", len(messages))
				}
				got = messages[0].Body.String()
			} else if len(messages) > 0 {
				t.Errorf("there is a message: %s", messages[0].Body)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s; want %s", got, c.want)
			}
		})
	}
}

// TestHandlerMethod sends a request by another method.
func TestHandlerMethod(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	cloudevents.Handler(memstore.New()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
		t.Errorf("GET is answered %d", w.Code)
	}
}

// FuzzRead: no request makes Read panic. An accepted event is valid, stays the same when it is written and read again,
// and a store accepts it.
func FuzzRead(f *testing.F) {
	f.Add("application/cloudevents+json", "", "", "", whole)
	f.Add("application/cloudevents-batch+json", "", "", "", "["+whole+"]")
	f.Add("text/plain", "1.0", "Ce-Time", "2006-01-02T15:04:05Z", "hi")
	f.Add("application/json", "1.0", "Ce-Orderid", `"a\"%20b"`, `{"a": [1e9999]}`)
	f.Fuzz(func(t *testing.T, contentType, version, name, value, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header = http.Header{"Ce-Id": {"1"}, "Ce-Source": {"s"}, "Ce-Type": {"t"}, "Content-Type": {contentType}, "Ce-Specversion": {version}}
		r.Header[name] = []string{value}
		events, err := cloudevents.Read(httptest.NewRecorder(), r)
		if err != nil {
			return
		}
		store := memstore.New()
		if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}); err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if _, err := cloudevents.Parse(e.Body().JSON()); err != nil {
				t.Errorf("%s was read, and is not: %v", e.Body(), err)
			}
			if _, err := cloudevents.Deliver(t.Context(), store, e); err != nil {
				t.Errorf("%s was read, and cannot be delivered: %v", e.Body(), err)
			}
			if err := cloudevents.Tell(t.Context(), store, "r", e); err != nil {
				t.Errorf("%s was read, and cannot be told: %v", e.Body(), err)
			}
		}
	})
}
