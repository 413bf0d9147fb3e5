package aws

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// create is a request like those of Step Functions.
type create struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Type       kindName `json:"type"`
	Max        *int     `json:"maxResults"`
	Failures   int64    `json:"failures"`
	Percentage *float64 `json:"percentage"`
	Publish    bool     `json:"publish"`
	Since      *Time    `json:"since"`
	Tags       []tag    `json:"tags"`
	Keys       []string `json:"tagKeys"`
	Logging    *logging `json:"logging"`
}

type (
	kindName string
	tag      struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	logging struct {
		Level   string `json:"level"`
		Include bool   `json:"includeExecutionData"`
	}
)

var (
	keyShape    = String(1, 128)
	createShape = Structure(
		Required("name", String(1, 8).PatternAs(`^(?=.*[a-z])[a-z0-9]+$`, `[a-z0-9]*[a-z][a-z0-9]*`)),
		Required("definition", String(1, 20).Secret()),
		Optional("type", Enum("STANDARD", "EXPRESS")),
		Optional("maxResults", Integer(0, 1000)),
		Optional("failures", Long(0, 1<<53)),
		Optional("percentage", Float(0, 100)),
		Optional("publish", Boolean()),
		Optional("since", Timestamp()),
		Optional("tags", List(Structure(Required("key", keyShape), Optional("value", String(0, 3))), 0, 2)),
		Optional("tagKeys", List(keyShape, 1, NoLimit)),
		Optional("logging", Structure(Optional("level", Enum("OFF", "ALL")), Optional("includeExecutionData", Boolean()))),
	)
)

// TestDecode decodes requests, right and wrong. The messages for wrong types were recorded on AWS.
//
// Guarantee (AWS's protocol): A wrong request is refused with AWS's type, message and status, with all violations at
// once.
// Also: `TestSignatures`, `TestAnswers`.
//
// Attack (AWS clients): Malformed JSON, wrong types, odd numbers, deep JSON, duplicate members, very many elements or
// violations.
// Result: Refused in AWS's words. Memory and answer are bounded by a multiple of the body.
// Also: `TestHostileBodies`, `FuzzDecode`.
func TestDecode(t *testing.T) {
	t.Parallel()
	b := bind[create](createShape)
	hundred, half := 100, 0.5
	for _, c := range []struct {
		body string
		want create
		code string
		says string
	}{
		{`{"name":"a","definition":"{}","Name":"B","other":[{"x":1}]}`, create{Name: "a", Definition: "{}"}, "", ""},
		{
			` {"name":"b", "definition" : "x","maxResults":100.9,"failures":1e3,"percentage":0.5,"publish":true,"since":1420066800.123,` +
				`"tags":[{"key":"k","value":"\u00e9"},null],"tagKeys":["a","b"],"logging":{"level":"ALL","level":"OFF"},"type":null}`,
			create{
				Name: "b", Definition: "x", Max: &hundred, Failures: 1000, Percentage: &half, Publish: true,
				Since: At(time.UnixMilli(1420066800123)), Tags: []tag{{"k", "é"}}, Keys: []string{"a", "b"}, Logging: &logging{Level: "OFF"},
			},
			"", "",
		},
		{`{"name":"UP","name":"a","definition":"{}"}`, create{Name: "a", Definition: "{}"}, "", ""},

		{``, create{}, codeSerialization, ""},
		{`{`, create{}, codeSerialization, ""},
		{`null`, create{}, codeSerialization, ""},
		{`"x"`, create{}, codeSerialization, ""},
		{`{"name":"a",}`, create{}, codeSerialization, ""},
		{`{"name":"` + "\xff" + `"}`, create{}, codeSerialization, ""},
		{strings.Repeat("[", 20_000), create{}, codeSerialization, ""},
		{`[]`, create{}, codeSerialization, "Start of list found where not expected"},
		{`{"name":1}`, create{}, codeSerialization, "NUMBER_VALUE can not be converted to a String"},
		{`{"name":1.5}`, create{}, codeSerialization, "NUMBER_VALUE can not be converted to a String"},
		{`{"name":true}`, create{}, codeSerialization, "TRUE_VALUE can not be converted to a String"},
		{`{"name":[1]}`, create{}, codeSerialization, "Start of list found where not expected"},
		{`{"name":{}}`, create{}, codeSerialization, "Start of structure or map found where not expected."},
		{`{"maxResults":"1"}`, create{}, codeSerialization, "STRING_VALUE can not be converted to an Integer"},
		{`{"maxResults":false}`, create{}, codeSerialization, "FALSE_VALUE can not be converted to an Integer"},
		{`{"since":"2015"}`, create{}, codeSerialization, "STRING_VALUE can not be converted to milliseconds since epoch"},
		{`{"tags":"x"}`, create{}, codeSerialization, "Expected list or null"},
		{`{"tags":{}}`, create{}, codeSerialization, "Start of structure or map found where not expected."},
		{`{"tags":["x"]}`, create{}, codeSerialization, "Expected null"},
		{`{"tagKeys":[7]}`, create{}, codeSerialization, "NUMBER_VALUE can not be converted to a String"},

		{
			`{"name":null,"type":"standard"}`,
			create{},
			codeValidation,
			"3 validation errors detected: Value null at 'name' failed to satisfy constraint: Member must not be null; " +
				"Value at 'definition' failed to satisfy constraint: Member must not be null; " +
				"Value 'standard' at 'type' failed to satisfy constraint: Member must satisfy enum value set: [EXPRESS, STANDARD]",
		},
		{
			`{"maxResults":99999999999,"definition":"","name":"A23456789"}`,
			create{},
			codeValidation,
			"4 validation errors detected: " +
				"Value '2147483647' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 1000; " +
				"Value 'A23456789' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: ^(?=.*[a-z])[a-z0-9]+$; " +
				"Value 'A23456789' at 'name' failed to satisfy constraint: Member must have length less than or equal to 8; " +
				"Value at 'definition' failed to satisfy constraint: Member must have length greater than or equal to 1",
		},
		{
			`{"name":"a","definition":"x","percentage":-1,"failures":1e99,"tags":[{"key":""},{"value":"four"}],"tagKeys":["k",""]}`,
			create{},
			codeValidation,
			"6 validation errors detected: Value '9223372036854775807' at 'failures' failed to satisfy constraint: Member must have value less than or equal to 9007199254740992; " +
				"Value '[k, ]' at 'tagKeys' failed to satisfy constraint: Member must satisfy constraint: " +
				"[Member must have length less than or equal to 128, Member must have length greater than or equal to 1]; " +
				"Value '-1.0' at 'percentage' failed to satisfy constraint: Member must have value greater than or equal to 0; " +
				"Value '' at 'tags.1.member.key' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
				"Value 'four' at 'tags.2.member.value' failed to satisfy constraint: Member must have length less than or equal to 3; " +
				"Value null at 'tags.2.member.key' failed to satisfy constraint: Member must not be null",
		},
		{
			`{"name":"a","definition":"x","tags":[{"key":"a"},{"key":"b","value":"c"},{"key":"d"}],"logging":{"level":"x"},"tagKeys":[]}`,
			create{},
			codeValidation,
			"3 validation errors detected: Value '[]' at 'tagKeys' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
				"Value 'x' at 'logging.level' failed to satisfy constraint: Member must satisfy enum value set: [ALL, OFF]; " +
				"Value at 'tags' failed to satisfy constraint: Member must have length less than or equal to 2",
		},
	} {
		var got create
		err := b.decode([]byte(c.body), &got)
		if c.code == "" {
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%.100s: %v (-want +got):\n%s", c.body, err, diff)
			}
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != c.code || e.Message != c.says {
			t.Errorf("%.100s is answered\n%v, want\n%s: %s", c.body, err, c.code, c.says)
		}
	}
}

// TestHostileBodies: a body costs a bounded multiple of its size, whatever it has most of, and so does its error.
func TestHostileBodies(t *testing.T) { //nolint:paralleltest // it counts the memory of the process
	const size = MaxBody / 8
	b := bind[create](createShape)
	for name, parts := range map[string][3]string{
		"violations":      {`{"tags":[{}`, `,{}`, `]}`},
		"nulls":           {`{"tags":[null`, `,null`, `]}`},
		"strings":         {`{"tagKeys":[""`, `,""`, `]}`},
		"duplicates":      {`{"name":"a"`, `,"name":""`, `}`},
		"empty duplicate": {`{"tags":[]`, `,"tags":[]`, `}`},
		"structures":      {`{"logging":{}`, `,"logging":{"level":""}`, `}`},
		"unknown members": {`{"":0`, `,"":0`, `}`},
		"depth":           {`{"x":`, `[`, `1}`},
		"a long name":     {`{"`, `x`, `":1}`},
		"a long value":    {`{"name":"`, `x`, `"}`},
		"escapes":         {`{"name":"`, `\n`, `"}`},
		"digits":          {`{"maxResults":1`, `1`, `}`},
		"decimals":        {`{"percentage":0.1`, `1`, `}`},
		"spaces":          {`{`, ` `, `}`},
	} {
		body := []byte(parts[0] + strings.Repeat(parts[1], size/len(parts[1])) + parts[2])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		err := b.decode(body, new(create))
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 10*size {
			t.Errorf("%s: the request allocates %d KiB in %v", name, got>>10, took)
		}
		if err == nil || len(err.Error()) > 3*len(body) {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestAnswers: answers and errors have the form of AWS.
func TestAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<", 2*smallAnswer)
	type out struct {
		Date *Time  `json:"creationDate,omitempty"`
		Late *Time  `json:"stopDate,omitempty"`
		Text string `json:"text"`
	}
	do := func(_ context.Context, _ *Caller, in *create) (*out, error) {
		switch in.Name {
		case "nothing":
			return nil, nil //nolint:nilnil // an answer without output
		case "typed":
			return nil, &Error{Code: "ResourceNotFound", Message: "no", Fields: map[string]any{"resourceName": "r"}}
		case "broken":
			return nil, errors.New("dial db.example.org: refused")
		case "long":
			return nil, &Error{Code: "Long", Message: long}
		case "panics":
			panic("no")
		}
		return &out{Date: At(time.Unix(1, 7*int64(time.Millisecond)+1)), Late: At(time.Time{}), Text: "<&>"}, nil
	}
	operations := map[string]Operation{"Create": Op(createShape, do)}
	h := New(Options{}, &Service{Target: "T", ErrorPrefix: "m#", Operations: operations},
		&Service{Target: "Quiet", EmptyAnswers: true, Operations: operations},
		&Service{Target: "Old", Package: "com.old", Operations: operations})
	for _, c := range []struct {
		target, name string
		status       int
		body         string
	}{
		{"T.Create", "a", 200, `{"creationDate":1.007,"text":"<&>"}`},
		{"T.Create", "nothing", 200, `{}`},
		{"Quiet.Create", "nothing", 200, ``},
		{"Old.Create", "nothing", 200, `{}`},
		{"com.old.Old.Create", "nothing", 200, `{}`},
		{"com.new.Old.Create", "nothing", 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"com.old.T.Create", "nothing", 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"T.Create", "typed", 400, `{"__type":"m#ResourceNotFound","message":"no","resourceName":"r"}`},
		{"T.Create", "long", 400, `{"__type":"m#Long","message":"` + long + `"}`},
		{"T.Create", "broken", 503, `{"__type":"com.amazon.coral.service#InternalFailure"}`},
		{"T.Create", "panics", 503, `{"__type":"com.amazon.coral.service#InternalFailure"}`},
		{"T.Delete", "a", 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"Create", "a", 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
		{"", "a", 400, `{"__type":"com.amazon.coral.service#UnknownOperationException"}`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"definition":"x","name":"`+c.name+`"}`))
		r.Header.Set("Content-Type", json10)
		r.Header.Set("X-Amz-Target", c.target)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s of %s: %d %s, want %d %s", c.target, c.name, w.Code, w.Body, c.status, c.body)
		}
		if id := w.Header().Get("X-Amzn-Requestid"); len(id) != len("00000000-0000-0000-0000-000000000000") {
			t.Errorf("the request ID is %q", id)
		}
		if c.status != 200 && !strings.HasSuffix(strings.Split(c.body, `"`)[3], "#"+w.Header().Get("X-Amzn-Errortype")) {
			t.Errorf("the type in the header is %q", w.Header().Get("X-Amzn-Errortype"))
		}
	}
}

// TestContentTypes: a service with a package answers plain JSON as such. The others refuse it.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	do := func(context.Context, *Caller, *struct{}) (*struct{}, error) { return nil, nil } //nolint:nilnil // no output
	operations := map[string]Operation{"Do": Op(Structure(), do)}
	h := New(Options{}, &Service{Target: "T", Operations: operations}, &Service{Target: "Old", Package: "p", Operations: operations})
	for _, c := range []struct {
		target, sent string
		status       int
		got          string
	}{
		{"Old.Do", "application/json; charset=UTF-8", 200, "application/json"},
		{"p.Old.Do", "application/json;", 200, "application/json"},
		{"Old.Do", json11, 200, json11},
		{"T.Do", json10, 200, json10},
		{"T.Do", "application/json", 404, "application/json"},
		{"Old.Do", "text/json", 404, json10},
		{"Old.Do", "", 404, json10},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
		r.Header.Set("Content-Type", c.sent)
		r.Header.Set("X-Amz-Target", c.target)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != c.status || got != c.got {
			t.Errorf("%s as %q: %d, %q", c.target, c.sent, w.Code, got)
		}
	}
}

// TestTokens: a token is valid for the same request and a day, at each server with the key. It never looks like an
// option of a command, which one text in 64 would.
//
// Guarantee (AWS's protocol): A page token is valid for its request, for 24 hours, at all servers with its key.
//
// Attack (AWS clients): A page token that is forged, changed, expired, or from another request, key or caller.
// Result: Refused.
// Also: `FuzzToken`.
func TestTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		key := []byte("0123456789abcdef")
		one, err := NewTokens(key)
		if err != nil {
			t.Fatal(err)
		}
		two, err := NewTokens(key)
		if err != nil {
			t.Fatal(err)
		}
		other, err := NewTokens([]byte("0123456789abcdeF"))
		if err != nil {
			t.Fatal(err)
		}
		token := one.Seal([]byte("place"), "List", "key", "ab")
		time.Sleep(TokenLife - time.Second)
		if place, err := two.Open(token, "List", "key", "ab"); err != nil || string(place) != "place" {
			t.Errorf("%q, %v", place, err)
		}
		for _, wrong := range []func() ([]byte, error){
			func() ([]byte, error) { return other.Open(token, "List", "key", "ab") },
			func() ([]byte, error) { return one.Open(token, "List", "keya", "b") },
			func() ([]byte, error) { return one.Open(token, "List", "key") },
			func() ([]byte, error) { return one.Open(token[1:], "List", "key", "ab") },
			func() ([]byte, error) { return one.Open(token+"=", "List", "key", "ab") },
			func() ([]byte, error) { return one.Open("", "List", "key", "ab") },
			func() ([]byte, error) { time.Sleep(time.Second); return one.Open(token, "List", "key", "ab") },
		} {
			if place, err := wrong(); !errors.Is(err, ErrToken) {
				t.Errorf("a wrong token is for %q: %v", place, err)
			}
		}
		for range 1000 {
			if token := one.Seal([]byte("place")); strings.HasPrefix(token, "-") {
				t.Fatalf("the AWS CLI takes %q for an option", token)
			}
		}
	})
}

// TestTime: a time is a number with at most three decimals.
func TestTime(t *testing.T) {
	t.Parallel()
	for ms := range int64(5000) {
		at := 1767225600000 + ms*7
		text, err := json.Marshal(At(time.UnixMilli(at)))
		if want := strings.TrimRight(strings.TrimRight(time.UnixMilli(at).UTC().Format("0.000"), "0"), "."); err != nil || len(text) > 14 {
			t.Fatalf("%s, %v (%s)", text, err, want)
		}
		var f float64
		if err := json.Unmarshal(text, &f); err != nil || int64(f*1000+0.5) != at {
			t.Fatalf("%d is %s", at, text)
		}
	}
}
