package eventpattern

import (
	"encoding/json"
	"testing"
)

// TestMatch compares patterns with events, as EventBridge's documentation describes them.
func TestMatch(t *testing.T) {
	t.Parallel()
	const event = `{"source": "shop", "detail-type": "Order", "detail":
		{"n": 7, "name": "Tea-Green", "tags": ["a", "b"], "none": null, "paid": true, "empty": [], "lines": [{"sku": "x"}]}}`
	var value any
	if err := json.Unmarshal([]byte(event), &value); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]bool{
		`{"source": ["shop"]}`: true, `{"source": ["a", "shop"], "detail-type": ["Order"]}`: true,
		`{"source": ["other"]}`: false, `{"source": ["shop"], "detail": {"n": [7]}}`: true,
		`{"detail": {"n": ["7"]}}`: false, `{"detail": {"paid": [true], "none": [null]}}`: true,
		`{"detail": {"tags": ["b"]}}`: true, `{"detail": {"tags": ["c"]}}`: false,
		`{"detail": {"name": [{"prefix": "Tea"}]}}`: true, `{"detail": {"name": [{"suffix": "green"}]}}`: false,
		`{"detail": {"name": [{"suffix": {"equals-ignore-case": "green"}}]}}`: true,
		`{"detail": {"name": [{"equals-ignore-case": "tea-green"}]}}`:         true,
		`{"detail": {"name": [{"wildcard": "T*-*n"}]}}`:                       true,
		`{"detail": {"name": [{"wildcard": "T*x*n"}]}}`:                       false,
		`{"detail": {"n": [{"numeric": [">", 0, "<=", 7]}]}}`:                 true,
		`{"detail": {"n": [{"numeric": ["<", 7]}]}}`:                          false,
		`{"detail": {"n": [{"anything-but": [1, 2]}]}}`:                       true,
		`{"detail": {"n": [{"anything-but": 7}]}}`:                            false,
		`{"detail": {"name": [{"anything-but": {"prefix": ["Tea", "Co"]}}]}}`: false,
		`{"detail": {"gone": [{"anything-but": 1}]}}`:                         false,
		`{"detail": {"gone": [{"exists": false}]}}`:                           true,
		`{"detail": {"empty": [{"exists": true}]}}`:                           true,
		`{"detail": {"lines": {"sku": ["x"]}}}`:                               true,
		`{"$or": [{"source": ["x"]}, {"detail": {"n": [7]}}]}`:                true,
		`{"source": ["shop"], "$or": [{"source": ["x"]}]}`:                    false,
		`{"source": {"name": ["x"]}}`:                                         false,
	} {
		p, err := Parse([]byte(pattern))
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		if got := p.Match(value); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	for _, pattern := range []string{
		`[]`, `{}`, `{"source": "shop"}`, `{"source": [{"cidr": "10.0.0.0/8"}]}`, `{"n": [{"numeric": [">"]}]}`,
		`{"n": [{"exists": 1}]}`, `{"n": [{"prefix": 1}]}`, `{"$or": [1]}`, `{"n": [{"prefix": "a", "suffix": "b"}]}`, `{`,
	} {
		if _, err := Parse([]byte(pattern)); err == nil {
			t.Errorf("%s is accepted", pattern)
		}
	}
}

// FuzzPattern shows that no pattern and no event makes matching panic.
func FuzzPattern(f *testing.F) {
	f.Add(`{"a": [{"anything-but": {"prefix": ["x"]}}]}`, `{"a": "y"}`)
	f.Add(`{"$or": [{"a": [{"numeric": ["=", 1]}]}]}`, `[{"a": [1]}]`)
	f.Fuzz(func(_ *testing.T, pattern, event string) {
		p, err := Parse([]byte(pattern))
		var value any
		if err == nil && json.Unmarshal([]byte(event), &value) == nil {
			p.Match(value)
		}
	})
}

// TestInput shows what a target receives of an event.
func TestInput(t *testing.T) {
	t.Parallel()
	event := map[string]any{"source": "shop", "detail": map[string]any{"id": 7.0, "name": "tea"}}
	for want, in := range map[string]Input{
		`{"a":1}`:               {Text: `{"a":1}`},
		`{"id":7,"name":"tea"}`: {Path: "$.detail"},
		`{"detail":{"id":7,"name":"tea"},"source":"shop"}`: {},
		`{"id": 7, "text": "order of tea", "all": {"id":7,"name":"tea"}, "none": null}`: {
			Paths:    map[string]string{"id": "$.detail.id", "name": "$.detail.name", "all": "$.detail", "none": "$.gone.x"},
			Template: `{"id": <id>, "text": "order of <name>", "all": <all>, "none": <none>}`,
		},
		`"it is 7"`: {Paths: map[string]string{"id": "$.detail.id"}, Template: `"it is <id>"`},
	} {
		got, err := in.Of(event)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	if (&Input{Path: "$.detail[0]"}).Check() == nil || (&Input{Text: "{"}).Check() == nil {
		t.Error("an input that cannot be expressed is accepted")
	}
}
