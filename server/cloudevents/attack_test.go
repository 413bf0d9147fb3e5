package cloudevents_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/internal/backend"
	"github.com/ebbflow/ebb/internal/faultstore"
	"github.com/ebbflow/ebb/server/cloudevents"
	"github.com/ebbflow/ebb/storage"
	"github.com/ebbflow/ebb/storage/memstore"
)

const (
	form  = "application/cloudevents+json"
	batch = "application/cloudevents-batch+json"
)

// asked returns a store that counts its queries.
func asked(store backend.Store) (counting backend.Store, calls *[]string) {
	calls = new([]string)
	return faultstore.New(store, func(c faultstore.Call) faultstore.Fault {
		*calls = append(*calls, c.Method)
		return faultstore.Fault{}
	}), calls
}

// eventWith returns an event with the given number of extension attributes, and its own members.
func eventWith(id string, extensions int, members string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"specversion":"1.0","id":%q,"source":"shop","type":"order.paid"%s`, id, members)
	for i := range extensions {
		fmt.Fprintf(&b, `,"a%d":"%s"`, i, id)
	}
	return b.String() + "}"
}

// TestOneQuery: for any request, one query finds the runs that wait for it. A request beyond the limits is refused
// without a query.
//
// Attack (CloudEvents and workers): An event of 0.9 MiB with 70,000 extension attributes, or 250 such events; batches
// of very many events or attributes.
// Result: Bounded, before any query.
// Also: `storage/sqlstore: TestStore/Labeled`.
func TestOneQuery(t *testing.T) {
	t.Parallel()
	many := func(events, extensions int, same bool) string {
		all := make([]string, events)
		for i := range all {
			id := fmt.Sprint(i)
			if same {
				id = "same"
			}
			all[i] = eventWith(id, extensions, fmt.Sprintf(`,"e%d":"x"`, i%10))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for name, c := range map[string]struct {
		form, body string
		status     int
		want       string   // in the answer
		calls      []string // of the store
	}{
		"60 attributes":       {form, eventWith("7", 60, ""), 202, `{"runs":["other","r"]}`, []string{"Labeled", "Send"}},
		"70,000 attributes":   {form, eventWith("7", 70_000, ""), 400, "at most 64 attributes", nil},
		"a batch":             {batch, many(900, 10, false), 202, `{"runs":["other","r"]}`, []string{"Labeled", "Send"}},
		"a batch of the same": {batch, many(500, 20, true), 202, `{"runs":[]}`, []string{"Labeled"}},
		"a large batch":       {batch, "[" + strings.Repeat(eventWith("1", 0, "")+",", 1000) + eventWith("1", 0, "") + "]", 400, "at most 1000 events", nil},
		"too many values":     {batch, many(999, 11, false), 400, "10999 different values of extension attributes", nil},
		"nobody waits":        {form, eventWith("8", 60, ""), 202, `{"runs":[]}`, []string{"Labeled"}},
		"no extensions":       {form, eventWith("8", 0, ""), 202, `{"runs":[]}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := memstore.New()
			for id, labels := range map[string][]string{"r": {"a0", "a9"}, "other": {"a9"}, "not": {"b"}} {
				run := storage.Run{ID: id, Flow: "f", Labels: map[string]string{}}
				for _, name := range labels {
					run.Labels[grow.CorrelationLabel(name, "7")] = grow.Correlated
				}
				if err := store.Create(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			counting, calls := asked(store)
			w := post(counting, "/", c.body, "Content-Type", c.form)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("answered %d %.200s; want %d with %s", w.Code, w.Body, c.status, c.want)
			}
			if !slices.Equal(*calls, c.calls) {
				t.Errorf("the store was asked %d times, for %.100q; want %q", len(*calls), *calls, c.calls)
			}
		})
	}
}

// TestManyWait: what very many runs wait for is stored in pieces.
//
// Attack (CloudEvents and workers): Thousands of runs wait for one event.
// Result: Bounded for each transaction.
func TestManyWait(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	const runs = 240
	for i := range runs {
		run := storage.Run{ID: fmt.Sprint(i), Flow: "f", Labels: map[string]string{grow.CorrelationLabel("a0", "7"): grow.Correlated}}
		if err := store.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	for data, sends := range map[string]int{`"small"`: 1, `"` + strings.Repeat("x", 1<<20-1000) + `"`: 30} {
		counting, calls := asked(store)
		w := post(counting, "/", eventWith("7", 1, `,"data":`+data), "Content-Type", form)
		want := append([]string{"Labeled"}, slices.Repeat([]string{"Send"}, sends)...)
		if w.Code != http.StatusAccepted || strings.Count(w.Body.String(), `"`) != 2*runs+2 || !slices.Equal(*calls, want) {
			t.Errorf("answered %d %.100s after %d calls; want %d", w.Code, w.Body, len(*calls), len(want))
		}
	}
}

// TestInvalid sends invalid events, for runs that wait, for a named run, and for no run. Each is refused with the
// reason, without a query.
//
// Attack (CloudEvents and workers): Invalid events: wrong attributes, invalid text, 400,000 nested arrays, numbers of a
// million digits, gzip, charsets, a misspelled `?runs=`.
// Result: 400 or 415 before any query.
// Also: `FuzzRead`.
func TestInvalid(t *testing.T) {
	t.Parallel()
	member := func(text string) string {
		return `{"specversion":"1.0","id":"1","source":"shop","type":"order.paid",` + text + `}`
	}
	instead := func(was, is string) string { return strings.Replace(eventWith("1", 0, ""), was, is, 1) }
	for _, c := range []struct {
		body, want string
		headers    []string
	}{
		{"", "not JSON", nil},
		{"[]", "an event is an object", nil},
		{"null", "an event is an object", nil},
		{"{}", "specversion is missing", nil},
		{member(`"id":"2"`), `"id\" is there twice`, nil},
		{"\xff" + eventWith("1", 0, ""), "not UTF-8", nil},
		{member(`"data":"` + "\xff" + `"`), "not UTF-8", nil},
		{member(`"data":` + strings.Repeat("[", 500) + strings.Repeat("]", 500)), "nest at most 500 deep", nil},
		{member(`"data":` + strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000)), "exceeded max depth", nil},
		{member(`"data":` + strings.Repeat("[", 400_000)), "not JSON", nil},
		{instead(`"specversion":"1.0",`, ``), "specversion is missing", nil},
		{instead(`"1.0"`, `1.0`), "specversion must be an integer", nil},
		{instead(`"1.0"`, `true`), "specversion must be a string", nil},
		{instead(`"1.0"`, `"1.1"`), "specversion is", nil},
		{instead(`"id":"1",`, ``), "id is missing", nil},
		{instead(`"id":"1"`, `"id":null`), "id is missing", nil},
		{instead(`"id":"1"`, `"id":""`), "id is empty", nil},
		{instead(`"id":"1"`, `"id":7`), "id must be a string", nil},
		{instead(`"id":"1"`, `"id":"a\u0000"`), "id has a control character", nil},
		{instead(`"id":"1"`, `"id":"\ud800"`), "surrogate", nil},
		{instead(`"id":"1"`, `"id":"`+strings.Repeat("x", 5000)+`"`), "id has 5000 bytes", nil},
		{instead(`"source":"shop",`, ``), "source is missing", nil},
		{instead(`"shop"`, `""`), "source is empty", nil},
		{instead(`"shop"`, `"a b"`), "want a URI-reference", nil},
		{instead(`"shop"`, `"/%zz"`), "want a URI-reference", nil},
		{instead(`"shop"`, `"küche"`), "want a URI-reference", nil},
		{instead(`"shop"`, `"a#b#c"`), "want a URI-reference", nil},
		{instead(`"shop"`, `"http://[::1"`), "want a URI-reference", nil},
		{instead(`,"type":"order.paid"`, ``), "type is missing", nil},
		{instead(`"order.paid"`, `"\u009f"`), "type has a control character", nil},
		{instead(`"order.paid"`, `"`+`\ufffe`+`"`), "noncharacter", nil},
		{member(`"subject":""`), "subject is empty", nil},
		{member(`"time":"yesterday"`), "want a time of RFC 3339", nil},
		{member(`"time":"2006-01-02"`), "want a time of RFC 3339", nil},
		{member(`"time":"2006-02-30T00:00:00Z"`), "want a time of RFC 3339", nil},
		{member(`"time":1136214245`), "time must be a string", nil},
		{member(`"dataschema":"/relative"`), "want a URI with a scheme", nil},
		{member(`"datacontenttype":"json"`), "want a media type", nil},
		{member(`"data":1,"data_base64":"AA=="`), "not both", nil},
		{member(`"data_base64":"A"`), "base64", nil},
		{member(`"data_base64":"AA==\n"`), "base64", nil},
		{member(`"data_base64":{}`), "base64", nil},
		{member(`"orderId":"7"`), "lower-case letters", nil},
		{member(`"order_id":"7"`), "lower-case letters", nil},
		{member(`"":"7"`), "lower-case letters", nil},
		{member(`"` + strings.Repeat("a", 65) + `":"7"`), "names have at most 64 bytes", nil},
		{member(`"a":1.5`), "integer of 32 bits", nil},
		{member(`"a":2147483648`), "integer of 32 bits", nil},
		{member(`"a":1e9999`), "integer of 32 bits", nil},
		{member(`"a":` + strings.Repeat("9", 1_000_000)), "integer of 32 bits", nil},
		{member(`"a":[]`), "not an object or array", nil},
		{"", "ce-specversion", []string{"Content-Type", "application/json"}},
		{"", "id is missing", []string{"Ce-Specversion", "1.0", "Ce-Source", "s", "Ce-Type", "t"}},
		{"", "id is empty", []string{"Ce-Specversion", "1.0", "Ce-Id", "", "Ce-Source", "s", "Ce-Type", "t"}},
		{"", "is there 2 times", []string{"Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Id", "2", "Ce-Source", "s", "Ce-Type", "t"}},
		{"", "id has a control character", []string{"Ce-Specversion", "1.0", "Ce-Id", "%00", "Ce-Source", "s", "Ce-Type", "t"}},
		{"", "percent-encoded UTF-8", []string{"Ce-Specversion", "1.0", "Ce-Id", "%ff", "Ce-Source", "s", "Ce-Type", "t"}},
		{"", "lower-case letters", []string{"Ce-Specversion", "1.0", "Ce-Id", "1", "Ce-Source", "s", "Ce-Type", "t", "Ce-A-b", "t"}},
		{"x", "2 headers Content-Type", []string{"Content-Type", form, "Content-Type", "text/plain"}},
		{"x", "Content-Encoding", []string{"Content-Type", form, "Content-Encoding", "gzip"}},
		{"x", "charset", []string{"Content-Type", form + "; charset=utf-16"}},
	} {
		if c.headers == nil {
			c.headers = []string{"Content-Type", form}
		}
		requests := map[string]string{"/": c.body, "/?run=r": c.body, "/?run=nobody": c.body}
		for target, body := range requests {
			counting, calls := asked(memstore.New())
			w := post(counting, target, body, c.headers...)
			if w.Code != http.StatusBadRequest && w.Code != http.StatusUnsupportedMediaType || !strings.Contains(w.Body.String(), c.want) || w.Body.Len() > 1000 {
				t.Errorf("%s %.100q %q: answered %d %.300s; want the reason %q", target, body, c.headers, w.Code, w.Body, c.want)
			}
			if len(*calls) > 0 {
				t.Errorf("%s %.100q: the store was asked for %q", target, body, *calls)
			}
		}
		if w := post(memstore.New(), "/", "["+eventWith("0", 0, "")+","+c.body+"]", "Content-Type", batch); w.Code != http.StatusBadRequest {
			t.Errorf("%.100q in a batch: answered %d %s", c.body, w.Code, w.Body)
		}
	}
	for target, want := range map[string]string{
		"/?runs=r": "runs", "/?run=": "once", "/?run=a&run=b": "once", "/?run=%zz": "query", "/?run=a;b": "query", "/?run=%00": "is not valid text",
		"/?run=" + strings.Repeat("x", 300): "404",
	} {
		w := post(memstore.New(), target, eventWith("1", 0, ""), "Content-Type", form)
		if want == "404" && w.Code == http.StatusNotFound {
			continue
		}
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: answered %d %s; want 400 with %q", target, w.Code, w.Body, want)
		}
	}
}

// TestValid sends what CloudEvents allows.
func TestValid(t *testing.T) {
	t.Parallel()
	for _, members := range []string{
		``, `,"data":null`, `,"subject":null`, `,"a":-2147483648,"b":true,"c":"ü","d":""`, `,"time":"2006-01-02t15:04:05.123456789z"`, `,"time":"2006-01-02T15:04:05-07:00"`,
		`,"dataschema":"urn:a:b"`, `,"datacontenttype":"text/plain; charset=utf-8"`, `,"data_base64":"AA=="`, `,"data":` + strings.Repeat("[", 499) + strings.Repeat("]", 499),
		`,"data":"\ud800"`, `,"data":1e9999`,
	} {
		if w := post(memstore.New(), "/", eventWith("1", 0, members), "Content-Type", form); w.Code != http.StatusAccepted {
			t.Errorf("%.100s: answered %d %s", members, w.Code, w.Body)
		}
	}
	for _, source := range []string{"/a/b?c=d#e", "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66", "mailto:a@b.example", "a", "?", "//h:8/%C3%BC", "https://[::1]/"} {
		if w := post(memstore.New(), "/", strings.Replace(eventWith("1", 0, ""), "shop", source, 1), "Content-Type", form); w.Code != http.StatusAccepted {
			t.Errorf("source %s: answered %d %s", source, w.Code, w.Body)
		}
	}
	if w := post(memstore.New(), "/", "[]", "Content-Type", batch); w.Code != http.StatusAccepted {
		t.Errorf("an empty batch: answered %d %s", w.Code, w.Body)
	}
	long := strings.Repeat("ü", 2000) // is cut between two characters where a message's name is
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Replace(eventWith("1", 0, ""), "order.paid", "x"+long, 1)))
	r.Header.Set("Content-Type", form)
	events, err := cloudevents.Read(httptest.NewRecorder(), r)
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	if err := store.Create(t.Context(), storage.Run{ID: "r", Flow: "f"}); err != nil {
		t.Fatal(err)
	}
	if err := cloudevents.Tell(t.Context(), store, "r", events...); err != nil {
		t.Error(err)
	}
}
